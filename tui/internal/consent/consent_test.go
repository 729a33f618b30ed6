package consent_test

import (
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/tui/internal/consent"
)

func TestApprovalTable(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
	}
	fresh := consent.Offered(at(0), at(60_000)).Painted(at(0))
	tests := []struct {
		name   string
		a      consent.Approval
		enters []int
		start  bool
		stage  consent.Stage
	}{
		{"one Enter arms", fresh, []int{400}, false, consent.Armed},
		{"two start", fresh, []int{400, 700}, true, consent.Sent},
		{"a quarter of a second is enough", fresh, []int{400, 650}, true, consent.Sent},
		{"less is a key that consent.Repeats", fresh, []int{400, 649}, false, consent.Armed},
		{"a key held down never starts", fresh, []int{400, 640, 880, 1120, 1360, 1600}, false, consent.Armed},
		{"typed ahead", fresh, []int{10, 299}, false, consent.Ready},
		{"typed ahead and once more", fresh, []int{10, 299, 700}, false, consent.Armed},
		{"too late", fresh, []int{400, 15_400}, false, consent.Armed},
		{"expired between", consent.Offered(at(0), at(600)).Painted(at(0)), []int{400, 700}, false, consent.Expired},
		{"never painted", consent.Offered(at(0), at(60_000)), []int{400, 700, 1000}, false, consent.Ready},
		{"short of credit", fresh.Short(true), []int{400, 700, 1000}, false, consent.Ready},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, start := tt.a, false
			for _, ms := range tt.enters {
				a, start = a.Enter(at(ms))
			}
			if start != tt.start || a.Stage != tt.stage {
				t.Errorf("start %v in stage %d, want %v in %d", start, a.Stage, tt.start, tt.stage)
			}
		})
	}
}
