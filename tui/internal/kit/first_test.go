package kit_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

// page shows its name.
type page struct{ name plain.Safe }

func (p page) Update(kit.Msg) (kit.Screen, []kit.Effect) { return p, nil }
func (p page) View(c kit.Canvas)                         { c.Text(0, 0, kit.Plain, p.name) }
func (p page) Head() kit.Head                            { return kit.Head{Place: p.name} }

// The first frame stands there before anything is begun that a page wants, be it
// the first page or one above it.
func TestFirstFrameWaitsForNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		above []any
		top   string
	}{
		{"the first page", nil, "the first"},
		{"a page above it", []any{"the second"}, "the second"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sim := kittest.NewScreen()
			term, err := kit.TakeOver(sim, kit.Mono, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer term.Close()
			sim.SetSize(80, 24)
			var told []string
			see := func(what string) {
				cells, _, _ := sim.GetContents()
				var b strings.Builder
				for _, c := range cells {
					b.WriteString(string(c.Runes))
				}
				if !strings.Contains(b.String(), tt.top) {
					what += " before the first frame"
				}
				told = append(told, what)
			}
			loop := &kit.Loop{Term: term, Host: kit.Host{
				Now: kittest.NewClock(kit.Tick{}.At).Now, Painted: func() { see("painted") },
				Open: func(url string) string { see(url); return "" },
			}}
			loop.Stack = &kit.Stack{Make: func(to any) (kit.Screen, []kit.Effect) {
				name := to.(string)
				return page{plain.Line(name)}, kit.Do(kit.Browse{URL: name})
			}}
			loop.Begin(t.Context(), "the first", tt.above...)
			defer loop.End()
			want := "painted, the first"
			if tt.above != nil {
				want += ", the second"
			}
			if got := strings.Join(told, ", "); got != want {
				t.Errorf("it began %s; want %s", got, want)
			}
		})
	}
}
