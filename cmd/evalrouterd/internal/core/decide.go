package core

// The decision about one task of an ended run. What the record of its calls
// says comes first, what the task's row says second, and the name of an error
// decides nothing. Two rules are above all others: a task that may have been
// processed is asked again with consent only, and nothing whose answer was
// recorded is asked again at all.

// Bucket is what a continuation does with a task.
type Bucket string

// Buckets.
const (
	Reuse   Bucket = "reused"         // the grade stands, $0, nobody is asked
	Regrade Bucket = "saved_response" // the recorded answer is graded, $0, nobody is asked
	Ask     Bucket = "rerun"          // it was provably never processed
	Retry   Bucket = "unknown_retry"  // it may have been, and somebody consents to pay again
	Wait    Bucket = "pending"        // nothing yet; a later continuation looks again
	Leave   Bucket = "left_out"       // for good, in this continuation and all later ones
	Forbid  Bucket = "forbidden"      // no continuation of the run is possible
)

// EvidenceState is what is left of a recorded answer.
type EvidenceState string

// Evidence states.
const (
	EvidenceNone    EvidenceState = ""
	EvidenceKept    EvidenceState = "kept"
	EvidenceExpired EvidenceState = "expired"
	// EvidenceChanged is an answer that is not what its hash was made of.
	EvidenceChanged EvidenceState = "changed"
)

// Cell is a task of an ended run, with the newest call of its chain that says
// what became of it.
type Cell struct {
	Idx    int
	TaskID string      // "" where the task was never opened
	Sample SampleState // "" without a row
	// Code is the row's error code; of a task that was left out, the reason.
	Code string
	// Stop is why the run ended.
	Stop Reason
	// Gap says that the database was restored and may have lost calls: a task
	// without a call may have been asked all the same.
	Gap bool
	// Parted says that the task is asked in parts. Then an answer that came late
	// is a part at most, and so is one of a task that was not graded.
	Parted   bool
	Call     CallState // "" without a call
	CallID   CallID
	Evidence EvidenceState
	Hash     string // SHA-256 of the answer
	Expires  Micros // when the answer does
	// Foreign says that the grade is of another class than this version's.
	Foreign bool
	// Tries is how many attempts of unknown outcome the chain holds.
	Tries int
	// From is the number of the run whose call that is, for the store.
	From int64
}

// Decision is the bucket of a cell, and why.
type Decision struct {
	Bucket Bucket
	Reason string
	// Offered says that a consent can have the task asked again, or has.
	Offered bool
	// Stopped is the reason of a stop that left the task undone, where a person or
	// the time limit stopped the run.
	Stopped Reason
}

// Reasons of decisions.
const (
	WhyInProgress    = "call_in_progress"
	WhyUnknown       = "unknown_outcome"
	WhyPartly        = "partly_answered"
	WhyUnavailable   = "saved_response_unavailable"
	WhyRefused       = "refused"
	WhyNotRunnable   = "not_runnable"
	WhyInvalidOutput = CodeInvalidOutput
	WhyCancelled     = "cancelled"
	WhyTimeLimit     = "time_limit"
	WhyMissing       = "evidence_missing"
	WhyExpired       = "evidence_expired"
	WhyIncompatible  = "evidence_incompatible"
)

// Decide is the table. It is total: whatever stands in the record, there is one
// answer, and where the record contradicts itself nothing is asked.
func Decide(c Cell, f Flags) Decision {
	switch c.Sample {
	case SampleLeftOut:
		return Decision{Bucket: Leave, Reason: c.Code}
	case SampleGraded:
		return decideGraded(c)
	case SampleRefused:
		return Decision{Bucket: Leave, Reason: WhyRefused}
	}
	switch c.known() {
	case CallIntent, CallSent:
		return Decision{Bucket: Wait, Reason: WhyInProgress}
	case CallUnknown:
		return decideUnknown(c, f)
	case CallResponded, CallLate:
		return decideAnswered(c)
	}
	return decideUnasked(c, f)
}

// known is what the record of the calls proves about the task.
func (c Cell) known() CallState {
	untouched := c.Call == "" || c.Call == CallVoided || c.Call == CallRejected
	switch {
	case c.Gap && untouched && (c.Sample == "" || c.Sample == SamplePlanned):
		return CallUnknown
	case untouched && c.Sample == SampleUnresolved:
		return CallUnknown // the row knows of a call that the record has not
	case c.Parted && c.Call == CallLate:
		return CallUnknown
	case c.Parted && c.Call == CallResponded && (c.Sample == SampleCancelled || c.Sample == SamplePending || c.Sample == SamplePlanned):
		return CallUnknown // some of its parts: what was paid for is not paid again without consent
	}
	return c.Call
}

func decideGraded(c Cell) Decision {
	answered := c.Call == CallResponded || c.Call == CallLate
	switch {
	case !answered || c.Evidence == EvidenceNone:
		return Decision{Bucket: Forbid, Reason: WhyMissing}
	case c.Evidence == EvidenceExpired:
		return Decision{Bucket: Forbid, Reason: WhyExpired}
	case c.Evidence != EvidenceKept || c.Foreign:
		return Decision{Bucket: Forbid, Reason: WhyIncompatible}
	}
	return Decision{Bucket: Reuse}
}

// decideUnknown is about a task that may have been processed, and one of which
// some parts were.
func decideUnknown(c Cell, f Flags) Decision {
	switch {
	case f.RetryUnknown:
		return Decision{Bucket: Retry, Offered: true}
	case c.Call == CallResponded:
		return Decision{Bucket: Wait, Reason: WhyPartly, Offered: true}
	}
	return Decision{Bucket: Wait, Reason: WhyUnknown, Offered: true}
}

// decideAnswered is about a task whose answer is recorded and which has no
// grade. Where the answer is no answer, grading it again cannot help.
func decideAnswered(c Cell) Decision {
	switch {
	case c.Sample == SampleFailed && c.Code != CodeGraderError:
		return Decision{Bucket: Leave, Reason: WhyInvalidOutput}
	case c.Evidence == EvidenceChanged:
		return Decision{Bucket: Forbid, Reason: WhyIncompatible}
	case c.Evidence != EvidenceKept:
		return Decision{Bucket: Wait, Reason: WhyUnavailable}
	}
	return Decision{Bucket: Regrade}
}

// decideUnasked is about a task that no provider has worked on.
func decideUnasked(c Cell, f Flags) Decision {
	switch c.Sample {
	case SampleInCall:
		return Decision{Bucket: Wait, Reason: WhyInProgress}
	case SampleAnswered, SampleJudging: // the row knows of an answer that is not there
		return Decision{Bucket: Wait, Reason: WhyUnavailable}
	case SampleFailed:
		if c.Call == CallRejected {
			return Decision{Bucket: Leave, Reason: WhyNotRunnable}
		}
		return Decision{Bucket: Ask}
	}
	stopped := c.Stop == CancelledByUser || c.Stop == TimeLimit
	switch {
	case !stopped:
		return Decision{Bucket: Ask}
	case f.IncludeCancelled:
		return Decision{Bucket: Ask, Stopped: c.Stop}
	case c.Stop == TimeLimit:
		return Decision{Bucket: Leave, Reason: WhyTimeLimit, Stopped: c.Stop}
	}
	return Decision{Bucket: Leave, Reason: WhyCancelled, Stopped: c.Stop}
}
