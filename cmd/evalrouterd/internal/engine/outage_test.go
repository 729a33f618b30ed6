package engine_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// A network that is gone ends no run: it waits, says so, looks more and more
// seldom, and goes on from where it was. Nothing is charged for what was not
// sent, and a later outage is waited for from the start.
func TestOutage_RunWaits(t *testing.T) {
	t.Parallel()
	const perWait = 5 // attempts before the run waits
	var calls atomic.Int64
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		n := calls.Add(1)
		if n > 1 && n <= 1+7*perWait || n == 7*perWait+3 || n > 7*perWait+4 && n <= 7*perWait+4+perWait {
			return provider.Outcome{Class: provider.NotSent, Code: "dial"}
		}
		return say(right(task), 50, 10)
	})
	id := w.start(6, usd.Dollar, 1)
	r := w.wait(id)
	if r.State != core.Completed || r.Tallies[bundle.Right] != 6 || r.Waived != 0 || r.Charged != 6*70 {
		t.Errorf("%s (%s) %v, waived %s, charged %s", r.State, r.Reason, r.Tallies, r.Waived, r.Charged)
	}
	var waits []string
	last := w.clock.Now()
	for _, e := range w.events(id, usd.Dollar) {
		if e.Type != core.EventWaiting {
			continue
		}
		until, err := time.Parse(time.RFC3339, fmt.Sprint(e.Data["retry_at"]))
		if err != nil || e.Data["reason"] != "endpoint_unreachable" || until.After(last) {
			t.Errorf("event %v", e.Data)
		}
		waits = append(waits, until.Sub(time.UnixMicro(int64(e.At)).Truncate(time.Second)).String())
	}
	want := []string{"30s", "1m0s", "2m0s", "4m0s", "8m0s", "10m0s", "10m0s", "30s"}
	if d := cmp.Diff(want, waits); d != "" {
		t.Error(d)
	}
}

// Calls that fail together are one outage, whatever number of them is in flight.
func TestOutage_ManyInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	began := w.clock.Now()
	w.adapter.answer = func(task bundle.Task, _ int) provider.Outcome {
		if w.clock.Now().Sub(began) < time.Hour {
			return provider.Outcome{Class: provider.NotSent, Code: "dial"}
		}
		return say(right(task), 50, 10)
	}
	r := w.wait(w.start(40, usd.Dollar, 16))
	if r.State != core.Completed || r.Tallies[bundle.Right] != 40 || r.Waived != 0 {
		t.Errorf("%s (%s) %v, waived %s", r.State, r.Reason, r.Tallies, r.Waived)
	}
}
