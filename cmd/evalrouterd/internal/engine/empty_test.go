package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// More than a fifth of empty answers is told beside the score, and changes
// nothing else.
func TestRun_ManyEmptyAnswersWarn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		empty int
		warns bool
	}{
		{"a fifth", 2, false}, {"more than a fifth", 3, true}, {"all", 10, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			left := make(chan struct{}, tt.empty)
			for range tt.empty {
				left <- struct{}{}
			}
			w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
				select {
				case <-left:
					return say("", 10, 10)
				default:
					return say(right(task), 10, 10)
				}
			})
			id := w.start(10, 1*usd.Dollar, 1)
			r := w.wait(id)
			if r.Tallies[bundle.Empty] != tt.empty || r.Tallies[bundle.Right] != 10-tt.empty {
				t.Fatalf("%v", r.Tallies)
			}
			res, err := w.store.Result(t.Context(), scope, id, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(res.Warnings, func(s string) bool { return strings.Contains(s, "are empty") }); got != tt.warns {
				t.Errorf("warned %v: %q", got, res.Warnings)
			}
		})
	}
}
