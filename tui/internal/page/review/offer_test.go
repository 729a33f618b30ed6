package review

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// The service puts the warnings of all members into the group's list, beside
// those at each member: a person reads each of them once.
func TestGroupWarningsStandOnce(t *testing.T) {
	t.Parallel()
	q := api.GroupQuoteRecord{
		Warnings: []string{"about all", "about the second", "about the group"},
		Members:  []api.GroupQuoteMember{{Model: api.SelectedModel{ModelID: "m1"}, Warnings: []string{"about all"}}, {Model: api.SelectedModel{ModelID: "m2"}, Warnings: []string{"about all", "about the second"}}},
	}
	var all []string
	for _, l := range ofGroup(q).lines(200, ofGroup(q), nil) {
		all = append(all, string(l.Text))
	}
	text := strings.Join(all, "\n")
	for _, want := range q.Warnings {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%q stands %d times:\n%s", want, n, text)
		}
	}
	second, model := strings.Index(text, "about the second"), strings.Index(text, "Model 2")
	if common := strings.Index(text, "about all"); model < 0 || second < model || common < second {
		t.Errorf("what is about one model stands with it, the rest below:\n%s", text)
	}
}
