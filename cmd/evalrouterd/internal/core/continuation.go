package core

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// RuntimeCompat is the class of how this version asks: how a task becomes a
// request and which part of a reply is the answer. Answers of different classes
// do not belong into one score, so a run is continued only within its own. It
// changes whenever requests or the reading of answers do.
const RuntimeCompat = "1"

// Continuation is what a quote that goes on with an ended run froze about it.
type Continuation struct {
	Source RunID `json:"source"`
	// Chain is every run from the first one to the source.
	Chain            []RunID `json:"chain"`
	IncludeCancelled bool    `json:"include_cancelled,omitempty"`
	RetryUnknown     bool    `json:"retry_unknown,omitempty"`
	RetryMax         *int    `json:"retry_max,omitempty"`
	Cells            Cells   `json:"cells"`
	// Digest is of every cell with its bucket and its evidence. Admission
	// decides them all again and starts nothing under another one.
	Digest string `json:"digest"`
	// EvidenceUntil is when the first recorded answer that it rests on expires.
	EvidenceUntil Micros `json:"evidence_until"`
}

// Root is the first run of the chain.
func (c *Continuation) Root() RunID { return c.Chain[0] }

// Flags are the wishes that a continuation quote is made with.
type Flags struct{ IncludeCancelled, RetryUnknown bool }

// Flags are the wishes of a quote.
func (c *Continuation) Flags() Flags {
	return Flags{IncludeCancelled: c.IncludeCancelled, RetryUnknown: c.RetryUnknown}
}

// Cells counts the tasks of a continuation by what becomes of them. They add up
// to the planned tasks.
type Cells struct {
	Reused int `json:"reused"`
	Saved  int `json:"saved"`
	// Rerun were provably never processed; Retried may have been, and are asked
	// again because somebody consents to pay for it.
	Rerun   int `json:"rerun"`
	Retried int `json:"retried"`
	// LeftOut and Pending are by reason.
	LeftOut map[string]int `json:"left_out,omitempty"`
	Pending map[string]int `json:"pending,omitempty"`
	// Unknown counts the tasks that a consent can have asked again, chosen or
	// not, and Unbilled those of them whose provider is known to bill nothing for
	// such a failure. Tries is the most attempts that one of them had.
	Unknown  int `json:"unknown,omitempty"`
	Unbilled int `json:"unbilled,omitempty"`
	Tries    int `json:"tries,omitempty"`
	// Cancelled and TimeLimit count what a stop by a person or by the time limit
	// left undone, run again or left out.
	Cancelled int `json:"cancelled,omitempty"`
	TimeLimit int `json:"time_limit,omitempty"`
	// First is the first task to be asked, -1 without one.
	First int `json:"first"`
}

// Asked is how many tasks cost money.
func (c Cells) Asked() int { return c.Rerun + c.Retried }

// Work is how many tasks a run of these cells would decide.
func (c Cells) Work() int { return c.Asked() + c.Saved }

// Left is how many tasks stay out for good.
func (c Cells) Left() int { return sumOf(c.LeftOut) }

// Open is how many tasks stay pending.
func (c Cells) Open() int { return sumOf(c.Pending) }

// Total is how many tasks were counted.
func (c Cells) Total() int { return c.Reused + c.Work() + c.Left() + c.Open() }

func sumOf(by map[string]int) (n int) {
	for _, k := range by {
		n += k
	}
	return n
}

// Survey gathers the cells of a run in order: their counts, and the digest of
// what each was decided from.
type Survey struct {
	Cells
	flags Flags
	sum   hash.Hash
	// Until is when the first of the answers in use expires, 0 without one.
	Until Micros
	// Forbidden is the first cell that forbids the whole continuation.
	Forbidden *Decision
}

// NewSurvey begins.
func NewSurvey(f Flags) *Survey {
	return &Survey{Cells: Cells{LeftOut: map[string]int{}, Pending: map[string]int{}, First: -1}, flags: f, sum: sha256.New()}
}

// Add decides the next cell and counts it.
func (s *Survey) Add(c Cell) Decision {
	d := Decide(c, s.flags)
	s.count(c, d)
	fmt.Fprintf(s.sum, "%d %s %s %s %s\n", c.Idx, d.Bucket, d.Reason, c.CallID, c.Hash)
	if d.Bucket == Reuse || d.Bucket == Regrade {
		if s.Until == 0 || c.Expires < s.Until {
			s.Until = c.Expires
		}
	}
	if d.Bucket == Forbid && s.Forbidden == nil {
		s.Forbidden = &d
	}
	if (d.Bucket == Ask || d.Bucket == Retry) && s.First < 0 {
		s.First = c.Idx
	}
	return d
}

