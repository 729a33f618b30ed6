package flow_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

func TestReasons(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		codes []string
		want  string
	}{
		{"none", nil, ""},
		{"one", []string{"refused"}, "1 refused by the model"},
		{"several", []string{"unknown_outcome", "time_limit"}, "1 of unknown outcome, 2 stopped by the time limit"},
		{"one that is not known", []string{"too_new"}, "1 too new"},
		{"one that is no word", []string{"\x1b[31mred\n"}, `1 \x1b[31mred `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out api.ContinuationLeftOut
			var waits api.ContinuationPending
			for i, code := range tt.codes {
				out.Reasons = append(out.Reasons, api.LeftOutReason{Code: code, Cells: i + 1})
				waits.Reasons = append(waits.Reasons, api.PendingReason{Code: code, Cells: i + 1})
			}
			if got := flow.LeftOutReasons(out); got != tt.want {
				t.Errorf("left out: %q, want %q", got, tt.want)
			}
			if got := flow.PendingReasons(waits); got != tt.want {
				t.Errorf("pending: %q, want %q", got, tt.want)
			}
		})
	}
}
