package term_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

func made(in, out, err bool, env ...string) *term.Term {
	vars := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	return &term.Term{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, InTTY: in, OutTTY: out, ErrTTY: err,
		Env: func(n string) (string, bool) { v, ok := vars[n]; return v, ok },
		Raw: func() (func() error, error) { return func() error { return nil }, nil },
	}
}

// RUN-34: who counts as a person in front of a terminal.
func TestAttended_RUN34_M1(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		t    *term.Term
		want bool
	}{
		{"a terminal everywhere", made(true, true, true), true},
		{"only the result is redirected", made(true, false, true), true},
		{"only the notes are redirected", made(true, true, false), true},
		{"both outputs are redirected", made(true, false, false), false},
		{"the input is redirected", made(false, true, true), false},
		{"CI", made(true, true, true, "CI=true"), false},
		{"CI is empty", made(true, true, true, "CI="), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.t.Attended(); got != tt.want {
				t.Errorf("Attended = %v", got)
			}
		})
	}
}

func TestSimple(t *testing.T) {
	t.Parallel()
	none := made(true, true, true)
	none.Raw = nil
	tests := []struct {
		name string
		t    *term.Term
		want bool
	}{
		{"a usual terminal", made(true, true, true, "TERM=xterm"), false},
		{"a dumb one", made(true, true, true, "TERM=dumb"), true},
		{"a screen reader", made(true, true, true, "ACCESSIBLE=1"), true},
		{"no single keys", none, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.t.Simple(); got != tt.want {
				t.Errorf("Simple = %v", got)
			}
		})
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, want, rest string
		declined             bool
	}{
		{"a line", "yes\nmore", "yes", "more", false},
		{"a line of another system", "yes\r\n", "yes", "", false},
		{"an empty line", "\nmore", "", "more", false},
		{"the end", "", "", "", true},
		{"a line that was not finished", "start", "", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := made(true, true, true)
			in := strings.NewReader(tt.in)
			x.In = in
			got, err := x.Ask(t.Context(), "? ")
			if got != tt.want || errors.Is(err, term.ErrDeclined) != tt.declined {
				t.Errorf("Ask = %q, %v", got, err)
			}
			if rest, _ := io.ReadAll(in); string(rest) != tt.rest {
				t.Errorf("left %q, want %q", rest, tt.rest)
			}
		})
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	x := made(true, true, true)
	x.In = r
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Ask(ctx, "? "); !errors.Is(err, term.ErrDeclined) {
		t.Errorf("error %v, want a declined question", err)
	}
}

// keys gives one key a read, as a terminal does.
type keys []string

func (k *keys) Read(p []byte) (int, error) {
	if len(*k) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*k)[0])
	*k = (*k)[1:]
	return n, nil
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		keys     keys
		want     bool
		declined bool
	}{
		{"RUN-14 Enter is no", keys{"\r"}, false, false},
		{"up, Enter is yes", keys{"\x1b[A", "\r"}, true, false},
		{"application keys too", keys{"\x1bOA", "\r"}, true, false},
		{"k, Enter is yes", keys{"k", "\r"}, true, false},
		{"up, down, Enter is no", keys{"\x1b[A", "\x1b[B", "\r"}, false, false},
		{"Tab twice is no", keys{"\t", "\t", "\r"}, false, false},
		{"letters do nothing", keys{"y", "start", "\r"}, false, false},
		{"a paste is ignored", keys{"\x1b[A\r", "\r"}, false, false},
		{"Escape leaves", keys{"\x1b[A", "\x1b", "\r"}, false, true},
		{"Ctrl-C leaves", keys{"\x03"}, false, true},
		{"the end leaves", keys{"\x1b[A"}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			x := made(true, true, true)
			x.In, x.Err = &tt.keys, &out
			got, err := x.Confirm(t.Context(), "Start?", "Start run", "Cancel", "start")
			if got != tt.want || errors.Is(err, term.ErrDeclined) != tt.declined {
				t.Errorf("Confirm = %v, %v", got, err)
			}
			if !strings.Contains(out.String(), "  > Cancel") {
				t.Errorf("the cursor does not start on Cancel: %q", out.String())
			}
		})
	}
}

func TestPageIsSafe(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := &term.Page{W: &b}
	p.Line("a %s b", "\x1b[31m\nx\u202e")
	if got := b.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("wrote %q", got)
	}
}

func TestPageKeepsTheFirstFailure(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	r.Close()
	p := &term.Page{W: w}
	p.Line("a")
	p.Line("b")
	if !errors.Is(p.Failure(), io.ErrClosedPipe) {
		t.Errorf("failure %v", p.Failure())
	}
}
