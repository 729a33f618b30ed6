package core

import (
	"slices"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// A group is two to eight models on the same tasks under one reviewed quote.
// Its members are runs of their own: each has its cap, its charges, its log and
// its result, and nothing is shared once they are admitted. What a group is
// doing follows from what they are doing and is never kept.
//
// A group is continued as a whole and once: the next group has a run for every
// member that has something left, whichever group its newest run is of. The
// chain of groups is a line, as that of each member is.

// GroupID is a random UUID.
type GroupID string

// GroupQuoteID is a random UUID.
type GroupQuoteID string

// Bounds of a group.
const (
	MinMembers = 2
	MaxMembers = 8
)

// GroupQuote is the reviewed offer of a group. Its members are quotes that
// cannot be accepted one by one.
type GroupQuote struct {
	ID        GroupQuoteID
	Workspace WorkspaceID
	Name      string
	CreatedAt Micros
	ExpiresAt Micros
	Preview   bool
	// Cap is the most that the group can cost: the sum of its members' caps.
	Cap     usd.Micro
	Members []Quote
	// Continuation is set where the quote goes on with an earlier group. Its
	// members are then quotes of continuations.
	Continuation *GroupContinuation
}

// GroupContinuation says which group a quote goes on with, and what becomes of
// each member of the first group of the chain: it has a quote, or it stands
// aside.
type GroupContinuation struct {
	Source GroupID `json:"source"`
	// Places are where the members of the quote stand in the first group, in
	// ascending order.
	Places []int   `json:"places"`
	Aside  []Aside `json:"aside,omitempty"`
}

// Aside is a member that a continuation of its group does not go on with.
type Aside struct {
	Place int `json:"place"`
	// Run is the newest run of the member's chain.
	Run    RunID  `json:"run"`
	Reason string `json:"reason"`
}

// Place is where a member of the quote stands in the first group.
func (g GroupQuote) Place(member int) int {
	if g.Continuation == nil {
		return member
	}
	return g.Continuation.Places[member]
}

// MinCap is the least cap with which each member can start a task.
func (g GroupQuote) MinCap() (sum usd.Micro) {
	for _, m := range g.Members {
		sum += m.MinCap
	}
	return sum
}

// GroupQuoteState is a group quote with what became of it.
type GroupQuoteState struct {
	GroupQuote
	// Group is what consumed the quote, "" while it is open.
	Group GroupID
}

// Group is what is kept of a group.
type Group struct {
	ID        GroupID
	Workspace WorkspaceID
	Quote     GroupQuoteID
	Name      string
	Metadata  map[string]string
	Cap       usd.Micro
	CreatedAt Micros
	// Source is the group that this one goes on with, and ContinuedBy the one
	// that goes on with it; "" for none.
	Source, ContinuedBy GroupID
	// Members are its runs in the order of the quote.
	Members []RunID
}

// GroupMember is a run of a group as it was admitted.
type GroupMember struct {
	Run   Run
	Quote Quote
}

// GroupAdmission asks to start every run of a group quote. The ids are used in
// the order of its members.
type GroupAdmission struct {
	Scope    Scope
	Quote    GroupQuoteID
	Name     string
	Metadata map[string]string
	Once     Once
	GroupID  GroupID
	Members  []MemberIDs
	// Practice says that the workspace has practice credit.
	Practice bool
	// Encode makes the answer's body. It must be pure: it may run more than once.
	Encode func(Group, []GroupMember) ([]byte, error)
}

// MemberIDs are what the start of one run needs.
type MemberIDs struct {
	Run               RunID
	Transfer, Consent string
	// Consents are what was agreed to beside the start, for a continuation.
	Consents []Consent
}

// GroupState is what a group is doing: running while any member goes on, what
// all members came to when that is the same, and partial otherwise.
func GroupState(members []State) State {
	if slices.ContainsFunc(members, func(s State) bool { return !s.Terminal() }) {
		return Running
	}
	if len(members) == 0 || slices.ContainsFunc(members, func(s State) bool { return s != members[0] }) {
		return Partial
	}
	return members[0]
}

// SplitCap gives each member its cap out of the group's. fixed are the caps that
// were asked for, nil where none was; the others share what is left equally,
// unless one needs more for its first task than its share. What cannot be
// divided goes to the first members. The caps add up to total, and ok is false
// where no such caps give every member what it needs.
func SplitCap(total usd.Micro, least []usd.Micro, fixed []*usd.Micro) (caps []usd.Micro, ok bool) {
	caps = make([]usd.Micro, len(least))
	left := total
	var open []int
	for i, f := range fixed {
		if f == nil {
			open = append(open, i)
			continue
		}
		if *f < max(least[i], 1) || *f > left {
			return nil, false
		}
		caps[i] = *f
		left -= *f
	}
	if len(open) == 0 {
		return caps, left == 0
	}
	for {
		share := left / usd.Micro(len(open))
		// Whoever needs more than a share gets that, and the rest share again.
		at := slices.IndexFunc(open, func(i int) bool { return least[i] > share })
		if at < 0 {
			break
		}
		i := open[at]
		caps[i] = least[i]
		left -= least[i]
		open = slices.Delete(open, at, at+1)
		if left < 0 || len(open) == 0 {
			return nil, false
		}
	}
	n := usd.Micro(len(open))
	share, rest := left/n, left%n
	for k, i := range open {
		caps[i] = share
		if usd.Micro(k) < rest {
			caps[i]++
		}
		if caps[i] <= 0 {
			return nil, false
		}
	}
	return caps, true
}
