package tui_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

func TestAccountPages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		journey func(*testing.T, *world, *kittest.Harness)
	}{
		{"TUI-18 an upload is begun in the browser, and there is no form for it", func(t *testing.T, w *world, x *kittest.Harness) {
			pick(x, "uploads")
			x.Wants("uploaded and managed in the browser")
			x.Press(kit.Enter)
			if got := x.Opened(); len(got) != 1 || got[0] != w.fake.URL+"/benchmarks" {
				t.Errorf("opened %q", got)
			}
			x.Wants("this page stays")
			if got := w.fake.Mutations(); len(got) != 0 {
				t.Errorf("the page changed something: %v", got)
			}
		}},
		{"B opens the workspace's page, Escape goes back", func(t *testing.T, w *world, x *kittest.Harness) {
			pick(x, "account")
			x.Type("b")
			if got := x.Opened(); len(got) != 1 || got[0] != w.fake.URL {
				t.Errorf("opened %q", got)
			}
			x.Press(kit.Esc)
			x.Wants("Home")
		}},
		{"what was read stays when it cannot be read again", func(_ *testing.T, w *world, x *kittest.Harness) {
			pick(x, "billing")
			x.Wants("$100.00")
			w.fake.Fail("GET /v1/credits/ledger", 9, 503, api.Unavailable)
			x.Press(kit.Refresh)
			x.Wants("$100.00", "Could not read it again")
		}},
		{"Enter leaves a page that opens nothing", func(_ *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "billing")
			x.Press(kit.Enter)
			x.Wants("Home")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, apitest.Options{})
			tt.journey(t, w, w.home(80, 24))
		})
	}
}
