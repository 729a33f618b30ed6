package engine

import "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"

// Limits of unknown outcomes: each is a call that the owner of the provider
// account may have paid for and that nobody can grade.
const (
	maxUnknownInARow = 3
	unknownFloor     = 20 // calls before the share counts
	maxUnknownShare  = 20 // one in so many
	// maxUnreported is how many priced answers in a row may come without
	// usage before the run stops: the platform pays for each.
	maxUnreported = 3
)

// breaker stops a run whose provider loses answers or hides what they cost.
// It counts the calls that this process saw, not those that a restart made
// unknown.
type breaker struct {
	calls, unknown, unknownInARow, unreportedInARow int
}

// record counts one settled task and says whether the run must stop.
func (b *breaker) record(s settled) (core.Reason, bool) {
	b.calls++
	if s.unreported {
		b.unreportedInARow++
	} else {
		b.unreportedInARow = 0
	}
	if s.unknown {
		b.unknown++
		b.unknownInARow++
	} else {
		b.unknownInARow = 0
	}
	switch {
	case b.unreportedInARow >= maxUnreported:
		return core.UsageUnreported, true
	case s.unknown && b.unknownInARow >= maxUnknownInARow,
		s.unknown && b.calls >= unknownFloor && b.unknown*maxUnknownShare > b.calls:
		return core.ProviderDown, true
	}
	return "", false
}
