package apitest

import (
	"strings"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
)

// fakeFeedback is what was said, with what it was about.
type fakeFeedback struct {
	about   string
	receipt api.FeedbackReceipt
}

func (f *Fake) createFeedback(in *request) (*reply, *failure) {
	var n api.NewFeedback
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	if strings.TrimSpace(n.Summary) == "" || len([]rune(n.Summary)) > api.MaxFeedbackSummary || len([]rune(n.Details)) > api.MaxFeedbackDetails {
		return nil, invalid(api.FieldError{Path: "summary", Code: "invalid_value"})
	}
	said := fakeFeedback{n.Kind + n.Summary, api.FeedbackReceipt{FeedbackID: uuid.NewString(), Status: "received", CreatedAt: f.now()}}
	for _, before := range f.said {
		if before.about == said.about && before.receipt.DuplicateOf == nil {
			said.receipt.DuplicateOf = &before.receipt.FeedbackID
		}
	}
	f.said = append(f.said, said)
	return ok(said.receipt)
}

func (f *Fake) getFeedback(in *request) (*reply, *failure) {
	for _, s := range f.said {
		if s.receipt.FeedbackID == in.PathValue("id") {
			return ok(s.receipt)
		}
	}
	return nil, notFound("feedback")
}
