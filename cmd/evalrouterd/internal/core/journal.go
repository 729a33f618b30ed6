package core

import (
	"errors"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// The records that pass between whoever makes calls and whoever keeps their
// journal.

// ErrMoved says that a row was not in the state that a step needs: the step
// was made before, or by somebody else, and nothing was changed.
var ErrMoved = errors.New("not in the expected state")

// Intent is a call about to be made: the task at Idx, its worst case and the
// hash of the request as rendered.
type Intent struct {
	Call    CallID
	Idx     int
	TaskID  string
	Attempt int // from 1
	// Opened says that the task has a row although this is its first attempt.
	Opened bool
	Worst  usd.Micro
	Hash   string
	// Judge says that the call asks judge number Part about the answer, and
	// Nonce is what fences the answer in its prompt. Without it Part numbers the
	// requests to the model about one task.
	Judge bool
	Part  int
	Nonce string
	// Pledge is what is set aside with a task's first call for its judges and
	// its further parts.
	Pledge usd.Micro
}

// Later says that a call is not the first of its task: it is paid for out of
// the task's pledge.
func (in Intent) Later() bool { return later(in.Judge, in.Part) }

func later(judge bool, part int) bool { return judge || part > 0 }

// Kind is the intent's kind of call.
func (in Intent) Kind() string { return kindOf(in.Judge) }

func kindOf(judge bool) string {
	if judge {
		return KindJudge
	}
	return KindTarget
}

// Lease says who makes calls and until when the claim holds. Fence is that of
// the run's claim, 0 for a process that is alone.
type Lease struct {
	Worker string
	Until  Micros
	Fence  int64
}

// Reserved says how much of a batch was reserved. When Granted is short of
// the batch, the rest did not fit under the cap now, or the run is no longer
// running.
type Reserved struct {
	Granted int
	Running bool
}

// Response is an answer as it is recorded.
type Response struct {
	Run       RunID
	Workspace WorkspaceID
	Book      Book
	Metered   bool
	Idx       int
	Call      CallID
	// Judge says that it is a judge's reply, and Part which request to the judges
	// or the model it answers. Open says that judges or further parts are still
	// to be asked: then the task is judging, otherwise it is answered.
	Judge     bool `json:",omitempty"`
	Part      int  `json:",omitempty"`
	Open      bool `json:",omitempty"`
	Raw       []byte
	RawSHA256 string
	Finish    string
	Usage     *Usage
	RequestID string // the provider's
	// Refused says that the provider signalled a refusal: the task settles
	// here, without a score.
	Refused bool
	// Failed is the error code when the answer cannot be graded at all.
	Failed string
	// Grade settles the task with its answer; nil when it is graded later.
	Grade    *Grade `json:"-"`
	Money    Settlement
	Reserved usd.Micro
	Transfer string
	// AbsorbTransfer is used when something is absorbed.
	AbsorbTransfer string
	ExpiresAt      Micros
}

// Later says that it answers a call that is not the first of its task.
func (r Response) Later() bool { return later(r.Judge, r.Part) }

// Ended is a call that produced no answer.
type Ended struct {
	Run      RunID
	Idx      int
	Call     CallID
	Reserved usd.Micro
	Judge    bool
	Part     int
	// Outcome is the class and cause for the record; Message is the
	// provider's sentence, sanitised and cut by the caller.
	Outcome string
	Message string
	// Code is the task's error code when the task ends here; "" means the usual
	// one of the step.
	Code string
	// Raw is what was received, if anything: evidence, not an answer.
	Raw       []byte
	RawSHA256 string
	ExpiresAt Micros
}

// Later says that the call was not the first of its task.
func (e Ended) Later() bool { return later(e.Judge, e.Part) }

// Grade is a verdict about a recorded answer. A nil Verdict says that there is
// none, never a zero: a judge gave none when JudgeCode is set, and otherwise
// the grader itself failed, an error of ours.
type Grade struct {
	Run       RunID
	Idx       int
	Grader    bundle.Identity
	Verdict   *bundle.Verdict
	JudgeCode string
	// JudgeFault says which judge and why, without quoting anybody.
	JudgeFault string
	// Answer is the error code of a recorded answer that turned out to be none, as
	// one that came late may: refused, or one that cannot be graded.
	Answer string
	// Unjudged says that the answer decides although judges were still to be
	// asked about it.
	Unjudged bool
}
