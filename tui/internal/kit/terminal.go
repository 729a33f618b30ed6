package kit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
)

const maxPaste = 64 << 10

// Terminal is the person's terminal while the workspace has it.
type Terminal struct {
	screen tcell.Screen
	theme  Theme
	last   Canvas // the frame that is shown
	anew   bool   // it may not be shown any more
	pasted strings.Builder
	inside bool // of a paste
	keeper Keeper
	// gone says that the terminal was given away and could not be taken again.
	// The library has no cells then and would look for them for ever.
	gone bool
}

// Keeper is told around every time the terminal is taken, so that somebody can
// give it back when this process cannot any more.
type Keeper interface {
	Taking()
	Given()
}

// unkept is the keeper of a terminal that nobody else looks after.
type unkept struct{}

func (unkept) Taking() {}
func (unkept) Given()  {}

// ErrNoTerminal says that the terminal cannot show a full screen.
var ErrNoTerminal = errors.New("this terminal cannot show a full-screen workspace")

// OpenTerminal takes the terminal over until Close. An unknown terminal type
// is taken for an xterm; a dumb one is refused. keeper may be nil.
func OpenTerminal(env func(string) (string, bool), keeper Keeper) (*Terminal, error) {
	if name, _ := env("TERM"); name == "" || name == "dumb" {
		return nil, ErrNoTerminal
	}
	s, err := tcell.NewScreen()
	if err != nil {
		if s, err = unknownTerminal(); err != nil {
			return nil, ErrNoTerminal
		}
	}
	return TakeOver(s, ThemeOf(env), keeper)
}

func unknownTerminal() (tcell.Screen, error) {
	info, err := tcell.LookupTerminfo("xterm-256color")
	if err != nil {
		return nil, err
	}
	tty, err := tcell.NewDevTty()
	if err != nil {
		return nil, err
	}
	return tcell.NewTerminfoScreenFromTtyTerminfo(tty, info)
}

// TakeOver is OpenTerminal for a screen that was made elsewhere.
func TakeOver(s tcell.Screen, theme Theme, keeper Keeper) (*Terminal, error) {
	if keeper == nil {
		keeper = unkept{}
	}
	keeper.Taking()
	if err := s.Init(); err != nil {
		keeper.Given()
		return nil, fmt.Errorf("take over the terminal: %w", err)
	}
	if s.Colors() == 0 { // the library would show every colour as what is chosen
		theme = theme.colourless()
	}
	t := &Terminal{screen: s, theme: theme, keeper: keeper}
	t.modes()
	return t, nil
}

// modes asks for button and drag events only: every motion would be a flood
// over a slow line.
func (t *Terminal) modes() {
	t.screen.EnableMouse(tcell.MouseButtonEvents | tcell.MouseDragEvents)
	t.screen.EnablePaste()
	t.screen.EnableFocus()
	t.anew = true
}

// Close gives the terminal back as it was. It may be called again.
func (t *Terminal) Close() {
	t.screen.Fini()
	t.keeper.Given()
}

// Size is the terminal's size now.
func (t *Terminal) Size() Resize {
	w, h := t.screen.Size()
	return Resize{W: w, H: h}
}

// Paint shows a frame, which must not be drawn into from then on, and gives one
// that may be. Cells that did not change are not sent, and a frame without a change
// sends nothing. A whole frame begins by clearing the screen, after which its empty
// cells stand there: of a large terminal they are most.
func (t *Terminal) Paint(c Canvas) (free Canvas) {
	if t.gone {
		return c
	}
	all := t.anew || c.w != t.last.w || c.h != t.last.h
	changed := all || c.g.cx != t.last.g.cx || c.g.cy != t.last.g.cy
	if all {
		t.screen.Clear()
		t.screen.LockRegion(0, 0, c.w, c.h, true) // which leaves cells as the clearing left them
	}
	for i, cell := range c.g.cells {
		before := empty
		if !all {
			before = t.last.g.cells[i]
		}
		if before == cell {
			continue
		}
		changed = true
		x, y := i%c.w, i/c.w
		if before == empty {
			t.screen.LockRegion(x, y, 1, 1, false)
		}
		if cell.Text == "" {
			continue // the character on the left covers it
		}
		t.screen.Put(x, y, cell.Text, t.theme.style(cell.Role))
	}
	if !changed {
		return c
	}
	free, t.last, t.anew = t.last, c, false
	if c.g.cx < 0 {
		t.screen.HideCursor()
	} else {
		t.screen.ShowCursor(c.g.cx, c.g.cy)
	}
	if all {
		t.screen.Sync() // clears, and draws in the same write
	} else {
		t.screen.Show()
	}
	return free
}

// Copy puts text on the terminal's clipboard.
func (t *Terminal) Copy(text string) { t.screen.SetClipboard([]byte(text)) }

// Redraw sends everything with the next frame.
func (t *Terminal) Redraw() { t.anew = true }

// Resized is told of every size that the terminal had: one that it has again may
// have cut off what stood there.
func (t *Terminal) Resized(to Resize) {
	if to.W != t.last.w || to.H != t.last.h {
		t.Redraw()
	}
}

// Suspended gives the terminal back while do runs.
func (t *Terminal) Suspended(do func() error) error {
	if err := t.screen.Suspend(); err != nil {
		return fmt.Errorf("give the terminal back: %w", err)
	}
	t.keeper.Given()
	err := do()
	t.keeper.Taking()
	if again := t.resume(); again != nil {
		t.gone = true
		return fmt.Errorf("take the terminal again: %w", again)
	}
	t.modes()
	return err
}

// resume takes the terminal again, which has to have a size: what hung up
// meanwhile has none.
func (t *Terminal) resume() error {
	if err := t.screen.Resume(); err != nil {
		return err
	}
	if tty, ok := t.screen.Tty(); ok {
		_, err := tty.WindowSize()
		return err
	}
	return nil
}

// Next waits for an event. It gives nil when the terminal was closed.
func (t *Terminal) Next(now func() time.Time) Msg {
	for {
		e := t.screen.PollEvent()
		if e == nil {
			return nil
		}
		if m := t.message(e, now()); m != nil {
			return m
		}
	}
}

// message is an event as screens know it, nil if it is none of theirs.
func (t *Terminal) message(e tcell.Event, now time.Time) Msg {
	switch e := e.(type) {
	case *tcell.EventResize:
		w, h := e.Size()
		return Resize{W: w, H: h}
	case *tcell.EventFocus:
		return FocusChange{In: e.Focused}
	case *tcell.EventPaste:
		if t.inside = e.Start(); t.inside {
			t.pasted.Reset()
			return nil
		}
		return Paste{Text: t.pasted.String()}
	case *tcell.EventMouse:
		return mouseOf(e, now)
	case *tcell.EventKey:
		p := pressOf(e, now)
		if !t.inside {
			return p
		}
		if t.pasted.Len() < maxPaste {
			switch p.Key {
			case Char:
				t.pasted.WriteRune(p.Rune)
			case Enter, Tab:
				t.pasted.WriteByte(' ')
			}
		}
	}
	return nil
}
