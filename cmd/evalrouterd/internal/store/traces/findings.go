package traces

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const evaluatorColumns = `id, workspace_id, name, rule, config_doc, severity, paused, revision, created_at`

func scanEvaluator(rows *sql.Rows) (e core.Evaluator, err error) {
	var config string
	var paused int
	err = rows.Scan(&e.ID, &e.Workspace, &e.Name, &e.Rule, &config, &e.Severity, &paused, &e.Revision, &e.CreatedAt)
	e.Config, e.Paused = json.RawMessage(config), paused == 1
	return e, err
}

// AddEvaluator keeps a new evaluator.
func (s *Store) AddEvaluator(ctx context.Context, e core.Evaluator) error {
	return s.ask(ctx, func(t Tx) error {
		n, err := t.Exec(`INSERT INTO trace_evaluators (id, workspace_id, name, rule, config_doc, severity, revision, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (workspace_id, name) DO NOTHING`, string(e.ID), string(e.Workspace), e.Name, e.Rule, string(e.Config), e.Severity, e.Revision, int64(t.Now()))
		if err == nil && n == 0 {
			err = core.Refuse(core.NameTaken, "the workspace has an evaluator of this name; nothing was made")
		}
		return err
	})
}

// Evaluator reads an evaluator.
func (s *Store) Evaluator(ctx context.Context, sc core.Scope, id core.EvaluatorID) (core.Evaluator, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+evaluatorColumns+` FROM trace_evaluators WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(id))
	return the(gather(rows, err, scanEvaluator))("evaluator")
}

// the is the only row, or a refusal that names what is missing.
func the[T any](all []T, err error) func(what string) (T, error) {
	return func(what string) (v T, _ error) {
		switch {
		case err != nil:
			return v, fmt.Errorf("read %s: %w", what, err)
		case len(all) == 0:
			return v, core.Missing(what)
		}
		return all[0], nil
	}
}

// Evaluators lists evaluators, newest first.
func (s *Store) Evaluators(ctx context.Context, sc core.Scope, after *core.Place, limit int) ([]core.Evaluator, error) {
	text, args := `SELECT `+evaluatorColumns+` FROM trace_evaluators WHERE workspace_id = $1`, []any{string(sc.Workspace)}
	if after != nil {
		text += ` AND (created_at < $2 OR (created_at = $3 AND id < $4))`
		args = append(args, int64(after.At), int64(after.At), after.ID)
	}
	args = append(args, limit)
	rows, err := s.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY created_at DESC, id DESC LIMIT $%d`, len(args)), args...)
	return gather(rows, err, scanEvaluator)
}

