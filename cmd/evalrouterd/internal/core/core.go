// Package core is what the service knows about evaluations, as values and
// pure functions: quotes, runs, samples, calls and money. It does no I/O,
// reads no clock and draws no random numbers.
//
// The decisions that everything else obeys:
//
//   - A provider call is journalled before it is made: intent with its worst
//     case reserved, then sent. A call that may have reached the provider and
//     has no recorded answer is unknown, and is never made again by itself.
//   - charged + metered + reserved never exceeds the cap, at any commit.
//   - A task ends with exactly one outcome, and the outcomes of a run add up
//     to the tasks it planned.
//   - The order of tasks is a pure function of the quote.
package core

import (
	"cmp"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Identifiers are distinct types, so that one cannot stand for another.
type (
	// WorkspaceID owns everything else. The local service has one, "local".
	WorkspaceID string
	// QuoteID is a random UUID.
	QuoteID string
	// RunID is a random UUID.
	RunID string
	// CallID is a time-ordered UUID.
	CallID string
	// ConnectionID is a random UUID.
	ConnectionID string
	// ProfileID is slug@version.
	ProfileID string
	// RouteID names a managed route, such as practice.solver-0.8.
	RouteID string
)

// Local is the workspace of a local service.
const Local WorkspaceID = "local"

// Micros is a time: microseconds since 1970 UTC.
type Micros int64

// Scope says on whose behalf a request acts. Every store call that reads or
// writes workspace data takes one; a foreign id reads as missing.
type Scope struct {
	Workspace WorkspaceID
	// Actor is the id of a key or person, or "owner", for the record of consents.
	Actor string
	// Person is who stands behind the actor: the person of a sign-in or of a key, or
	// the first of a row of rotated keys that no person made. "" is the actor itself.
	Person string
	// Ceiling bounds what the runs of an actor's lineage may cost in all, 0 for
	// no bound.
	Ceiling usd.Micro
	Lineage string
}

// Who counts as one where several people are asked for, by whatever key or
// sign-in.
func (s Scope) Who() string { return cmp.Or(s.Person, s.Actor) }

// Limits of the service.
const (
	// MaxCap is the largest cap of one run.
	MaxCap = 100_000 * usd.Dollar
	// MaxSample is the largest sample; more is full coverage.
	MaxSample = 1_000
	// DefaultSample and DefaultSeed stand where a request gives none.
	DefaultSample = 25
	DefaultSeed   = 42
	// QuoteLife is how long an open quote can be accepted.
	QuoteLife = 30 * 60 * 1_000_000
	// RunLimit is how long a run may go on.
	RunLimit = 24 * 3600 * 1_000_000
	// RawDays and SummaryDays are how long evidence and results are kept.
	RawDays     = 30
	SummaryDays = 365
)
