package kit_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// rendition is a change of the looks, as a terminal is sent it.
var rendition = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)

// coloursOf are the colours that a terminal was sent, as their places in its own
// palette. Any other one, and any background, fails the test.
func coloursOf(t *testing.T, sent string) (places []int) {
	t.Helper()
	for _, m := range rendition.FindAllStringSubmatch(sent, -1) {
		codes := strings.FieldsFunc(m[1], func(r rune) bool { return r == ';' || r == ':' })
		for i := 0; i < len(codes); i++ {
			n, err := strconv.Atoi(codes[i])
			switch {
			case err != nil:
				t.Errorf("what is %q?", m[0])
			case n >= 30 && n <= 37:
				places = append(places, n-30)
			case n >= 90 && n <= 97:
				places = append(places, n-90+8)
			case n == 38 || n == 48 || n == 58 || n >= 40 && n <= 47 || n >= 100 && n <= 107:
				t.Errorf("%q is none of the 16 colours of the terminal, or a background", m[0])
				i = len(codes)
			}
		}
	}
	return places
}

// On every kind of terminal the workspace uses colours of the 16 that the person
// has chosen for it, never one of its own and no background; without colour, by
// wish or because the terminal has none, it sends none at all, and every role that
// colour tells apart is told in another way.
func TestPalette(t *testing.T) {
	t.Parallel()
	known := []int{2, 1, 3, 6}
	none := map[string]string{"NO_COLOR": "1"}
	for _, tt := range []struct {
		name, term string
		colours    int // of the terminal, -1 for what is known of it
		env        map[string]string
		want       []int
	}{
		{"16 colours", "xterm-256color", 16, nil, known},
		{"8 colours", "xterm", -1, nil, known},
		{"a console", "linux", -1, nil, known},
		{"a multiplexer", "screen", -1, nil, known},
		{"256 colours", "xterm-256color", -1, nil, known},
		{"millions", "xterm-truecolor", -1, nil, known},
		{"no colours", "vt100", -1, nil, nil},
		{"NO_COLOR on 16", "xterm-256color", 16, none, nil},
		{"NO_COLOR on millions", "xterm-truecolor", -1, none, nil},
		{"mono", "xterm-256color", 16, map[string]string{"EVALROUTER_THEME": "mono"}, nil},
		{"high contrast", "xterm-256color", 16, map[string]string{"EVALROUTER_THEME": "high-contrast"}, nil},
		{"high contrast without colours", "vt100", -1, map[string]string{"EVALROUTER_THEME": "high-contrast"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info, err := tcell.LookupTerminfo(tt.term)
			if err != nil {
				t.Fatal(err)
			}
			own := *info // the library writes into it
			if tt.colours >= 0 {
				own.Colors = tt.colours
			}
			dev := newTTY()
			s, err := tcell.NewTerminfoScreenFromTtyTerminfo(dev, &own)
			if err != nil {
				t.Fatal(err)
			}
			term, err := kit.TakeOver(s, kit.ThemeOf(func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }), nil)
			if err != nil {
				t.Fatal(err)
			}
			c := kit.NewCanvas(80, 24)
			roles := []kit.Role{kit.Plain, kit.Strong, kit.Focus, kit.Good, kit.Bad, kit.Warn, kit.Active, kit.Armed}
			for i, r := range roles {
				c.Text(i, 0, r, "x")
			}
			term.Paint(c)
			term.Close()
			sent, _ := dev.sent()
			if d := cmp.Diff(tt.want, coloursOf(t, sent)); d != "" {
				t.Errorf("colours (-want +got):\n%s\nof %q", d, sent)
			}
			// What is chosen is the one thing in reverse, armed or not.
			if n := strings.Count(sent, "\x1b[7m"); n != 2 {
				t.Errorf("%d roles of %d are in reverse, want the two of what is chosen: %q", n, len(roles), sent)
			}
		})
	}
}