// ChangeEvaluator sets what may change of an evaluator.
func (s *Store) ChangeEvaluator(ctx context.Context, sc core.Scope, id core.EvaluatorID, change func(*core.Evaluator) error) error {
	return s.ask(ctx, func(t Tx) error {
		rows, err := t.Rows(`SELECT `+evaluatorColumns+` FROM trace_evaluators WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(id))
		e, err := the(gather(rows, err, scanEvaluator))("evaluator")
		if err == nil {
			err = change(&e)
		}
		if err != nil {
			return err
		}
		return t.One(`UPDATE trace_evaluators SET config_doc = $1, severity = $2, paused = $3, revision = $4 WHERE id = $5`, string(e.Config), e.Severity, flag(e.Paused), e.Revision, string(id))
	})
}

// Found keeps what an evaluator found, and gives how many findings are new. A
// finding that was fixed and is seen in another trace is open again. What was
// found before in a trace changes nothing.
func (s *Store) Found(ctx context.Context, sc core.Scope, e core.Evaluator, all []core.Occurrence, newID func() string) (fresh int, err error) {
	err = s.ask(ctx, func(t Tx) error {
		fresh = 0
		for _, o := range all {
			isNew, err := found(t, sc, e, o, newID)
			if err != nil {
				return fmt.Errorf("keep a finding of trace %s: %w", o.Trace, err)
			}
			if isNew {
				fresh++
			}
		}
		return nil
	})
	return fresh, err
}

func found(t Tx, sc core.Scope, e core.Evaluator, o core.Occurrence, newID func() string) (isNew bool, err error) {
	n, err := t.Exec(`INSERT INTO trace_findings (id, workspace_id, evaluator_id, fingerprint, title, detail, severity, status, seen, trace_id, span_id, first_at, last_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'open', 0, $8, $9, $10, $11, $12) ON CONFLICT (evaluator_id, fingerprint) DO NOTHING`,
		newID(), string(sc.Workspace), string(e.ID), o.Fingerprint, o.Title, o.Detail, e.Severity, string(o.Trace), o.Span, int64(t.Now()), int64(t.Now()), int64(t.Now()))
	if err != nil {
		return false, err
	}
	var id string
	rows, err := t.Rows(`SELECT id FROM trace_findings WHERE evaluator_id = $1 AND fingerprint = $2`, string(e.ID), o.Fingerprint)
	if _, err := single(rows, err, &id); err != nil {
		return false, err
	}
	added, err := t.Exec(`INSERT INTO trace_occurrences (finding_id, trace_id, span_id, at) VALUES ($1, $2, $3, $4) ON CONFLICT (finding_id, trace_id) DO NOTHING`, id, string(o.Trace), o.Span, int64(t.Now()))
	if err != nil || added == 0 {
		return n > 0, err
	}
	if err := t.One(`UPDATE trace_findings SET seen = seen + 1, recurred = recurred + CASE WHEN status = 'fixed' THEN 1 ELSE 0 END, status = CASE WHEN status = 'fixed' THEN 'open' ELSE status END,
		trace_id = $1, span_id = $2, detail = $3, last_at = $4 WHERE id = $5`, string(o.Trace), o.Span, o.Detail, int64(t.Now()), id); err != nil {
		return false, err
	}
	_, err = t.Exec(`UPDATE traces SET findings = findings + 1 WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(o.Trace))
	return n > 0, err
}

const findingColumns = `f.id, f.evaluator_id, f.fingerprint, f.title, f.detail, f.severity, f.status, f.seen, f.recurred, f.trace_id, f.span_id, f.note, f.first_at, f.last_at, f.changed_at`

func scanFinding(rows *sql.Rows) (f core.Finding, err error) {
	return f, rows.Scan(&f.ID, &f.Evaluator, &f.Fingerprint, &f.Title, &f.Detail, &f.Severity, &f.Status, &f.Seen, &f.Recurred, &f.Trace, &f.Span, &f.Note, &f.FirstAt, &f.LastAt, &f.ChangedAt)
}

// Finding reads a finding.
func (s *Store) Finding(ctx context.Context, sc core.Scope, id core.FindingID) (core.Finding, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+findingColumns+` FROM trace_findings f WHERE f.workspace_id = $1 AND f.id = $2`, string(sc.Workspace), string(id))
	return the(gather(rows, err, scanFinding))("finding")
}

// FindingFilter selects findings; the zero value of a field is any.
type FindingFilter struct {
	Trace            core.TraceID
	Evaluator        core.EvaluatorID
	Status, Severity string
}

// FindingList lists findings, those first that were seen last.
func (s *Store) FindingList(ctx context.Context, sc core.Scope, f FindingFilter, after *core.Place, limit int) ([]core.Finding, error) {
	text, args := `SELECT `+findingColumns+` FROM trace_findings f WHERE f.workspace_id = $1`, []any{string(sc.Workspace)}
	add := func(condition string, v ...any) {
		for _, one := range v {
			args = append(args, one)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		text += condition
	}
	for _, c := range [][2]string{{"f.evaluator_id", string(f.Evaluator)}, {"f.status", f.Status}, {"f.severity", f.Severity}} {
		if c[1] != "" {
			add(` AND `+c[0]+` = ?`, c[1])
		}
	}
	if f.Trace != "" {
		add(` AND EXISTS (SELECT 1 FROM trace_occurrences o WHERE o.finding_id = f.id AND o.trace_id = ?)`, string(f.Trace))
	}
	if after != nil {
		add(` AND (f.last_at < ? OR (f.last_at = ? AND f.id < ?))`, int64(after.At), int64(after.At), after.ID)
	}
	add(` ORDER BY f.last_at DESC, f.id DESC LIMIT ?`, limit)
	rows, err := s.db.QueryContext(ctx, text, args...)
	return gather(rows, err, scanFinding)
}

// ChangeFinding sets what a person says of a finding.
func (s *Store) ChangeFinding(ctx context.Context, sc core.Scope, id core.FindingID, change func(*core.Finding) error) error {
	return s.ask(ctx, func(t Tx) error {
		rows, err := t.Rows(`SELECT `+findingColumns+` FROM trace_findings f WHERE f.workspace_id = $1 AND f.id = $2`, string(sc.Workspace), string(id))
		f, err := the(gather(rows, err, scanFinding))("finding")
		if err == nil {
			err = change(&f)
		}
		if err != nil {
			return err
		}
		return t.One(`UPDATE trace_findings SET status = $1, note = $2, changed_at = $3 WHERE id = $4`, f.Status, f.Note, int64(t.Now()), string(id))
	})
}

// EachRecent visits the newest traces with their steps, one at a time.
func (s *Store) EachRecent(ctx context.Context, sc core.Scope, limit int, visit func(core.Trace, []core.Span) error) error {
	var after *Place
	for limit > 0 {
		page, err := s.List(ctx, sc, Filter{}, after, min(limit, 100))
		if err != nil {
			return err
		}
		for _, r := range page {
			spans, err := s.Spans(ctx, sc, r.ID, nil, core.MaxTraceSpans)
			if err == nil {
				err = visit(r.Trace, spans)
			}
			if err != nil {
				return err
			}
			after = &Place{Start: r.Start, Num: r.Num}
		}
		limit -= len(page)
		if len(page) < 100 {
			return nil
		}
	}
	return nil
}

// EachOf visits traces by their ids, with their steps, one at a time.
func (s *Store) EachOf(ctx context.Context, sc core.Scope, ids []core.TraceID, visit func(core.Trace, []core.Span) error) error {
	for _, id := range ids {
		r, err := s.Trace(ctx, sc, id)
		if err != nil {
			return err
		}
		spans, err := s.Spans(ctx, sc, id, nil, core.MaxTraceSpans)
		if err == nil {
			err = visit(r.Trace, spans)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
