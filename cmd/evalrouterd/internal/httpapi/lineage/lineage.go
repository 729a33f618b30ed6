// Package lineage translates what core knows of continuations into the records of
// the wire. It is apart from httpapi so that the routes of continuations, which
// belong to a package of their own, and httpapi's records share it.
package lineage

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Plan is what a quote does with the tasks of the run that it continues, nil for
// a quote that continues none.
func Plan(q core.Quote) *api.ContinuationPlan {
	c := q.Continuation
	if c == nil {
		return nil
	}
	cells := c.Cells
	return &api.ContinuationPlan{
		SourceRunID: string(c.Source), RootRunID: string(c.Root()), ChainIndex: len(c.Chain), ChainRunIDs: IDs(c.Chain),
		PlannedCells: cells.Total(), ReusedCells: cells.Reused, SavedResponseCells: cells.Saved, RerunCells: cells.Asked(),
		LeftOut: leftOut(cells), Pending: pending(cells), UnknownRetry: retry(q),
		IncludeCancelled: c.IncludeCancelled, CancelledCells: cells.Cancelled, TimeLimitCells: cells.TimeLimit,
		EvidenceExpiresAt: Time(c.EvidenceUntil), Compatibility: compatibility(q),
	}
}

// IDs is a chain as texts.
func IDs(runs []core.RunID) []string {
	out := make([]string, len(runs))
	for i, id := range runs {
		out[i] = string(id)
	}
	return out
}

// Time is a time of the store.
func Time(m core.Micros) time.Time { return time.UnixMicro(int64(m)).UTC() }

func sorted(by map[string]int) []string {
	out := []string{}
	for code, n := range by {
		if n > 0 {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return out
}

func leftOut(c core.Cells) api.ContinuationLeftOut {
	out := api.ContinuationLeftOut{Cells: c.Left(), Reasons: []api.LeftOutReason{}, AcknowledgementRequired: c.Left() > 0}
	for _, code := range sorted(c.LeftOut) {
		out.Reasons = append(out.Reasons, api.LeftOutReason{Code: code, Cells: c.LeftOut[code], Permanent: true})
	}
	return out
}

func pending(c core.Cells) api.ContinuationPending {
	return api.ContinuationPending{Cells: c.Open(), Reasons: Reasons(c.Pending)}
}

// Reasons lists counts by code, in the order of the codes.
func Reasons(by map[string]int) []api.PendingReason {
	out := []api.PendingReason{}
	for _, code := range sorted(by) {
		out = append(out, api.PendingReason{Code: code, Cells: by[code]})
	}
	return out
}

func retry(q core.Quote) api.ContinuationRetry {
	c := q.Continuation
	return api.ContinuationRetry{
		Cells: c.Cells.Unknown, Selected: c.RetryUnknown, UncertainCells: c.Cells.Unknown - c.Cells.Unbilled, UnbilledTransientCells: c.Cells.Unbilled,
		Max: c.RetryMax, EarlierAttemptsMax: c.Cells.Tries, ProviderMayBillAgain: q.Target.Metered() && c.Cells.Unknown > 0, ConsentRequired: c.Cells.Unknown > 0,
	}
}

// compatibility names what old and new answers have in common: how they were
// asked for, and how they are graded.
func compatibility(q core.Quote) api.ContinuationCompatibility {
	hash := func(parts ...string) string {
		h := sha256.New()
		for _, p := range parts {
			h.Write([]byte(p))
			h.Write([]byte{0})
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	g := q.Profile.Grader
	return api.ContinuationCompatibility{
		OK: true, RuntimeSHA256: hash(q.Runtime, q.Algorithm, q.Target.Name(), q.Target.Protocol), Reasons: []string{},
		EvaluationSHA256: hash(g.ID, g.Compat, q.Profile.ManifestSHA256, q.TaskIDsHash),
	}
}

// Accepted are the kinds of consent in a request.
func Accepted(a *api.Acknowledgements) (out []string) {
	if a == nil {
		return nil
	}
	for kind, given := range map[string]bool{core.ConsentLeftOut: a.LeftOut, core.ConsentRetryUnknown: a.RetryUnknown, core.ConsentDuplicates: a.DuplicateProviderCharges} {
		if given {
			out = append(out, kind)
		}
	}
	return out
}

// State says whether a run can be continued as far as its own row tells.
func State(r core.Run, q core.Quote, now core.Micros) api.ResumeState {
	if why := r.ResumeReason(q, now); why != "" {
		return api.ResumeState{Status: "unavailable", ReasonCode: &why}
	}
	return api.ResumeState{Status: "available"}
}

// Reused is how many graded tasks a run took over.
func Reused(q core.Quote) int {
	if q.Continuation == nil {
		return 0
	}
	return q.Continuation.Cells.Reused
}

// Position is where a run stands in its chain, nil for a run by itself.
func Position(r core.Run) *api.ChainPosition {
	if r.SourceRun == "" {
		return nil
	}
	id := string(r.SourceRun)
	return &api.ChainPosition{ChainIndex: r.ChainPos, SourceRunID: &id}
}

// Origin is the run that a task's answer is from, and whether its grade was
// taken over with it.
func Origin(s core.Sample, of core.RunID) (run string, reused bool) {
	if s.OriginRun == "" || s.Origin != core.OriginReused && s.Origin != core.OriginSaved {
		return string(of), false
	}
	return string(s.OriginRun), s.Origin == core.OriginReused
}
