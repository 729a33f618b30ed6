package kit_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// tty is a terminal that keeps what it is sent.
type tty struct {
	mu              sync.Mutex
	out             bytes.Buffer
	in              chan []byte
	stopped         chan struct{}
	once            sync.Once
	raw             bool
	noStart, noSize error // of a terminal that has hung up
	w, h            int
}

func newTTY() *tty { return &tty{in: make(chan []byte, 8), stopped: make(chan struct{}), w: 80, h: 24} }

func (t *tty) Start() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.noStart != nil {
		return t.noStart
	}
	t.raw = true
	select {
	case <-t.stopped: // it was given back before
		t.stopped, t.once = make(chan struct{}), sync.Once{}
	default:
	}
	return nil
}
func (t *tty) Stop() error  { t.mu.Lock(); defer t.mu.Unlock(); t.raw = false; return nil }
func (t *tty) Drain() error { t.once.Do(func() { close(t.stopped) }); return nil }
func (t *tty) Close() error { return nil }

func (t *tty) NotifyResize(func()) {}

func (t *tty) WindowSize() (tcell.WindowSize, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.noSize != nil {
		return tcell.WindowSize{}, t.noSize
	}
	return tcell.WindowSize{Width: t.w, Height: t.h}, nil
}

func (t *tty) size(w, h int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w, t.h = w, h
}

// hangUp lets the terminal refuse from now on to be taken, and to tell its size.
func (t *tty) hangUp(noStart, noSize error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noStart, t.noSize = noStart, noSize
}

func (t *tty) Read(b []byte) (int, error) {
	t.mu.Lock()
	stopped := t.stopped
	t.mu.Unlock()
	select {
	case in := <-t.in:
		return copy(b, in), nil
	case <-stopped:
		return 0, nil
	}
}

func (t *tty) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(b)
}

func (t *tty) sent() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.String(), t.raw
}

// breaking is a screen that breaks where it is told to.
type breaking struct{ where string }

func (b breaking) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	if _, ok := m.(kit.Press); ok && b.where == "update" {
		panic("in update")
	}
	return b, nil
}

func (b breaking) View(kit.Canvas) {
	if b.where == "view" {
		panic("in view")
	}
}

func (b breaking) Head() kit.Head { return kit.Head{Place: "Breaking", Root: true} }

func (b breaking) effects() []kit.Effect {
	switch b.where {
	case "load":
		return kit.Do(kit.Load{Name: "x", Do: func(context.Context) kit.Msg { panic("in load") }})
	case "follow":
		return kit.Do(kit.Follow{Name: "x", Do: func(context.Context, func(kit.Msg)) { panic("in follow") }})
	}
	return nil
}

// screenOf is a screen of the library over a device.
func screenOf(t *testing.T, dev *tty) tcell.Screen {
	t.Helper()
	info, err := tcell.LookupTerminfo("xterm-256color")
	if err != nil {
		t.Fatal(err)
	}
	own := *info // the library writes into it
	s, err := tcell.NewTerminfoScreenFromTtyTerminfo(dev, &own)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// taken is a terminal that was taken over.
func taken(t *testing.T, s tcell.Screen) *kit.Terminal {
	t.Helper()
	term, err := kit.TakeOver(s, kit.Colour, nil)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// A terminal that hangs up while it is given away ends the workspace, with the
// reason: the library would paint for ever on no cells.
func TestTerminalHangsUp(t *testing.T) {
	t.Parallel()
	gone := errors.New("no such device")
	for _, tt := range []struct {
		name        string
		start, size error
	}{
		{"it cannot be opened again", gone, gone},
		{"it is there and has no size", nil, gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dev := newTTY()
			term := taken(t, screenOf(t, dev))
			jobs := make(chan kit.JobEvent, 1)
			still := breaking{"nowhere"}
			loop := &kit.Loop{Term: term, Host: kit.Host{Now: time.Now, Job: jobs}, Stack: &kit.Stack{Make: func(any) (kit.Screen, []kit.Effect) { return still, nil }}}
			dev.hangUp(tt.start, tt.size)
			jobs <- kit.Continued
			if err := loop.Run(t.Context(), nil); !errors.Is(err, gone) || !strings.Contains(err.Error(), "take the terminal again") {
				t.Errorf("error %v", err)
			}
			term.Redraw()
			canvas := kit.NewCanvas(80, 24)
			canvas.Text(0, 0, kit.Plain, "painted")
			term.Paint(canvas)
		})
	}
}

// However the workspace ends, the terminal is given back: the main screen, the
// cursor, no mouse, no paste marks, no raw mode.
func TestTerminalIsGivenBack(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"update", "view", "load", "follow", "Ctrl+Q", "a signal"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			dev := newTTY()
			term := taken(t, screenOf(t, dev))
			b := breaking{where}
			loop := &kit.Loop{Term: term, Host: kit.Host{Now: time.Now}, Stack: &kit.Stack{Make: func(any) (kit.Screen, []kit.Effect) { return b, b.effects() }}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			switch where {
			case "a signal":
				cancel()
			case "Ctrl+Q":
				dev.in <- []byte{0x11}
			default:
				dev.in <- []byte("x")
			}
			err := loop.Run(ctx, nil)
			if broke := !strings.Contains("Ctrl+Q a signal", where); broke != (err != nil) {
				t.Errorf("error %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "in "+where) {
				t.Errorf("the error does not say what broke: %v", err)
			}
			out, raw := dev.sent()
			if raw {
				t.Error("the terminal is still in raw mode")
			}
			for _, mode := range []string{"1049", "1000", "1002", "1006", "2004", "1004"} {
				on, off := strings.LastIndex(out, "\x1b[?"+mode+"h"), strings.LastIndex(out, "\x1b[?"+mode+"l")
				if on > off {
					t.Errorf("mode %s is still on", mode)
				}
			}
			if strings.LastIndex(out, "\x1b[?25h") < strings.LastIndex(out, "\x1b[?25l") {
				t.Error("the cursor is hidden")
			}
		})
	}
}

func TestOpenTerminalRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "dumb"} {
		if _, err := kit.OpenTerminal(func(string) (string, bool) { return name, name != "" }, nil); !errors.Is(err, kit.ErrNoTerminal) {
			t.Errorf("TERM=%q: %v", name, err)
		}
	}
}
