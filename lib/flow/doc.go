// Package flow holds the steps between a person's wish and a finished run that
// every front end needs and none should write twice: what a typed name means,
// what a repeated command means, how a quote is accepted so that a lost answer
// never buys twice, and how a run is watched through an outage.
//
// Nothing here prints, asks or exits. A front end supplies a Desk, which shows
// quotes and answers questions, and gets values and errors back. Everything
// that depends on time, randomness or the disk is a field.
//
// The rule behind the journal: the identifiers of an accepted quote are on the
// disk before the first byte of the submission leaves, and a process that finds
// them there submits those, never new ones. An unreadable record is therefore
// refused and never taken for a missing one, because "missing" means that
// spending again is safe.
package flow
