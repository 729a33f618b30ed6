package engine

import (
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/stat"
)

// When a provider that loses answers stops a run. Each lost answer is a call
// that somebody may have paid for and that nobody can grade.
const (
	// maxLostInARow is how many losses may follow one another. Calls that were
	// in flight together when one was lost are one event and count once.
	maxLostInARow = 3
	// tolerableLoss is the share of lost answers that a run may live with. It
	// stops once it is certain, at lossConfidence, that the provider loses more.
	tolerableLoss  = 0.05
	lossConfidence = 0.99
	minLost        = 3
	// maxUnreported is how many priced answers of a run may come without usage
	// before it stops, and maxOverBound how many may cost more than the bound
	// that was published for them: the platform pays for each.
	maxUnreported = 3
	maxOverBound  = 2
	// maxUnusableInARow is how many replies of a judge may follow one another
	// without a verdict: maxLostInARow of them while it has given none at all.
	maxUnusableInARow = 10
)

// breaker stops a run whose provider loses answers or hides what they cost.
// It counts the calls that this process saw, not those that a restart made
// unknown.
type breaker struct {
	// down is the reason to stop when whoever is asked loses answers.
	down                               core.Reason
	calls, lost, unreported, overBound int
	lostInARow                         int
	// seen is how many calls had begun when the last loss of the row was seen:
	// only calls that began later say anything new.
	seen int
	// unusable is the row of replies without a verdict, with its own seen, and
	// verdicts how many replies held one.
	unusable, unusableSeen, verdicts int
}

func newBreaker(down core.Reason, unreported int) breaker {
	return breaker{down: down, unreported: unreported}
}

// record counts one call and gives the reason to stop the run, if there is one.
// begun is how many calls have begun by now.
func (b *breaker) record(s settled, begun int) core.Stop {
	lost := b.loss(s, begun)
	if why := b.usage(s); why.Reason != "" {
		return why
	}
	return lost
}

// usage counts what a call did not say, or said beyond its bound.
func (b *breaker) usage(s settled) core.Stop {
	if s.unreported {
		if b.unreported++; b.unreported >= maxUnreported {
			return core.Stop{Reason: core.UsageUnreported, Detail: fmt.Sprintf("%d answers came without usage that adds up", b.unreported)}
		}
	}
	if s.overBound {
		if b.overBound++; b.overBound >= maxOverBound {
			return core.Stop{Reason: core.RoutePaused, Detail: fmt.Sprintf("%d answers cost more than the bound of this model", b.overBound)}
		}
	}
	return core.Stop{}
}

// loss counts whether a call lost its answer.
func (b *breaker) loss(s settled, begun int) core.Stop {
	b.calls++
	if !s.unknown {
		if s.number > b.seen {
			b.lostInARow = 0
		}
		return core.Stop{}
	}
	b.lost++
	if s.number > b.seen {
		b.lostInARow++
		b.seen = begun
	}
	switch {
	case b.lostInARow >= maxLostInARow:
		return core.Stop{Reason: b.down, Detail: fmt.Sprintf("%d calls in a row lost their answers, the last: %s", maxLostInARow, s.detail)}
	case b.lost >= minLost && stat.Wilson(b.lost, b.calls, lossConfidence).Lower > tolerableLoss:
		return core.Stop{Reason: b.down, Detail: fmt.Sprintf("%d of %d calls lost their answers, the last: %s", b.lost, b.calls, s.detail)}
	}
	return core.Stop{}
}

// verdict counts whether a judge's reply holds a verdict. A task whose reply
// holds none was paid for twice and is not graded.
func (b *breaker) verdict(s settled, begun int) core.Stop {
	switch {
	case s.unknown || s.unjudged:
		return core.Stop{} // no reply
	case !s.unusable:
		b.verdicts++
		if s.number > b.unusableSeen {
			b.unusable = 0
		}
		return core.Stop{}
	case s.number > b.unusableSeen:
		b.unusable++
		b.unusableSeen = begun
	}
	most := maxUnusableInARow
	if b.verdicts == 0 {
		most = maxLostInARow
	}
	if b.unusable < most {
		return core.Stop{}
	}
	return core.Stop{Reason: b.down, Detail: fmt.Sprintf("%d replies in a row held no verdict", b.unusable)}
}
