package kit

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Screen is one place of the workspace, as a value.
type Screen interface {
	// Update gives the next value and what it wants done.
	Update(Msg) (Screen, []Effect)
	// View draws the body. It must not change anything.
	View(Canvas)
	// Head says what stands around the body.
	Head() Head
}

// Head is the title, the one message and the keys of a screen.
type Head struct {
	Place plain.Safe
	Note  plain.Safe
	Keys  []Binding
	// Root marks the screen that nothing lies behind.
	Root bool
}

// Binding is a key with what it does. The hint row and the help page are made
// from it.
type Binding struct {
	Keys plain.Safe
	Does plain.Safe
	// Quiet leaves it out of the hint row.
	Quiet bool
}

// Effect is something that a screen wants done.
type Effect interface{ effect() }

// Go shows the screen of a route above this one, or instead of it, or straight
// above the first screen with all between them left. Afresh leaves the first
// screen too, which is opened again: what was read as somebody else stays nowhere.
type Go struct {
	To      any
	Instead bool
	Only    bool
	Afresh  bool
}

// Back shows the screen beneath.
type Back struct{}

// Quit leaves the workspace. Nothing on the service changes.
type Quit struct{}

// Load does one thing and brings its result. A load of the same name that is
// still going on is abandoned.
type Load struct {
	Name string
	Do   func(context.Context) Msg
}

// Follow brings messages until it ends or its screen is left.
type Follow struct {
	Name string
	Do   func(ctx context.Context, emit func(Msg))
}

// Stop ends what goes on under a name.
type Stop struct{ Name string }

// Browse opens an address in the browser.
type Browse struct{ URL string }

// Browsed says whether an address was opened: Why is empty if it was.
type Browsed struct {
	URL string
	Why string
}

// Saved is the path of a file that was written; it is printed again after the
// workspace.
type Saved struct{ Path string }

// Behind is a line to print after the workspace, such as how to come back to a
// run.
type Behind struct{ Key, Line string }

func (Go) effect()     {}
func (Back) effect()   {}
func (Quit) effect()   {}
func (Load) effect()   {}
func (Follow) effect() {}
func (Stop) effect()   {}
func (Browse) effect() {}
func (Saved) effect()  {}
func (Behind) effect() {}

// effects of the loop that no screen asks for.
type copyText struct{ text string }
type redraw struct{}
type suspend struct{}
type dropped struct{ id int }

func (copyText) effect() {}
func (redraw) effect()   {}
func (suspend) effect()  {}
func (dropped) effect()  {}

// Do is the list of one effect, for short returns.
func Do(e ...Effect) []Effect { return e }
