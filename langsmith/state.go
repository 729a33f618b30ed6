package langsmith

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// Identity is what a state belongs to. It holds no secret.
type Identity struct {
	SourceOrigin    string `json:"source_origin"`
	SourceWorkspace string `json:"source_workspace"`
	Project         string `json:"project_id"`
	Origin          string `json:"destination_origin"`
	Workspace       string `json:"destination_workspace"`
	Connection      string `json:"connection_id"`
}

// State is what the connector knows. Every root run of the project that
// started before Horizon and at or after Since is delivered, dead or pending.
type State struct {
	Identity Identity
	// API is the version of the source's interface that answered last, and
	// ProbedAt when that was found out.
	API      string
	ProbedAt time.Time
	Profile  string
	Since    time.Time
	Horizon  time.Time
	Pending  map[string]Pending
	Dead     map[string]Dead
	Stats    Stats

	delivered map[[16]byte]mark
}

// Pending is a root run that has not been delivered: it goes on, settles, or
// waits for the rest of its tree.
type Pending struct {
	ID        string    `json:"id"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end,omitzero"`
	Status    string    `json:"status"`
	Tokens    int64     `json:"tokens"`
	FirstSeen time.Time `json:"first_seen"`
	// DoneSeen is when it was first seen to have ended as it has.
	DoneSeen time.Time `json:"done_seen,omitzero"`
	// Runs is the largest number of runs that its tree was seen with.
	Runs  int       `json:"runs,omitempty"`
	Tries int       `json:"tries,omitempty"`
	Next  time.Time `json:"next,omitzero"`
}

func (p Pending) header() Header {
	return Header{ID: p.ID, Start: p.Start, End: p.End, Status: p.Status, Tokens: p.Tokens}
}

// Dead is a root run that will not be delivered as it is.
type Dead struct {
	ID     string    `json:"id"`
	Start  time.Time `json:"start"`
	Reason string    `json:"reason"`
	Print  uint64    `json:"print"`
}

// Reasons of a Dead run beside the codes of the destination.
const (
	NeverCompleted = "never_completed"
	Gone           = "gone"
	Unreadable     = "unreadable"
)

// Stats are totals since the state was made.
type Stats struct {
	Accepted   int64 `json:"accepted"`
	Duplicates int64 `json:"duplicates"`
	Rejected   int64 `json:"rejected"`
	Partial    int64 `json:"partial"`
	// LastPoll is when the last complete poll ended, by the source's clock.
	LastPoll time.Time `json:"last_poll,omitzero"`
	// ThrottledUntil is when the next request will be made after the source or
	// the destination asked to wait, and LastError why.
	ThrottledUntil time.Time `json:"throttled_until,omitzero"`
	LastError      string    `json:"last_error,omitempty"`
}

// mark is a delivered run: its start (unix seconds) and how it had ended.
type mark struct {
	start int64
	print uint64
}

