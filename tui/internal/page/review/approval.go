package review

import "time"

// How the two Enters must come: the second one a quarter of a second or more
// after the first, and soon enough to belong to it. Keys that were typed before
// the price was on the screen, or as it came, count for nothing.
const (
	repeats  = 250 * time.Millisecond
	patience = 15 * time.Second
	settling = 300 * time.Millisecond
)

type stage int

const (
	closed  stage = iota // there is nothing to approve
	ready                // one Enter on the price row arms
	armed                // a second one starts
	sent                 // it cannot be taken back here
	expired              // the quote is over
)

// approval is the consent to one quote, as a state machine of values. Only
// Enter moves it towards spending, only twice, and everything else takes it
// back.
type approval struct {
	stage   stage
	blocked bool      // the credit is known to be too small
	shown   bool      // the price was painted
	quiet   time.Time // keys before this are dropped
	ends    time.Time // of the quote
	last    time.Time // Enter while armed
}

// offered is a quote that can be approved until ends.
func offered(now, ends time.Time) approval {
	return approval{stage: ready, quiet: now.Add(settling), ends: ends}
}

// painted says that the price stands on the screen since now.
func (a approval) painted(now time.Time) approval {
	if !a.shown {
		a.shown, a.quiet = true, later(a.quiet, now.Add(settling))
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// enter is Enter on the price row. start says that the quote is approved.
func (a approval) enter(at time.Time) (next approval, start bool) {
	a = a.at(at)
	switch {
	case !a.shown || at.Before(a.quiet) || a.blocked:
		return a, false
	case a.stage == ready:
		a.stage, a.last = armed, at
	case a.stage == armed && at.Sub(a.last) < repeats:
		a.last = at // a key that is held down never confirms
	case a.stage == armed:
		a.stage = sent
		return a, true
	}
	return a, false
}

// disturbed is anything but Enter on the price row.
func (a approval) disturbed() approval {
	if a.stage == armed {
		a.stage = ready
	}
	return a
}

// at lets time pass.
func (a approval) at(now time.Time) approval {
	if a.stage == armed && now.Sub(a.last) >= patience {
		a.stage = ready
	}
	if (a.stage == ready || a.stage == armed) && !now.Before(a.ends) {
		a.stage = expired
	}
	return a
}

// short says whether the credit is known to be too small. Either way a pending
// confirmation is over: the person approved what stood there before.
func (a approval) short(known bool) approval {
	a.blocked = known
	return a.disturbed()
}