func (s *Survey) count(c Cell, d Decision) {
	switch d.Bucket {
	case Reuse:
		s.Reused++
	case Regrade:
		s.Saved++
	case Ask:
		s.Rerun++
	case Retry:
		s.Retried++
	case Leave:
		s.LeftOut[d.Reason]++
	case Wait:
		s.Pending[d.Reason]++
	}
	if d.Offered {
		s.Unknown++
		s.Tries = max(s.Tries, c.Tries)
		if c.Code == CodeTransientUnbilled {
			s.Unbilled++
		}
	}
	switch d.Stopped {
	case CancelledByUser:
		s.Cancelled++
	case TimeLimit:
		s.TimeLimit++
	}
}

// Refusal is why the cells of a run cannot be continued, nil when they can.
func (s *Survey) Refusal(run RunID, retryMax *int) *Refusal {
	switch f := s.Forbidden; {
	case f != nil && f.Reason == WhyMissing:
		return Refuse(ResumeUnsupported, "run %s has graded tasks without a recorded answer, and they can never gain one; nothing was quoted or charged", run).With("reason", WhyMissing)
	case f != nil && f.Reason == WhyExpired:
		return Refuse(EvidenceGone, "recorded answers that run %s rests on have expired; nothing was quoted or charged", run)
	case f != nil:
		return Refuse(EvidenceUnfit, "recorded answers of run %s do not pass their check: one is not what was recorded, or was graded by other rules than this version's; nothing was quoted or charged", run).
			With("reasons", []string{"evidence"})
	case s.Retried > 0 && retryMax != nil && s.Retried > *retryMax:
		return Refuse(RetryUnknownLimit, "%d tasks of run %s have an unknown outcome, more than the %d that may be asked again; nothing was quoted or charged", s.Retried, run, *retryMax).
			With("cells", s.Retried).With("max", *retryMax)
	case s.Work() == 0:
		var but []string
		if s.Unknown > 0 {
			but = append(but, fmt.Sprintf(" without your consent to pay for a new attempt of the %d whose outcome is unknown", s.Unknown))
		}
		stopped := s.Cancelled + s.TimeLimit
		if stopped > 0 {
			but = append(but, fmt.Sprintf(" without the %d tasks that a person or the time limit stopped, which include_cancelled takes in", stopped))
		}
		return Refuse(NothingToResume, "nothing of run %s can be resumed%s; nothing was quoted or charged", run, strings.Join(but, ", or")).
			With("pending", s.Open()).With("left_out", s.Left()).With("unknown", s.Unknown).With("stopped", stopped)
	}
	return nil
}

// Digest is the SHA-256 over every cell so far, in hexadecimal.
func (s *Survey) Digest() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// Reused is a grade that a continuation took over.
type Reused struct {
	Idx   int
	Score float64
}

// Mismatch is a reused grade whose answer was graded again and got another
// score; nil where it got none.
type Mismatch struct {
	Idx      int
	TaskID   string
	Original float64
	Replayed *float64
}

// Consent is one thing that a person agreed to when a quote was accepted.
type Consent struct {
	ID   string
	Kind string
}

// Kinds of consent.
const (
	ConsentStart            = "start"
	ConsentLeftOut          = "left_out"
	ConsentIncludeCancelled = "include_cancelled"
	ConsentRetryUnknown     = "retry_unknown"
	ConsentDuplicates       = "duplicate_provider_charges"
)

// Consents are the kinds that the cells of the quote need beside the start.
func (q Quote) Consents() (out []string) {
	c := q.Continuation
	if c == nil {
		return nil
	}
	if c.Cells.Left() > 0 {
		out = append(out, ConsentLeftOut)
	}
	if c.IncludeCancelled && c.Cells.Cancelled+c.Cells.TimeLimit > 0 {
		out = append(out, ConsentIncludeCancelled)
	}
	if c.Cells.Retried > 0 {
		out = append(out, ConsentRetryUnknown)
		if q.Target.Metered() {
			out = append(out, ConsentDuplicates)
		}
	}
	return out
}