// Change is one durable step of a State. Fields that are absent change
// nothing.
type Change struct {
	Identity  *Identity  `json:"identity,omitempty"`
	API       string     `json:"api,omitempty"`
	ProbedAt  *time.Time `json:"probed_at,omitempty"`
	Profile   string     `json:"profile,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
	Horizon   *time.Time `json:"horizon,omitempty"`
	Prune     *time.Time `json:"prune,omitempty"` // forget deliveries that started before
	Delivered []byte     `json:"delivered,omitempty"`
	Pending   []Pending  `json:"pending,omitempty"`
	Settled   []string   `json:"settled,omitempty"` // not pending any more
	Dead      []Dead     `json:"dead,omitempty"`
	Revived   []string   `json:"revived,omitempty"` // not dead any more
	Stats     *Stats     `json:"stats,omitempty"`
}

// NewState is the state before anything happened.
func NewState() *State {
	return &State{Pending: map[string]Pending{}, Dead: map[string]Dead{}, delivered: map[[16]byte]mark{}}
}

const markSize = 32

// Apply makes a change. The order of its parts is that of the fields.
func (s *State) Apply(c Change) {
	if c.Identity != nil {
		s.Identity = *c.Identity
	}
	s.API = cmp.Or(c.API, s.API)
	s.Profile = cmp.Or(c.Profile, s.Profile)
	for _, t := range []struct{ to, from *time.Time }{{&s.ProbedAt, c.ProbedAt}, {&s.Since, c.Since}, {&s.Horizon, c.Horizon}} {
		if t.from != nil {
			*t.to = *t.from
		}
	}
	if c.Prune != nil {
		before := c.Prune.Unix()
		maps.DeleteFunc(s.delivered, func(_ [16]byte, m mark) bool { return m.start < before })
		maps.DeleteFunc(s.Dead, func(_ string, d Dead) bool { return d.Reason == Gone && d.Start.Before(*c.Prune) })
	}
	for b := c.Delivered; len(b) >= markSize; b = b[markSize:] {
		s.delivered[[16]byte(b)] = mark{int64(binary.BigEndian.Uint64(b[16:])), binary.BigEndian.Uint64(b[24:])}
	}
	for _, p := range c.Pending {
		s.Pending[p.ID] = p
	}
	for _, id := range c.Settled {
		delete(s.Pending, id)
	}
	for _, d := range c.Dead {
		s.Dead[d.ID] = d
	}
	for _, id := range c.Revived {
		delete(s.Dead, id)
	}
	if c.Stats != nil {
		s.Stats = *c.Stats
	}
}

// Whole yields changes that make this state out of a new one, in pieces that
// are never large.
func (s *State) Whole(yield func(Change) bool) {
	id, stats := s.Identity, s.Stats
	first := Change{Identity: &id, API: s.API, Profile: s.Profile, Stats: &stats}
	for _, t := range []struct {
		to   **time.Time
		from time.Time
	}{{&first.ProbedAt, s.ProbedAt}, {&first.Since, s.Since}, {&first.Horizon, s.Horizon}} {
		if !t.from.IsZero() {
			*t.to = &t.from
		}
	}
	if !yield(first) {
		return
	}
	const piece = 500
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(s.Pending)), piece) {
		var c Change
		for _, id := range ids {
			c.Pending = append(c.Pending, s.Pending[id])
		}
		if !yield(c) {
			return
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(s.Dead)), piece) {
		var c Change
		for _, id := range ids {
			c.Dead = append(c.Dead, s.Dead[id])
		}
		if !yield(c) {
			return
		}
	}
	var c Change
	for k, m := range s.delivered {
		c.Delivered = appendMark(c.Delivered, k, m)
		if len(c.Delivered) >= 1000*markSize {
			if !yield(c) {
				return
			}
			c.Delivered = c.Delivered[:0]
		}
	}
	if len(c.Delivered) > 0 {
		yield(c)
	}
}

func appendMark(b []byte, key [16]byte, m mark) []byte {
	b = append(b, key[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(m.start))
	return binary.BigEndian.AppendUint64(b, m.print)
}

// Delivered is how many deliveries are remembered.
func (s *State) Delivered() int { return len(s.delivered) }

// knows says that a run was delivered or given up exactly as it is now.
func (s *State) knows(h Header) (delivered, dead bool) {
	m, ok := s.delivered[keyOf(h.ID)]
	d, gone := s.Dead[h.ID]
	p := printOf(h)
	return ok && m.print == p, gone && d.Print == p
}

// keyOf is the 16 bytes of a UUID. Another id is hashed.
func keyOf(id string) (key [16]byte) {
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		ok := true
		for i, at := range [16]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
			hi, lo := hexDigit(id[at]), hexDigit(id[at+1])
			key[i], ok = hi<<4|lo&15, ok && hi < 16 && lo < 16
		}
		if ok {
			return key
		}
	}
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// hexDigit is the value of a hex digit, 255 for another byte.
func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// printOf tells states of one run apart: when a run that was delivered shows
// another print, it is read and sent again.
func printOf(h Header) uint64 {
	f := fnv.New64a()
	var b [16]byte
	if !h.End.IsZero() {
		binary.BigEndian.PutUint64(b[:8], uint64(h.End.UnixMicro()))
	}
	binary.BigEndian.PutUint64(b[8:], uint64(h.Tokens))
	f.Write(b[:])
	f.Write([]byte(h.Status))
	return f.Sum64()
}
