// Package consenttest is what a page that asks for consent is held to: a judge
// that knows nothing of its state machine, and random events to try it with.
package consenttest

import (
	"math/rand/v2"
	"time"

	"github.com/evalrouter/evalrouter/tui/internal/consent"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// Judge is what a careful person would call two deliberate Enters, written down
// apart from the machine: it looks back over the whole history.
type Judge struct {
	Shown, Asked time.Time // of the page, and of what there is to agree to; zero for not yet
	Ends         time.Time // of what there is to agree to; zero for never
	Short        bool      // it cannot be, such as for want of credit
	first        time.Time // the Enter that armed, zero if none counts
	last         time.Time // the Enter before this one
}

// Disturbed is anything but an Enter.
func (j *Judge) Disturbed() { j.first, j.last = time.Time{}, time.Time{} }

// Enter says whether this Enter may be the second one.
func (j *Judge) Enter(at time.Time, onRow bool) bool {
	early := j.Shown.IsZero() || j.Asked.IsZero() || at.Sub(j.Shown) < consent.Settling || at.Sub(j.Asked) < consent.Settling
	switch {
	case !onRow:
		j.Disturbed()
		return false
	case early || j.Short || !j.Ends.IsZero() && !at.Before(j.Ends):
		return false
	case j.first.IsZero() || at.Sub(j.last) >= consent.Patience:
		j.first, j.last = at, at
		return false
	case at.Sub(j.last) < consent.Repeats:
		j.last = at
		return false
	}
	return true
}

// Pause is how long nothing happens: often less than it takes to be deliberate,
// seldom longer than an Enter is remembered.
func Pause(r *rand.Rand) time.Duration {
	d := time.Duration(r.IntN(8)) * 130 * time.Millisecond
	if r.IntN(40) == 0 {
		d += time.Duration(r.IntN(20)) * time.Second
	}
	return d
}

// Input is what a person or the terminal does. Enter comes often, so that many
// sequences get far.
func Input(r *rand.Rand, now time.Time) kit.Msg {
	switch n := r.IntN(19); {
	case n < 10:
		return kit.Press{Key: kit.Enter, At: now}
	case n < 12:
		keys := [...]kit.Key{kit.Up, kit.Down, kit.Tab, kit.BackTab, kit.PgUp, kit.PgDn, kit.Home, kit.End, kit.Right, kit.Backspace, kit.CtrlU, kit.Unknown}
		return kit.Press{Key: keys[r.IntN(len(keys))], At: now}
	case n == 12:
		return kit.Press{Key: kit.Char, Rune: rune(' ' + r.IntN(90)), At: now}
	case n == 13:
		return kit.Resize{W: 60 + r.IntN(100), H: 16 + r.IntN(30)}
	case n == 14:
		return kit.Paste{Text: "\n\r\n"}
	case n == 15:
		return kit.FocusChange{In: r.IntN(2) == 0}
	case n == 16:
		return kit.Mouse{X: 5, Y: r.IntN(20), Kind: kit.MouseKind(r.IntN(5)), At: now}
	case n == 17:
		return kit.Tick{At: now}
	}
	return kit.Resumed{}
}

// Disturbs says that a message takes a first Enter back: everything does but
// Enter, the passing of time and being shown.
func Disturbs(m kit.Msg) bool {
	switch m := m.(type) {
	case kit.Press:
		return m.Key != kit.Enter
	case kit.Tick, kit.Shown:
		return false
	}
	return true
}
