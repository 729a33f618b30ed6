package tui_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

// toStop is the page on which the run that is being watched is stopped.
func toStop(_ *world, x *kittest.Harness) {
	toReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("Stop the run")
	x.Press(kit.Tab, kit.Tab, kit.Enter)
	x.Until("NOTHING IS STOPPED YET")
}

func toStopGroup(w *world, x *kittest.Harness) {
	watched(w, x)
	x.Press(kit.End, kit.Tab, kit.Enter)
	x.Until("NOTHING IS STOPPED YET")
}

func cancelled(w *world) int {
	return w.fake.Count("POST /v1/runs/{id}/cancel") + w.fake.Count("POST /v1/groups/{id}/cancel")
}

func TestStop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		open  func(*world, *kittest.Harness)
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"two Enters stop a run, and what is graded stays", toStop, func(t *testing.T, w *world, x *kittest.Harness) {
			x.Wants("spent, which stays charged", "What stays", "Stop the run      Enter")
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM", "NOTHING IS STOPPED YET")
			if n := cancelled(w); n != 0 {
				t.Fatalf("%d cancellations after one Enter", n)
			}
			x.Press(kit.Enter)
			x.Until("Live run")
			w.release()
			x.Until("▸ Result")
			x.Wants("cancelled")
			x.Lacks("Stop the run")
			if n := cancelled(w); n != 1 {
				t.Errorf("%d cancellations", n)
			}
		}},
		{"two Enters stop a group", toStopGroup, func(t *testing.T, w *world, x *kittest.Harness) {
			x.Wants("2 models", "10 of 50 tasks", "10 graded answers", "Stop 2 runs")
			x.Press(kit.Enter, kit.Enter)
			x.Until("Interim")
			w.clock.Advance(slow().TaskTime)
			w.release()
			x.Until("All members have ended")
			x.Wants("cancelled")
			x.Lacks("Stop the group")
			if n := cancelled(w); n != 1 {
				t.Errorf("%d cancellations", n)
			}
		}},
		{"leaving stops nothing", toStop, stopsNothing(kit.Esc)},
		{"Left stops nothing", toStop, stopsNothing(kit.Enter, kit.Left)},
		{"the other row stops nothing", toStop, stopsNothing(kit.Enter, kit.Down, kit.Enter)},
		{"a key takes the first Enter back", toStop, stopsNothing(kit.Enter, kit.Down, kit.Up, kit.Enter, kit.Esc)},
		{"so do PgUp and PgDn", toStop, stopsNothing(kit.Enter, kit.PgDn, kit.PgUp, kit.Enter, kit.Esc)},
		{"so do a paste, a resize and a lost focus", toStop, func(t *testing.T, w *world, x *kittest.Harness) {
			for _, m := range []kit.Msg{kit.Paste{Text: "\n\n"}, kit.Resize{W: 90, H: 30}, kit.FocusChange{}, kit.Resumed{}, kit.Mouse{X: 3, Y: 20, Kind: kit.Click, At: w.clock.Now()}} {
				x.Press(kit.Enter)
				x.Wants("ENTER TO CONFIRM")
				x.Send(m)
				x.Lacks("ENTER TO CONFIRM")
			}
			if n := cancelled(w); n != 0 {
				t.Errorf("%d cancellations", n)
			}
		}},
		{"a run that ended meanwhile", toStop, func(t *testing.T, w *world, x *kittest.Harness) {
			w.step()
			w.clock.Advance(100 * slow().TaskTime)
			x.Press(kit.Refresh)
			x.Until("The run has ended; there is nothing to stop")
			x.Press(kit.Enter)
			x.Wants("Live run")
			if n := cancelled(w); n != 0 {
				t.Errorf("%d cancellations", n)
			}
		}},
		{"an answer that is lost says so, and stopping again does no harm", toStop, func(t *testing.T, w *world, x *kittest.Harness) {
			w.fake.Drop("POST /v1/runs/{id}/cancel", 1)
			x.Press(kit.Enter, kit.Enter)
			x.Until("It is not confirmed that it was stopped")
			x.Wants("The run has ended; there is nothing to stop")
		}},
		{"a service that does not answer", toStop, func(t *testing.T, w *world, x *kittest.Harness) {
			w.fake.Fail("POST /v1/runs/{id}/cancel", 1, 503, api.Unavailable)
			x.Press(kit.Enter, kit.Enter)
			x.Until("It is not confirmed")
			x.Until("Stop the run      Enter")
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, slow())
			w.hold()
			x := w.home(100, 24)
			tt.open(w, x)
			tt.steps(t, w, x)
		})
	}
}

func stopsNothing(keys ...kit.Key) func(*testing.T, *world, *kittest.Harness) {
	return func(t *testing.T, w *world, x *kittest.Harness) {
		x.Press(keys...)
		x.Wants("Live run")
		if n := cancelled(w); n != 0 {
			t.Errorf("%d cancellations", n)
		}
	}
}

// stops are the frames of one who stops what goes on.
func stops() []shot {
	held := func(open func(*world, *kittest.Harness)) func(*world, *kittest.Harness) {
		return func(w *world, x *kittest.Harness) { w.hold(); open(w, x) }
	}
	return []shot{
		{"stop-run", slow(), held(toStop)},
		{"stop-group", slow(), held(toStopGroup)},
		{"stop-run-armed", slow(), held(toStop)},
		{"stop-error", slow(), held(func(w *world, x *kittest.Harness) {
			toStop(w, x)
			w.fake.Fail("POST /v1/runs/{id}/cancel", 1, 503, api.Unavailable)
			x.Press(kit.Enter, kit.Enter)
			x.Until("It is not confirmed")
		})},
	}
}
