package traces

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/sum"
)

// Import keeps whole traces, all in one transaction. One that is kept already
// under that digest is a duplicate; under another one it takes the place of
// what is kept, as its next revision.
func (s *Store) Import(ctx context.Context, c core.TraceConnection, source string, traces []core.ImportedTrace) (fates []core.ImportFate, err error) {
	in := slices.Clone(traces)
	slices.SortStableFunc(in, func(a, b core.ImportedTrace) int { return cmp.Compare(a.TraceID, b.TraceID) })
	for i := range in {
		in[i].Spans = slices.Clone(in[i].Spans)
		s.packSpans(in[i].Spans)
	}
	err = s.do(ctx, func(t Tx) error {
		fates = make([]core.ImportFate, 0, len(in))
		fresh := map[core.TraceConnectionID]int64{}
		groups := []*group{{key: key{connection: c.ID}}}
		for _, tr := range in {
			fate, isNew, err := s.importOne(t, c, source, tr)
			if err != nil {
				return fmt.Errorf("import trace %s: %w", tr.TraceID, err)
			}
			if isNew {
				fresh[c.ID]++
			}
			fates = append(fates, fate)
		}
		return received(t, groups, fresh)
	})
	return fates, err
}

func (s *Store) importOne(t Tx, c core.TraceConnection, source string, tr core.ImportedTrace) (fate core.ImportFate, isNew bool, err error) {
	fate.TraceID = tr.TraceID
	if len(tr.Spans) > core.MaxTraceSpans {
		fate.Refused = core.TraceTooLarge
		return fate, false, nil
	}
	var num, had int64
	var digest string
	rows, err := t.Rows(`INSERT INTO traces (id, workspace_id, connection_id, source, source_id, created_at, updated_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (connection_id, source_id) DO UPDATE SET source = excluded.source RETURNING num, spans, digest`,
		s.newID(), string(c.Workspace), string(c.ID), source, tr.TraceID, int64(t.Now()), int64(t.Now()), int64(t.Now())+int64(c.Days)*day)
	if _, err := single(rows, err, &num, &had, &digest); err != nil {
		return fate, false, err
	}
	if digest == tr.Digest && had > 0 {
		fate.Duplicate = true
		return fate, false, nil
	}
	fate.Accepted, isNew = true, had == 0
	if had > 0 {
		if err := empty(t, num); err != nil {
			return fate, false, err
		}
		if err := t.One(`UPDATE traces SET revision = revision + 1, updated_at = $1 WHERE num = $2`, int64(t.Now()), num); err != nil {
			return fate, false, err
		}
	}
	one := &held{trace: num, spans: tr.Spans} // what it had is gone
	if err := s.addSpans(t, []*held{one}, false); err != nil {
		return fate, false, err
	}
	total := sum.Of(tr.Spans)
	total.Name, total.Status = cmp.Or(tr.Name, total.Name), tr.Status
	total.Start, total.End, total.RootEnded = tr.Start, tr.End, tr.End != 0
	total.Conversation = cmp.Or(tr.Conversation, total.Conversation)
	total.Spans = max(tr.SpanCount, total.Spans, 1)
	if err := keepSum(t, num, one.shares, total, tr.Redacted); err != nil {
		return fate, false, err
	}
	return fate, isNew, t.One(`UPDATE traces SET digest = $1, partial = $2, reasons_doc = $3, labels_doc = $4 WHERE num = $5`, tr.Digest, flag(tr.Partial), list(tr.Reasons), list(tr.Labels), num)
}

// empty takes the spans and contents of a trace away.
func empty(t Tx, num int64) error {
	for _, table := range []string{"trace_contents", "trace_shares", "spans"} {
		if _, err := t.Exec(`DELETE FROM `+table+` WHERE trace = $1`, num); err != nil {
			return err
		}
	}
	return nil
}
