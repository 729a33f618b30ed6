package tui_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/lib/apitest"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

func TestSamplesNextToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(80, 24)
	toResult(x)
	x.Type("swrong")
	x.Press(kit.Enter)
	x.Wants("(1 of 5)", "wrong")
	x.Type("p") // nothing is before the first
	x.Wants("(1 of 5)")
	x.Type("nn")
	x.Wants("(3 of 5)", "wrong")
	x.Type("p")
	x.Wants("(2 of 5)")
	x.Type("nnnnn")
	x.Wants("(5 of 5)", "wrong")
	x.Press(kit.Esc)
	x.Wants("Filter: wrong", "5 of 25")
}
