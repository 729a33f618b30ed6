package providertest

import (
	"net/http"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// answers are the cases about what stands in an answer, and about streams. A
// subject without one of the samples fails: no adapter is let off a case.
func answers(t *testing.T, s Subject) []Case {
	for name, sample := range map[string][]byte{
		"Stream": s.Stream, "None": s.None, "Silent": s.Silent, "Long": s.Long, "Refusal": s.Refusal, "OddUsage": s.OddUsage,
		"BadRequest": s.BadRequest, "Overloaded": s.Overloaded,
	} {
		if sample == nil {
			t.Fatalf("the subject has no sample %s", name)
		}
	}
	return append(append(streamCases(s), answerCases(s)...), waitCases(s)...)
}

func streamCases(s Subject) []Case {
	sse := map[string]string{"Content-Type": "text/event-stream"}
	half := s.Stream[:len(s.Stream)/2]
	return []Case{
		{Name: "stream", Why: "the same answer in pieces", Script: Script{Status: 200, Header: sse, Body: s.Stream}, Class: provider.Answered, Sent: true, Text: s.Text,
			Finish: bundle.FinishStop, UsageState: provider.UsageReported},
		{Name: "stream without its content type", Why: "what a body is shows in the body", Script: Script{Status: 200, Body: s.Stream}, Class: provider.Answered, Sent: true, Text: s.Text},
		{Name: "stream that breaks after its end", Why: "the answer is there", Script: Script{Status: 200, Header: sse, Body: s.Stream, End: Reset}, Class: provider.Answered, Sent: true, Text: s.Text},
		{Name: "stream that breaks", Why: "half an answer is none, and was worked for", Script: Script{Status: 200, Header: sse, Body: half, End: Reset},
			Class: provider.Unknown, Code: core.CodeOutcomeUnknown, Sent: true},
		{Name: "stream that ends early, cleanly", Why: "a clean end proves nothing", Script: Script{Status: 200, Header: sse, Body: half},
			Class: provider.Unknown, Code: core.CodeOutcomeUnknown, Sent: true},
		{Name: "stream that ends early, and says that it is done", Why: "nor does [DONE]", Script: Script{Status: 200, Header: sse, Body: []byte("data: [DONE]\n\n")},
			Class: provider.Unknown, Code: core.CodeOutcomeUnknown, Sent: true},
		{Name: "stream that stalls", Why: "a deadline holds for streams too", Script: Script{Status: 200, Header: sse, Body: half, End: SilentBody},
			Class: provider.Unknown, Code: core.CodeProviderTimeout, Sent: true},
		{Name: "slow-loris", Why: "a byte now and then is no progress: the deadline counts from the start", Script: Script{Status: 200, Body: s.Good, End: Drip},
			Class: provider.Unknown, Code: core.CodeProviderTimeout, Sent: true},
	}
}

func answerCases(s Subject) []Case {
	return []Case{
		{Name: "no answer in the answer", Why: "nobody knows what was done", Script: Script{Status: 200, Body: s.None}, Class: provider.Unknown, Code: core.CodeOutcomeUnknown, Sent: true},
		{Name: "no text", Why: "an empty answer is the model's, and graded", Script: Script{Status: 200, Body: s.Silent}, Class: provider.Answered, Sent: true, Finish: bundle.FinishStop},
		{Name: "output limit", Why: "a cut answer is not a wrong one", Script: Script{Status: 200, Body: s.Long}, Class: provider.Answered, Sent: true, Text: s.Text, Finish: bundle.FinishLength},
		{Name: "refusal", Why: "the provider's no is no answer of the model's", Script: Script{Status: 200, Body: s.Refusal},
			Class: provider.Answered, Code: core.CodeRefused, Sent: true, Refused: true, UsageState: provider.UsageReported},
		{Name: "usage that cannot be right", Why: "the answer counts, and nothing is charged for it", Script: Script{Status: 200, Body: s.OddUsage},
			Class: provider.Answered, Sent: true, Text: s.Text, UsageState: provider.UsageInconsistent},
		{Name: "400", Why: "the same for every task: one is enough to know", Script: Script{Status: 400, Body: s.BadRequest},
			Class: provider.Rejected, Reach: provider.Route, Code: core.CodeProviderError, Sent: true},
		{Name: "overloaded", Why: "no work was done, as the provider documents", Script: Script{Status: s.OverloadedStatus, Body: s.Overloaded},
			Class: provider.Rejected, Reach: provider.Overload, Code: core.CodeRateLimited, Sent: true},
	}
}

// waitCases are the ways to say when to come back.
func waitCases(s Subject) []Case {
	at := time.Unix(1_790_000_000, 0).UTC()
	wait := func(name string, want time.Duration, body []byte, header map[string]string) Case {
		return Case{Name: "429 " + name, Why: "to come back early is to be refused again", Script: Script{Status: 429, Body: body, Header: header},
			Class: provider.Rejected, Reach: provider.Overload, Code: core.CodeRateLimited, Sent: true, Wait: want}
	}
	list := []Case{
		wait("in seconds", 17*time.Second, s.RateLimited, map[string]string{"Retry-After": "17"}),
		wait("in milliseconds", 1500*time.Millisecond, s.RateLimited, map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}),
		wait("as a date", 30*time.Second, s.RateLimited, map[string]string{"Date": at.Format(http.TimeFormat), "Retry-After": at.Add(30 * time.Second).Format(http.TimeFormat)}),
		wait("of a day", 24*time.Hour, s.RateLimited, map[string]string{"Retry-After": "86400"}),
	}
	if s.Delayed != nil {
		list = append(list, wait("in the body", 36500*time.Millisecond, s.Delayed, nil))
	}
	return list
}
