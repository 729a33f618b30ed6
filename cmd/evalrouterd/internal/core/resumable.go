package core

import (
	"fmt"
	"slices"
)

// resumable are the families whose grades may be carried from one run to
// another: they are pure functions of the answer, and held to the code of the
// benchmarks' authors.
var resumable = []string{"inspect", "sob-text", "lm-eval"}

// Resumable says that runs of a benchmark can be continued, with the reason
// when they cannot.
func (p Profile) Resumable() (ok bool, reason string) {
	switch {
	case p.Workspace != "":
		return false, "own_benchmark"
	case !slices.Contains(resumable, p.Family):
		return false, "family"
	}
	return true, ""
}

// Wider says what a run does beyond asking one model once about each task of one
// benchmark. This version begins no such runs, and the versions that do may share
// its database: their answers cannot be told apart by task here, so nothing of them
// is carried on. The zero value is a run of this version.
type Wider struct {
	// Models, Profiles and Attempts are how many of each there are, 0 for one.
	Models   int `json:"models,omitempty"`
	Profiles int `json:"profiles,omitempty"`
	Attempts int `json:"attempts,omitempty"`
	// Agent says that answers come from an agent at work in a repository.
	Agent bool `json:"agent,omitempty"`
}

// reason is the wire's word for why such a run cannot be continued, with a
// sentence; "" for a run of this version.
func (w Wider) reason() (code, why string) {
	switch {
	case w.Agent:
		return "agent", "agents at work in a repository answer its tasks"
	case w.Models > 1:
		return "comparison", fmt.Sprintf("it compares %d models in one run; a group of runs can be resumed", w.Models)
	case w.Profiles > 1:
		return "several_profiles", fmt.Sprintf("it is about %d benchmarks", w.Profiles)
	case w.Attempts > 1:
		return "several_attempts", fmt.Sprintf("it asks each task %d times", w.Attempts)
	}
	return "", ""
}

// RawUntil is when the recorded answers of a run expire.
func (r Run) RawUntil() Micros { return r.CreatedAt + RawDays*24*3600*1_000_000 }

// MayContinue is nil when the run of a quote can be continued as far as its own
// row tells: what its tasks rest on is decided one by one afterwards.
func (r Run) MayContinue(q Quote, now Micros) *Refusal {
	unsupported := func(reason, why string) *Refusal {
		return Refuse(ResumeUnsupported, "run %s cannot be resumed: %s; nothing was quoted or charged", r.ID, why).With("reason", reason)
	}
	fits, reason := q.Profile.Resumable()
	wider, because := q.Wider.reason()
	switch {
	case !r.State.Terminal():
		return Refuse(RunNotFinished, "run %s has not ended: watch it instead; nothing was quoted or charged", r.ID)
	case wider != "":
		return unsupported(wider, because)
	case len(q.Judges) > 0:
		return unsupported("judge", "models grade its benchmark")
	case reason == "own_benchmark":
		return unsupported(reason, "its benchmark is your own")
	case !fits:
		return unsupported(reason, "its benchmark is of the family "+q.Profile.Family)
	case q.Runtime == "":
		return unsupported(WhyMissing, "it began before the evidence for that was recorded")
	case now >= r.RawUntil():
		return Refuse(EvidenceGone, "the recorded answers of run %s have expired; nothing was quoted or charged", r.ID)
	case q.Runtime != RuntimeCompat:
		return Refuse(EvidenceUnfit, "this version of the service asks in another way than run %s did, so their answers do not belong together; nothing was quoted or charged", r.ID).
			With("reasons", []string{"runtime"})
	}
	return nil
}

// ResumeReason is why a run cannot be continued, "" where a quote may be asked
// for.
func (r Run) ResumeReason(q Quote, now Micros) string {
	no := r.MayContinue(q, now)
	switch {
	case no != nil && no.Code == ResumeUnsupported:
		reason, _ := no.Details["reason"].(string)
		return reason
	case no != nil:
		return string(no.Code)
	case r.ContinuedBy != "":
		return string(ContinuationExists)
	case r.Tallies.Graded()+r.Tallies[LeftOut]+r.Tallies["refused"] >= r.Planned:
		return string(NothingToResume)
	}
	return ""
}
