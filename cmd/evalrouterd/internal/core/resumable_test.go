package core_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// What the row and the quote of a run say about continuing it.
func TestMayContinue(t *testing.T) {
	t.Parallel()
	const now = core.Micros(1_000_000)
	tests := []struct {
		name   string
		change func(*core.Run, *core.Quote)
		now    core.Micros
		code   core.Code
		reason string
	}{
		{name: "RES-01 stopped at its cap", change: func(*core.Run, *core.Quote) {}},
		{name: "RES-56 SOB text", change: func(_ *core.Run, q *core.Quote) { q.Profile.Family = "sob-text" }},
		{name: "RES-56 lm-eval", change: func(_ *core.Run, q *core.Quote) { q.Profile.Family = "lm-eval" }},
		{name: "another family", change: func(_ *core.Run, q *core.Quote) { q.Profile.Family = "generic" }, code: core.ResumeUnsupported, reason: "family"},
		{name: "RES-55 one of each, said in so many words", change: func(_ *core.Run, q *core.Quote) { q.Wider = core.Wider{Models: 1, Profiles: 1, Attempts: 1} }},
		{name: "RES-59 several models", change: func(_ *core.Run, q *core.Quote) { q.Wider.Models = 2 }, code: core.ResumeUnsupported, reason: "comparison"},
		{name: "RES-60 several benchmarks", change: func(_ *core.Run, q *core.Quote) { q.Wider.Profiles = 2 }, code: core.ResumeUnsupported, reason: "several_profiles"},
		{name: "RES-60 several attempts", change: func(_ *core.Run, q *core.Quote) { q.Wider.Attempts = 3 }, code: core.ResumeUnsupported, reason: "several_attempts"},
		{name: "RES-62 a repository agent", change: func(_ *core.Run, q *core.Quote) { q.Wider.Agent = true }, code: core.ResumeUnsupported, reason: "agent"},
		{name: "RES-61 judges", change: func(_ *core.Run, q *core.Quote) { q.Judges = []core.Judge{{}} }, code: core.ResumeUnsupported, reason: "judge"},
		{name: "RES-63 of the user", change: func(_ *core.Run, q *core.Quote) { q.Profile.Workspace = "w" }, code: core.ResumeUnsupported, reason: "own_benchmark"},
		{name: "RES-64 before evidence was recorded", change: func(_ *core.Run, q *core.Quote) { q.Runtime = "" }, code: core.ResumeUnsupported, reason: "evidence_missing"},
		{name: "RES-65 of a service that asked otherwise", change: func(_ *core.Run, q *core.Quote) { q.Runtime = "0" }, code: core.EvidenceUnfit},
		{name: "RES-57 past its retention", change: func(*core.Run, *core.Quote) {}, now: core.RawDays * 24 * 3600 * 1_000_000, code: core.EvidenceGone},
		{name: "running", change: func(r *core.Run, _ *core.Quote) { r.State = core.Running }, code: core.RunNotFinished},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := core.Run{ID: "r", State: core.Partial, Planned: 10, Tallies: core.Tallies{"right": 4}}
			q := core.Quote{Profile: core.Profile{Family: "inspect"}, Runtime: core.RuntimeCompat}
			tt.change(&r, &q)
			no := r.MayContinue(q, max(tt.now, now))
			if tt.code == "" {
				if no != nil || r.ResumeReason(q, now) != "" {
					t.Errorf("refused: %v", no)
				}
				return
			}
			if no == nil || no.Code != tt.code || tt.reason != "" && no.Details["reason"] != tt.reason {
				t.Fatalf("%v %v, want %s %s", no, no.Details, tt.code, tt.reason)
			}
			if r.ResumeReason(q, max(tt.now, now)) == "" {
				t.Error("the run is told to be resumable")
			}
		})
	}
}
