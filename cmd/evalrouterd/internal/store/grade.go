package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// RecordGrade settles an answered task, one whose judges were still to be asked
// too. It needs nothing but what is stored, so it can be repeated at any time
// for free.
func (s *Store) RecordGrade(ctx context.Context, g core.Grade) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		from := core.SampleAnswered
		if g.Unjudged {
			from = core.SampleJudging
			if _, err := t.unpledge(g.Run, g.Idx); err != nil {
				return err
			}
		}
		return t.grade(g, from, 0)
	})
}

// grade settles a task that is in a state, adding what it cost beyond what
// was recorded before.
func (t *tx) grade(g core.Grade, from core.SampleState, cost usd.Micro) error {
	if g.JudgeCode != "" {
		return t.judgeFault(g, cost)
	}
	switch {
	case g.Answer == core.CodeRefused:
		return t.settleSample(g.Run, g.Idx, core.SampleRefused, bundle.Refused, core.CodeRefused, cost, core.EventTaskFailed)
	case g.Answer != "":
		return t.settleSample(g.Run, g.Idx, core.SampleFailed, core.ProviderError, g.Answer, cost, core.EventTaskFailed)
	}
	if g.Verdict == nil {
		err := t.one(`UPDATE samples SET grader = $1, grader_compat = $2 WHERE run = `+numOf(3)+` AND idx = $4 AND state = $5`,
			named(g.Grader), g.Grader.Compat, string(g.Run), g.Idx, string(from))
		if err != nil {
			return fmt.Errorf("grade sample %d: %w", g.Idx, err)
		}
		return t.settleSample(g.Run, g.Idx, core.SampleFailed, core.GraderError, core.CodeGraderError, cost, core.EventTaskFailed)
	}
	v := *g.Verdict
	var begin, end sql.NullInt64
	if v.Span != nil {
		begin, end = sql.NullInt64{Int64: int64(v.Span[0]), Valid: true}, sql.NullInt64{Int64: int64(v.Span[1]), Valid: true}
	}
	num, err := t.num(g.Run)
	if err != nil {
		return err
	}
	err = t.one(`UPDATE samples SET state = 'graded', outcome = $1, score = $2, extracted = $3, span_from = $4, span_to = $5, rule = $6, grader = $7, ended_at = $8,
		charge = charge + $9, grader_compat = $10 WHERE run = $11 AND idx = $12 AND state = $13`,
		string(v.Outcome), v.Score, cut(v.Extracted, core.MaxExtracted), begin, end, v.Rule, named(g.Grader), int64(t.now),
		int64(cost), g.Grader.Compat, num, g.Idx, string(from))
	if err != nil {
		return fmt.Errorf("grade sample %d: %w", g.Idx, err)
	}
	if err := t.tally(g.Run, v.Outcome); err != nil {
		return err
	}
	charge, kind := cost, core.EventTaskGraded // a task that was still being asked had cost nothing before
	if from != core.SampleInCall {
		var origin core.Origin
		if err := t.row(`SELECT charge, origin FROM samples WHERE run = `+numOf(1)+` AND idx = $2`, string(g.Run), g.Idx).Scan(&charge, &origin); err != nil {
			return fmt.Errorf("read the charge of sample %d: %w", g.Idx, err)
		}
		if origin == core.OriginSaved {
			kind = core.EventSavedGraded
		}
	}
	return t.event(g.Run, kind, map[string]any{
		"index": g.Idx, "outcome": string(v.Outcome), "score": v.Score, "charge_microusd": charge.Wire(),
	})
}

// judgeFault settles a task of which a judge gave no verdict, and keeps which
// and why.
func (t *tx) judgeFault(g core.Grade, cost usd.Micro) error {
	if err := t.settleSample(g.Run, g.Idx, core.SampleFailed, core.JudgeError, g.JudgeCode, cost, core.EventTaskFailed); err != nil {
		return err
	}
	return t.one(`UPDATE samples SET rule = $1, grader = $2, grader_compat = $3 WHERE run = `+numOf(4)+` AND idx = $5`,
		cut(g.JudgeFault, core.MaxExtracted), named(g.Grader), g.Grader.Compat, string(g.Run), g.Idx)
}

// named is a grader as id@version, "" for none.
func named(g bundle.Identity) string {
	if g.ID == "" {
		return ""
	}
	return g.ID + "@" + g.Version
}

// cut shortens to at most n code points.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
