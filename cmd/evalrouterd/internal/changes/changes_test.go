package changes_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/changes"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Whoever watches several runs is woken once, by whichever changes first, and
// whoever stopped watching by none.
func TestWatch(t *testing.T) {
	t.Parallel()
	woken := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	for _, tt := range []struct {
		name      string
		runs      []core.RunID
		published []core.RunID
		stopped   bool
		want      bool
	}{
		{"its run", []core.RunID{"a"}, []core.RunID{"a"}, false, true},
		{"another run", []core.RunID{"a"}, []core.RunID{"b"}, false, false},
		{"the last of several", []core.RunID{"a", "b", "c"}, []core.RunID{"c"}, false, true},
		{"all of several, one after the other", []core.RunID{"a", "b", "c"}, []core.RunID{"b", "a", "c", "b"}, false, true},
		{"it stopped", []core.RunID{"a", "b"}, []core.RunID{"a", "b"}, true, false},
		{"no run", nil, []core.RunID{"a"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := changes.New(changes.NewFollowers(0))
			changed, stop := c.Watch(tt.runs...)
			if tt.stopped {
				stop()
			}
			other, _ := c.Watch("other", "a")
			for _, run := range tt.published {
				c.Publish(run)
			}
			if got := woken(changed); got != tt.want {
				t.Errorf("woken: %t", got)
			}
			stop()
			stop() // once more changes nothing
			c.Publish("other")
			if !woken(other) {
				t.Error("another watcher was forgotten with it")
			}
		})
	}
}
