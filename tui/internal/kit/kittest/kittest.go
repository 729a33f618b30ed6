// Package kittest drives the workspace on a simulated terminal: it presses
// keys, waits until nothing is being loaded, and reads what stands there.
package kittest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// patience is how long a test waits for something that never comes.
const patience = 20 * time.Second

// Harness is a workspace on a simulated terminal.
type Harness struct {
	t      *testing.T
	sim    tcell.SimulationScreen
	loop   *kit.Loop
	clock  *Clock
	opened []string
}

// Start opens a route on a terminal of a size.
func Start(t *testing.T, w, h int, theme kit.Theme, stack *kit.Stack, clock *Clock, route any) *Harness {
	t.Helper()
	sim := NewScreen()
	term, err := kit.TakeOver(sim, theme, nil)
	if err != nil {
		t.Fatal(err)
	}
	sim.SetSize(w, h)
	x := &Harness{t: t, sim: sim, clock: clock}
	x.loop = &kit.Loop{Stack: stack, Term: term, Host: kit.Host{Now: clock.Now, Open: func(u string) string {
		x.opened = append(x.opened, u)
		return ""
	}}}
	x.loop.Begin(t.Context(), route)
	t.Cleanup(func() { x.loop.End(); term.Close() })
	x.Settle()
	return x
}

// Settle takes the results of loads until none is going on, and paints.
func (x *Harness) Settle() {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	x.loop.Paint()
	for x.loop.Loading() > 0 {
		if x.loop.Receive(ctx) != nil {
			x.t.Fatalf("something is still being loaded:\n%s", x.Text())
		}
		x.loop.Paint()
	}
	if _, err := x.loop.Done(); err != nil {
		x.t.Fatal(err)
	}
}

// Until takes results of what is going on until a text stands there.
func (x *Harness) Until(text string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	for x.loop.Paint(); !strings.Contains(x.Text(), text); x.loop.Paint() {
		if x.loop.Receive(ctx) != nil {
			x.t.Fatalf("%q never comes:\n%s", text, x.Text())
		}
	}
}

// Rest takes results until nothing is being followed any more.
func (x *Harness) Rest() {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	for x.loop.Paint(); x.loop.Following() > 0; x.loop.Paint() {
		if x.loop.Receive(ctx) != nil {
			x.t.Fatalf("something is still being followed:\n%s", x.Text())
		}
	}
	x.Settle()
}

// Send gives a message, and settles.
func (x *Harness) Send(m kit.Msg) {
	x.t.Helper()
	if r, ok := m.(kit.Resize); ok {
		x.sim.SetSize(r.W, r.H)
	}
	x.loop.Send(0, m)
	x.Settle()
}

// Press presses keys one after the other, a second apart.
func (x *Harness) Press(keys ...kit.Key) {
	x.t.Helper()
	for _, k := range keys {
		x.Send(kit.Press{Key: k, At: x.clock.Advance(time.Second)})
	}
}

// Type types characters.
func (x *Harness) Type(s string) {
	x.t.Helper()
	for _, r := range s {
		x.Send(kit.Press{Key: kit.Char, Rune: r, At: x.clock.Advance(time.Second)})
	}
}

// Key is a press that is only queued as the terminal would bring it: the event
// takes the way through the terminal library.
func (x *Harness) Key(k tcell.Key, r rune) {
	x.t.Helper()
	x.sim.InjectKey(k, r, tcell.ModNone)
	for m := x.loop.Term.Next(x.clock.Now); ; m = x.loop.Term.Next(x.clock.Now) {
		x.loop.Send(0, m)
		if _, ok := m.(kit.Press); ok {
			break
		}
	}
	x.Settle()
}

// Left says whether the workspace was left.
func (x *Harness) Left() bool {
	done, _ := x.loop.Done()
	return done
}

// Opened are the addresses that the browser was asked for.
func (x *Harness) Opened() []string { return x.opened }

