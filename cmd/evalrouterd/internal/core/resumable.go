package core

import "slices"

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

// RawUntil is when the recorded answers of a run expire.
func (r Run) RawUntil() Micros { return r.CreatedAt + RawDays*24*3600*1_000_000 }

// MayContinue is nil when the run of a quote can be continued as far as its own
// row tells: what its tasks rest on is decided one by one afterwards.
func (r Run) MayContinue(q Quote, now Micros) *Refusal {
	unsupported := func(reason, why string) *Refusal {
		return Refuse(ResumeUnsupported, "run %s cannot be resumed: %s; nothing was quoted or charged", r.ID, why).With("reason", reason)
	}
	fits, reason := q.Profile.Resumable()
	switch {
	case !r.State.Terminal():
		return Refuse(RunNotFinished, "run %s has not ended: watch it instead; nothing was quoted or charged", r.ID)
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
