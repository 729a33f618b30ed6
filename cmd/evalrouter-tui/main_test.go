package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/evalrouter/evalrouter/tui"
)

func TestShow(t *testing.T) {
	t.Parallel()
	kept := tui.Outcome{Saved: []string{"/home/dana/evalrouter-0a1b2c3d.json"}, Lines: []string{"0a1b2c3d  arithmetic@1   evalrouter wait 0a1b2c3d"}}
	const printed = "Saved while you were here:\n  /home/dana/evalrouter-0a1b2c3d.json\nStill going on at the service:\n  0a1b2c3d  arithmetic@1   evalrouter wait 0a1b2c3d\n"
	tests := []struct {
		name   string
		out    tui.Outcome
		err    error
		stdout string
		stderr string
		code   int
	}{
		{"TUI-17 saved paths and the way back are printed afterwards", kept, nil, printed, "", 0},
		{"nothing to keep", tui.Outcome{}, nil, "", "", 0},
		{"it broke", kept, errors.New("the workspace broke: \x1b[2J"), printed, "error: the workspace broke: \\x1b[2J\n", 1},
		{"a dumb terminal", tui.Outcome{}, tui.ErrNoTerminal, "", "error: this terminal cannot show a full-screen workspace (unsupported_feature)\n  next: EVALROUTER_TUI=off evalrouter\n", 2},
		{"a hostile path", tui.Outcome{Saved: []string{"/x\x1b]0;t\x07"}}, nil, "Saved while you were here:\n  /x\\x1b]0;t\\x07\n", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := show(&stdout, &stderr, func() (tui.Outcome, error) {
				if stdout.Len() > 0 {
					t.Error("printed while the workspace had the terminal")
				}
				return tt.out, tt.err
			})
			if got, want := fmt.Sprint(stdout.String(), stderr.String(), code), fmt.Sprint(tt.stdout, tt.stderr, tt.code); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