// Loop is the loop under test.
func (x *Harness) Loop() *kit.Loop { return x.loop }

// Clipboard is what was copied last.
func (x *Harness) Clipboard() string { return string(x.sim.GetClipboardData()) }

// Text is what stands on the terminal, row by row.
func (x *Harness) Text() string {
	cells, w, h := x.sim.GetContents()
	var b strings.Builder
	for y := range h {
		var row strings.Builder
		for i := 0; i < w; i++ {
			c := cells[y*w+i]
			row.WriteString(string(c.Runes))
			if wide(c.Runes) {
				i++
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// Bytes is every cell's bytes as they would be sent.
func (x *Harness) Bytes() []byte {
	cells, _, _ := x.sim.GetContents()
	var b []byte
	for _, c := range cells {
		b = append(b, c.Bytes...)
	}
	return b
}

// Frame is what was given to the terminal library, before it guards against
// anything itself.
func (x *Harness) Frame() string {
	c := x.loop.Stack.View()
	w, h := c.Size()
	var b strings.Builder
	for y := range h {
		b.WriteString(c.Part(0, y, w))
	}
	return b.String()
}

// Wants fails unless every text stands on the terminal.
func (x *Harness) Wants(texts ...string) {
	x.t.Helper()
	got := x.Text()
	for _, s := range texts {
		if !strings.Contains(got, s) {
			x.t.Errorf("%q does not stand there:\n%s", s, got)
		}
	}
}

// Lacks fails if one of the texts stands on the terminal.
func (x *Harness) Lacks(texts ...string) {
	x.t.Helper()
	got := x.Text()
	for _, s := range texts {
		if strings.Contains(got, s) {
			x.t.Errorf("%q stands there:\n%s", s, got)
		}
	}
}

// ids are what differs from one run of a test to the next: ids, and the ports of
// addresses on this machine, which are 5 digits nearly always.
func ids() *regexp.Regexp {
	return regexp.MustCompile(`\b127\.0\.0\.1:[0-9]{5}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?\b`)
}

// consents are the secrets in the address at which a browser signs in, over
// several lines.
func consents() *regexp.Regexp { return regexp.MustCompile(`\?client_id=\S+(?:\n {3,}\S+)*`) }

// Told fails where a frame says something in its looks alone: a coloured part
// holds a word or a figure, and what stands out as chosen has a sign in its row.
func (x *Harness) Told() {
	x.t.Helper()
	cells, w, h := x.sim.GetContents()
	rows := strings.Split(x.Text(), "\n")
	for y := range h {
		var coloured strings.Builder
		for i := 0; i <= w; i++ {
			fg, attrs := tcell.ColorDefault, tcell.AttrNone
			if i < w {
				fg, _, attrs = cells[y*w+i].Style.Decompose()
			}
			if attrs&tcell.AttrReverse != 0 && !strings.ContainsAny(rows[y], chosen) {
				x.t.Errorf("only its looks tell that this is chosen: %q", rows[y])
				break
			}
			if fg != tcell.ColorDefault {
				coloured.WriteString(string(cells[y*w+i].Runes))
				continue
			}
			if said := coloured.String(); said != "" && strings.IndexFunc(said, worded) < 0 {
				x.t.Errorf("only its colour says something about %q: %q", said, rows[y])
			}
			coloured.Reset()
		}
	}
}

// chosen are the signs of a row that is chosen.
const chosen = "▸"

func worded(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Golden holds the frame to testdata/NAME.txt, or writes it.
func (x *Harness) Golden(name string, update bool) {
	x.t.Helper()
	x.Told()
	path := filepath.Join("testdata", name+".txt")
	got := ids().ReplaceAllStringFunc(x.Text(), func(id string) string { return strings.Repeat("0", len(id)) })
	got = consents().ReplaceAllStringFunc(got, func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > ' ' {
				return '0'
			}
			return r
		}, s)
	})
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			x.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			x.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		x.t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		x.t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}
