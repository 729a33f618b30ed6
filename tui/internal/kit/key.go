package kit

import "time"

// Msg is anything that a screen is told: one of the types here, or what one of
// its own effects brought.
type Msg any

// Key is a key of the keyboard. Characters are Char with the rune beside it.
type Key int

// Keys.
const (
	Char Key = iota
	Enter
	Tab
	BackTab
	Esc
	Up
	Down
	Left
	Right
	PgUp
	PgDn
	Home
	End
	Backspace
	Delete
	F1
	Refresh // F5 or Ctrl+R
	CtrlA
	CtrlC
	CtrlL
	CtrlQ
	CtrlU
	CtrlZ
	Unknown
)

// Press is one key press.
type Press struct {
	Key  Key
	Rune rune
	At   time.Time
}

// Is says that the press is a character, in either case.
func (p Press) Is(r rune) bool {
	return p.Key == Char && (p.Rune == r || p.Rune >= 'A' && p.Rune <= 'Z' && p.Rune+'a'-'A' == r)
}

// Paste is pasted text. It never arms, confirms, toggles or starts anything.
type Paste struct{ Text string }

// Resize is the new size of the terminal.
type Resize struct{ W, H int }

// FocusChange says that the terminal's window got or lost the focus.
type FocusChange struct{ In bool }

// Resumed says that the process was suspended and goes on, or that help covered
// the screen.
type Resumed struct{}

// Tick comes about once a second.
type Tick struct{ At time.Time }

// Shown is the time of a screen's first full paint.
type Shown struct{ At time.Time }

// MouseKind is what the mouse did.
type MouseKind int

// What a mouse does.
const (
	Click MouseKind = iota
	Drag
	Release
	WheelUp
	WheelDown
)

// Mouse is one event of the mouse. For a screen, X and Y count in its body.
type Mouse struct {
	X, Y int
	Kind MouseKind
	At   time.Time
}
