// Package consent is what it takes to do something that cannot be taken back,
// such as spending: two deliberate Enters on one row.
package consent

import "time"

// How the two Enters must come: the second one a quarter of a second or more
// after the first, and soon enough to belong to it. Keys that were typed before
// the row was on the screen, or as it came, count for nothing.
const (
	Repeats  = 250 * time.Millisecond
	Patience = 15 * time.Second
	Settling = 300 * time.Millisecond
)

// Stage is how far a consent has come.
type Stage int

// Stages.
const (
	Closed  Stage = iota // there is nothing to agree to
	Ready                // one Enter on the row arms
	Armed                // a second one does it
	Sent                 // it cannot be taken back here
	Expired              // what was offered is over
)

// Approval is the consent to one thing, such as a quote, as a state machine of
// values. Only Enter moves it on, only twice, and everything else takes it back.
type Approval struct {
	Stage   Stage
	Blocked bool      // it cannot be, such as for want of credit
	Shown   bool      // the row was painted
	quiet   time.Time // keys before this are dropped
	Ends    time.Time // of what was offered; zero for never
	last    time.Time // Enter while armed
}

// Offered is something that can be agreed to until ends.
func Offered(now, ends time.Time) Approval {
	return Approval{Stage: Ready, quiet: now.Add(Settling), Ends: ends}
}

// Painted says that the row stands on the screen since now.
func (a Approval) Painted(now time.Time) Approval {
	if !a.Shown {
		a.Shown, a.quiet = true, later(a.quiet, now.Add(Settling))
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Enter is Enter on the row. start says that the consent is given.
func (a Approval) Enter(at time.Time) (next Approval, start bool) {
	a = a.At(at)
	switch {
	case !a.Shown || at.Before(a.quiet) || a.Blocked:
		return a, false
	case a.Stage == Ready:
		a.Stage, a.last = Armed, at
	case a.Stage == Armed && at.Sub(a.last) < Repeats:
		a.last = at // a key that is held down never confirms
	case a.Stage == Armed:
		a.Stage = Sent
		return a, true
	}
	return a, false
}

// Disturbed is anything but Enter on the row.
func (a Approval) Disturbed() Approval {
	if a.Stage == Armed {
		a.Stage = Ready
	}
	return a
}

// At lets time pass.
func (a Approval) At(now time.Time) Approval {
	if a.Stage == Armed && now.Sub(a.last) >= Patience {
		a.Stage = Ready
	}
	if (a.Stage == Ready || a.Stage == Armed) && !a.Ends.IsZero() && !now.Before(a.Ends) {
		a.Stage = Expired
	}
	return a
}

// Short says whether the credit is known to be too small. Either way a pending
// confirmation is over: the person agreed to what stood there before.
func (a Approval) Short(known bool) Approval {
	a.Blocked = known
	return a.Disturbed()
}
