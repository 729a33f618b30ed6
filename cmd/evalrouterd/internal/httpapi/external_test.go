package httpapi

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// What an owner's provider bills is shown whole, also beyond the bound of a
// call; what the service may bear for managed judges is not the owner's.
func TestExternalSpend(t *testing.T) {
	t.Parallel()
	own, managed := core.Target{Kind: core.Connection}, core.Target{Kind: core.Managed}
	for _, tt := range []struct {
		name   string
		target core.Target
		judges []core.Judge
		want   usd.Micro
	}{
		{"a connection", own, nil, 130},
		{"judged by another", own, []core.Judge{{Target: own}}, 130},
		{"judged by a managed route", own, []core.Judge{{Target: managed}}, 100},
		{"a managed route", managed, nil, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := core.Quote{Target: tt.target, Judges: tt.judges, Cap: 1000}
			r := core.Run{Metered: 100, Absorbed: 30}
			if got := runRecord(r, q, 0).ExternalSpendMicrousd; got != tt.want {
				t.Errorf("the run shows %d, want %d", got, tt.want)
			}
			if got := receipt(r, q, 0).ExternalSpendMicrousd; got != tt.want {
				t.Errorf("the receipt shows %d, want %d", got, tt.want)
			}
		})
	}
	over, unsaid := core.Settlement{Spend: 10, Absorbed: 5, OverBound: true}, core.Settlement{Absorbed: 10, Unreported: true}
	if got := over.OfOwner(); got != over {
		t.Errorf("what was beyond the bound became %+v", got)
	}
	if got := unsaid.OfOwner(); got.Absorbed != 0 || !got.Unreported {
		t.Errorf("what was not reported became %+v", got)
	}
}
