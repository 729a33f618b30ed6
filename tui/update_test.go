package tui_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/evalrouter/evalrouter/lib/apitest"
)

func TestUpdateNotice_UPD01(t *testing.T) {
	t.Parallel()
	for _, size := range sizes() {
		t.Run(fmt.Sprintf("UPD-01 UPD-02 a newer release is told, %dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, apitest.Options{})
			w.src.Options.Newer = func(context.Context) string { return "0.3.1" }
			x := w.home(size[0], size[1])
			x.Wants("Release 0.3.1 is out", "evalrouter upgrade")
		})
	}
	t.Run("an outage is told first", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, apitest.Options{})
		w.src.Options.Newer = func(context.Context) string { return "0.3.1" }
		w.outage()
		w.home(80, 24).Wants("does not answer")
	})
	t.Run("UPD-03 nothing is told without one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, apitest.Options{})
		w.src.Options.Newer = func(context.Context) string { return "" }
		w.home(80, 24).Lacks("Release")
	})
	t.Run("text from outside is inert", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, apitest.Options{})
		w.src.Options.Newer = func(context.Context) string { return "9\x1b[2J" }
		w.home(80, 24).Lacks("\x1b")
	})
}
