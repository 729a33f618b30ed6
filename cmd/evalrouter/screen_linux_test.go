package main

import (
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// screen is what a terminal of 80 columns shows after it got these bytes. It is
// as high as all that was written, so that nothing has left it at the top.
func screen(t *testing.T, raw string) string {
	t.Helper()
	vt := vt10x.New(vt10x.WithSize(80, strings.Count(raw, "\n")+len(raw)/80+2))
	if _, err := vt.Write([]byte(raw)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(vt.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// The screen is that of a terminal: what is written over is gone.
func TestScreen(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"one\r\ntwo\r\n":                        "one\ntwo\n",
		"10/20\r20/20\x1b[K\r\x1b[Kdone\r\n":    "done\n",
		"  a\r\n> b\r\n\x1b[2A\r> a\r\n  b\r\n": "> a\n  b\n",
		"\x1b[1mbold\x1b[0m\r\n":                "bold\n",
		strings.Repeat("x", 81):                 strings.Repeat("x", 80) + "\nx\n",
	} {
		if got := screen(t, raw); got != want {
			t.Errorf("%q shows %q, want %q", raw, got, want)
		}
	}
}
