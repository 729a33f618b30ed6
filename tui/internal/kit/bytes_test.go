package kit_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// glass is what a terminal shows after the bytes that it was sent, as far as the
// workspace's bytes go.
type glass struct {
	t    *testing.T
	w, h int
	x, y int
	rows [][]string
}

func (g *glass) resize(w, h int) {
	g.w, g.h, g.rows = w, h, nil
	for range h {
		row := make([]string, w)
		for x := range row {
			row[x] = "?" // whatever the terminal makes of it
		}
		g.rows = append(g.rows, row)
	}
}

func (g *glass) feed(s string) {
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			g.control(rest[:end], rest[end])
			s = rest[end+1:]
			continue
		}
		if s[0] == '\x1b' { // a character set or a mode of the keypad
			n := 2
			if s[1] == '(' {
				n = 3
			}
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		if r == '\b' {
			g.x--
		} else {
			g.put(string(r))
		}
		s = s[size:]
	}
}

func (g *glass) control(args string, final byte) {
	switch final {
	case 'H':
		row, column, _ := strings.Cut(args, ";")
		g.y, g.x = max(number(row), 1)-1, max(number(column), 1)-1
	case 'J':
		for _, row := range g.rows {
			for x := range row {
				row[x] = " "
			}
		}
	case 'm', 'h', 'l', 't', 'u', 'q':
	default:
		g.t.Fatalf("the workspace sends CSI %q %c, which this test does not know", args, final)
	}
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func (g *glass) put(s string) {
	n := plain.Width(plain.Safe(s))
	if n == 0 || g.y >= g.h || g.x+n > g.w {
		return
	}
	row := g.rows[g.y]
	for x := g.x; x < g.x+n; x++ { // half of a wide character goes with the other half
		if row[x] == "" && x > 0 {
			row[x-1] = " "
		}
		if x+1 < g.w && row[x+1] == "" {
			row[x+1] = " "
		}
		row[x] = ""
	}
	row[g.x] = s
	g.x += n
}

func (g *glass) text() string {
	var b strings.Builder
	for _, row := range g.rows {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String()
}

// Whatever frames follow each other, the terminal shows the last one: cells that
// are not sent because they are empty, or as they were, stand there all the same.
func TestPaintShowsTheFrame(t *testing.T) {
	t.Parallel()
	const w, h = 24, 7
	signs := []string{"a", "Z", "─", "▸", "世", "한", "é", "█"}
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 1))
		dev := newTTY()
		dev.size(w, h)
		s := screenOf(t, dev)
		term := taken(t, s)
		g := &glass{t: t}
		g.resize(w, h)
		read := 0
		texts := make([]string, h)
		for step := range 60 {
			switch dice.IntN(12) {
			case 0, 3:
				for range 1 + dice.IntN(2) { // and back again, perhaps, before the next frame
					dev.size(w-2*dice.IntN(2), h-dice.IntN(2))
					g.resize(dev.w, dev.h)
					s.Sync() // as the library does by itself when the terminal tells
					term.Resized(kit.Resize{W: dev.w, H: dev.h})
				}
			case 1:
				term.Redraw()
			case 2:
				if err := term.Suspended(func() error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			c := kit.NewCanvas(dev.w, dev.h)
			for y := range texts {
				if dice.IntN(3) == 0 {
					texts[y] = strings.Repeat(" ", dice.IntN(w-1))
					for range dice.IntN(6) {
						texts[y] += signs[dice.IntN(len(signs))] + strings.Repeat(" ", dice.IntN(3))
					}
				}
				c.Text(0, y, []kit.Role{kit.Plain, kit.Strong, kit.Focus, kit.Warn}[dice.IntN(4)], plain.Line(texts[y]))
			}
			var want strings.Builder
			for y := range dev.h {
				want.WriteString(c.Row(y) + "\n")
			}
			term.Paint(c)
			out, _ := dev.sent()
			g.feed(out[read:])
			read = len(out)
			if got := g.text(); got != want.String() {
				t.Fatalf("seed %d, frame %d: the terminal shows\n%s\nand not\n%s", seed, step, got, want.String())
			}
		}
		term.Close()
	}
}

// Of a frame that is mostly empty little is sent, and of the same one again
// nothing.
func TestPaintSendsWhatIsThere(t *testing.T) {
	t.Parallel()
	dev := newTTY()
	dev.size(200, 50)
	term := taken(t, screenOf(t, dev))
	defer term.Close()
	before, _ := dev.sent()
	frame := func() kit.Canvas {
		c := kit.NewCanvas(200, 50)
		c.Text(3, 3, kit.Strong, "One line")
		return c
	}
	term.Paint(frame())
	first, _ := dev.sent()
	if n := len(first) - len(before); n > 400 {
		t.Errorf("%d bytes for a frame of one line", n)
	}
	term.Paint(frame())
	if again, _ := dev.sent(); len(again) != len(first) {
		t.Errorf("%d bytes for the same frame again", len(again)-len(first))
	}
}
