package resume

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
)

// chained is a chain as it stands.
type chained struct {
	record api.ChainRecord
	runs   []api.ChainRun
	newest core.Run
	graded int
	money  core.Money
	wrong  []core.Mismatch
}

func (h *Handlers) chain(_ *httpapi.Server, ctx context.Context, in *runInput) (*httpapi.Answer[api.ChainRecord], error) {
	c, err := h.read(ctx, httpapi.ScopeOf(ctx), core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(c.record), nil
}

// Newest is the last run of a chain that may be exported as one.
func (h *Handlers) Newest(ctx context.Context, sc core.Scope, id core.RunID) (core.RunID, error) {
	run, q, err := h.Admission.Newest(ctx, sc, id)
	if err != nil {
		return "", err
	}
	if ok, reason := supported(q); !ok {
		return "", core.Refuse(core.ResumeUnsupported, "the runs of this chain are not one result: that is offered for SOB Text only; nothing was changed. Export each run by itself").With("reason", reason)
	}
	return run.ID, nil
}

func supported(q core.Quote) (bool, string) {
	if ok, reason := q.Profile.Resumable(); !ok {
		return false, reason
	}
	return q.Profile.Family == api.ChainFamily, "family"
}

// read follows a run to its newest continuation.
func (h *Handlers) read(ctx context.Context, sc core.Scope, id core.RunID) (c chained, err error) {
	ids, err := h.Chains.Chain(ctx, sc, id)
	if err != nil {
		return c, err
	}
	return h.chained(ctx, sc, ids)
}

// chained reads the runs of a chain, or its first ones.
func (h *Handlers) chained(ctx context.Context, sc core.Scope, ids []core.RunID) (c chained, err error) {
	c.record = api.ChainRecord{RootRunID: string(ids[0]), NewestRunID: string(ids[len(ids)-1]), RunIDs: lineage.IDs(ids), Complete: true}
	decided, err := h.Chains.Decided(ctx, sc, ids[len(ids)-1])
	if err != nil {
		return c, fmt.Errorf("count decided tasks: %w", err)
	}
	version := sha256.New()
	for _, id := range ids {
		r, err := h.Runs.Run(ctx, sc, id)
		if err != nil {
			return c, err
		}
		one := api.ChainRun{RunID: string(id), ManifestHash: r.ScopeHash, Status: httpapi.RunStatus(r), DecidedCells: decided[id]}
		if r.State.Terminal() {
			res, err := h.Runs.Result(ctx, sc, id, 0)
			if err != nil {
				return c, err
			}
			one.ResultVersion, one.SpendMicrousd = res.Version, res.Money.Charged+res.Money.Metered
			one.TerminalReason = optional.Text(res.Reason)
			c.money.Cap += res.Money.Cap
			c.money.Charged += res.Money.Charged
			c.money.Metered += res.Money.Metered
		} else {
			c.record.Complete = false
		}
		fmt.Fprintf(version, "%s %d\n", id, one.ResultVersion)
		c.runs, c.newest = append(c.runs, one), r
	}
	return c, h.judge(ctx, sc, &c, hex.EncodeToString(version.Sum(nil)))
}

// judge says whether a chain is a whole result, and of what kind.
func (h *Handlers) judge(ctx context.Context, sc core.Scope, c *chained, version string) (err error) {
	if c.wrong, err = h.Chains.Mismatches(ctx, sc, c.newest.ID); err != nil {
		return fmt.Errorf("read mismatches: %w", err)
	}
	q, err := h.Runs.Quote(ctx, sc, c.newest.QuoteID)
	if err != nil {
		return err
	}
	reason := ""
	if c.record.Supported, reason = supported(q.Quote); !c.record.Supported {
		c.record.ReasonCode = &reason
	}
	c.graded = c.newest.Tallies.Graded()
	c.record.Version, c.record.Status = version, httpapi.RunStatus(c.newest)
	c.record.Complete = c.record.Complete && len(c.wrong) == 0 && c.graded == c.newest.Planned
	return nil
}

// label names how many runs a result is of.
func label(runs int) string {
	switch runs {
	case 1:
		return "original"
	case 2:
		return "original + 1 resume"
	}
	return fmt.Sprintf("original + %d resumes", runs-1)
}

// Result is the result of the chain that ends with a run, from the run's export,
// which holds every task as the one run decided it that graded it. It names tasks
// only where that export may, and where it is asked to.
func (h *Handlers) Result(ctx context.Context, sc core.Scope, newest api.Export, withTasks bool) (*api.ChainExport, error) {
	ids, err := h.Chains.Chain(ctx, sc, core.RunID(newest.RunID))
	if err != nil {
		return nil, err
	}
	// A run that was resumed while it was exported is the last one all the same.
	c, err := h.chained(ctx, sc, ids[:slices.Index(ids, core.RunID(newest.RunID))+1])
	if err != nil {
		return nil, err
	}
	return document(c, newest, withTasks && newest.ExportPolicy.Answers != "withheld")
}

func document(c chained, head api.Export, withTasks bool) (*api.ChainExport, error) {
	out := &api.ChainExport{
		Schema: api.ChainExportSchema, Chain: c.record, Label: label(len(c.runs)), Runs: c.runs, WorkspaceID: head.WorkspaceID, GeneratedAt: head.GeneratedAt, TargetKind: head.TargetKind,
		Identities: head.Identities, Model: head.Model, Reasoning: head.Reasoning, Profiles: head.Profiles, Planned: c.newest.Planned, Graded: c.graded, ErrorCounts: map[string]int{},
		Unscored: []api.PendingReason{}, ReuseScoreMismatch: []api.ReuseMismatch{}, Warnings: []api.ChainWarning{}, Complete: c.record.Complete,
		TerminalReason: head.Summary.TerminalReason, BillingSnapshot: c.billing(head.BillingSnapshot), ExportPolicy: head.ExportPolicy,
	}
	for _, p := range head.Profiles {
		for code, n := range p.ErrorCounts {
			out.ErrorCounts[code] += n
		}
	}
	rest := map[string]int{}
	for o, n := range c.newest.Tallies {
		if !core.Scored(o) {
			rest[string(o)] = n
		}
	}
	out.Unscored = lineage.Reasons(rest)
	for _, m := range c.wrong {
		one := api.ReuseMismatch{Original: m.Original, Replayed: m.Replayed}
		if withTasks {
			one.TaskID = &m.TaskID
		}
		out.ReuseScoreMismatch = append(out.ReuseScoreMismatch, one)
	}
	if len(c.wrong) > 0 {
		out.Warnings = append(out.Warnings, api.ChainWarning{Code: api.ReuseScoreMismatch})
	}
	var err error
	out.Checksum, err = checksum(out)
	return out, err
}

// billing adds up what the runs of a chain were given and what they cost. It is
// as of the newest one.
func (c chained) billing(newest api.BillingSnapshot) api.BillingSnapshot {
	out := api.BillingSnapshot{AsOf: newest.AsOf, Pending: newest.Pending, CapMicrousd: c.money.Cap, SpendMicrousd: c.money.Charged + c.money.Metered}
	out.ChargedMicrousd = &c.money.Charged
	return out
}

// checksum is the SHA-256 of the document with an empty checksum.
func checksum(doc *api.ChainExport) (string, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("encode chain: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
