package tui_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

// calm is a run that stands still in its middle.
type calm struct{ down time.Duration }

const calmID = "0a1b2c3d-0000-4000-8000-000000000000"

func (c calm) Watch(ctx context.Context, id string, seen func(flow.Update)) (api.RunRecord, error) {
	link := "https://eval.example/r/0a1b2c3d/live"
	run := api.RunRecord{
		ID: id, Status: api.StatusRunning, PlannedCount: 100, ProcessedCount: 61, GradedCount: 61, Simulated: true,
		Model: api.Model{Selected: &api.SelectedModel{DisplayName: "Practice solver 80 %"}}, Profiles: []api.ProfileSelection{{ID: "arithmetic@1", SelectedCount: 100, PopulationCount: 1319}},
		SpendMicrousd: 370_000, ReservedMicrousd: 80_000, CapMicrousd: 5 * usd.Dollar, Outcomes: map[string]int{"right": 52, "wrong": 6, "extraction_failed": 1, "truncated": 2, "pending": 39},
		Headline: &api.Headline{Value: 52.0 / 61, Denominator: 61, Interval: &api.Interval{Lower: 0.743, Upper: 0.92}}, Links: api.RunLinks{Live: &link},
	}
	u := flow.Update{Run: run, Elapsed: 134 * time.Second}
	if seen(u); c.down > 0 {
		u.Down, u.Retry = c.down, 4*time.Second
		seen(u)
	}
	<-ctx.Done()
	return run, ctx.Err()
}

func (calm) Log(ctx context.Context, _ string, _ int, seen func(api.RunEvent)) error {
	for i, o := range []string{"right", "wrong", "truncated", "right"} {
		seen(api.RunEvent{Type: "task.graded", CreatedAt: start().Add(time.Duration(i) * time.Second), Data: map[string]any{"task_id": fmt.Sprintf("arithmetic-%04d", 40+i), "outcome": o, "charge_microusd": "5800"}})
	}
	<-ctx.Done()
	return ctx.Err()
}

// A run that goes on: its interval is drawn, its spend stands against its cap.
func calmly(c calm) func(*world, *kittest.Harness) {
	return func(_ *world, x *kittest.Harness) {
		x.Until("61 of 100")
		x.Until("arithmetic-0043")
		if c.down > 0 {
			x.Until("Not connected for 00:37")
		}
		x.Wants("$0.37", "$5.00", "├", "●", "┤", "74.3 to 92.0")
	}
}
