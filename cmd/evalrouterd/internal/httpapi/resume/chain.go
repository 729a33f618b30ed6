package resume

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/lib/api"
)

// chainFamily is the family whose chains are one series: its native summary is
// derived again from the answers themselves.
const chainFamily = "sob-text"

// chained is a chain as it stands.
type chained struct {
	record api.ChainRecord
	runs   []api.ChainRun
	newest core.Run
	graded int
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
	return q.Profile.Family == chainFamily, "family"
}

// read follows a run to its newest continuation.
func (h *Handlers) read(ctx context.Context, sc core.Scope, id core.RunID) (c chained, err error) {
	ids, err := h.Chains.Chain(ctx, sc, id)
	if err != nil {
		return c, err
	}
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
			one.ResultVersion = res.Version
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

// Write writes a chain's result from the export of its newest run, which holds
// every task as the one run decided it that graded it.
func (h *Handlers) Write(ctx context.Context, sc core.Scope, head api.Export, samples iter.Seq2[api.ExportSample, error], out io.Writer) error {
	c, err := h.read(ctx, sc, core.RunID(head.RunID))
	if err != nil {
		return err
	}
	doc, err := json.Marshal(document(c, head))
	if err != nil {
		return fmt.Errorf("encode chain: %w", err)
	}
	if samples == nil {
		_, err := out.Write(append(doc, '\n'))
		return err
	}
	w := bufio.NewWriterSize(out, 64<<10)
	w.Write(bytes.TrimSuffix(doc, []byte("}")))
	w.WriteString(`,"samples":[`)
	sep := "\n"
	for s, err := range samples {
		if err != nil {
			return err
		}
		line, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode task: %w", err)
		}
		w.WriteString(sep)
		w.Write(line)
		sep = ",\n"
	}
	w.WriteString("\n]}\n")
	return w.Flush()
}

func document(c chained, head api.Export) api.ChainExport {
	out := api.ChainExport{
		Schema: api.ChainExportSchema, Chain: c.record, Label: label(len(c.runs)), Runs: c.runs, GeneratedAt: head.GeneratedAt, Identities: head.Identities,
		Model: head.Model, Reasoning: head.Reasoning, Profiles: head.Profiles, Planned: c.newest.Planned, Graded: c.graded, ErrorCounts: map[string]int{},
		Unscored: []api.PendingReason{}, ReuseScoreMismatch: []api.ReuseMismatch{}, Warnings: []api.ChainWarning{}, Complete: c.record.Complete, ExportPolicy: head.ExportPolicy,
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
		if head.ExportPolicy.Answers != "withheld" {
			one.TaskID = &m.TaskID
		}
		out.ReuseScoreMismatch = append(out.ReuseScoreMismatch, one)
	}
	if len(c.wrong) > 0 {
		out.Warnings = append(out.Warnings, api.ChainWarning{Code: api.ReuseScoreMismatch})
	}
	out.Checksum = checksum(out)
	return out
}

// checksum is the SHA-256 of the document with an empty checksum.
func checksum(doc api.ChainExport) string {
	b, err := json.Marshal(doc)
	if err != nil {
		return "" // the document is not written either
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
