// Package continuation keeps what continuations of ended runs need: it reads the
// tasks of a run as cells for core's decision table, and writes the rows that a
// new run of the chain begins with.
//
// A continuation is a run of its own. Its first rows name the run and the call
// whose answers they took over, always those that made the call and never one
// in between, so that a chain of any length is read in one step. Nothing of an
// earlier run is ever changed.
package continuation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	// One is Exec for a statement that must touch exactly one row.
	One(q string, args ...any) error
	Rows(q string, args ...any) (*sql.Rows, error)
	Now() core.Micros
	// Lock ends a SELECT whose row is to stay as it is until the commit.
	Lock() string
}

// Reader reads chains. It is safe for concurrent use.
type Reader struct {
	db  *sql.DB
	now func() core.Micros
}

// NewReader reads through connections that need not be able to write.
func NewReader(db *sql.DB, now func() core.Micros) Reader { return Reader{db, now} }

// rows reads: a transaction, or connections with a context.
type rows func(q string, args ...any) (*sql.Rows, error)

func (r Reader) rows(ctx context.Context) rows {
	return func(q string, args ...any) (*sql.Rows, error) { return r.db.QueryContext(ctx, q, args...) }
}

// source is an ended run whose cells are read.
type source struct {
	num     int64
	root    string
	pos     int
	planned int
	state   core.State
	stop    core.Reason
	gap     bool
	// next is the run that continues it, "" for none.
	next string
}

const selectSource = `SELECT r.num, r.chain_root, r.chain_pos, r.planned, r.state, r.stop_reason, r.restored_at,
	coalesce((SELECT n.id FROM runs n WHERE n.source_run_id = r.id), '') FROM runs r WHERE r.id = $1 AND r.workspace_id = $2`

func readSource(q rows, text string, ws core.WorkspaceID, id core.RunID) (s source, err error) {
	found, err := q(text, string(id), string(ws))
	if err != nil {
		return s, err
	}
	defer found.Close()
	if !found.Next() {
		return s, errors.Join(found.Err(), core.Missing("run"))
	}
	var restored int64
	if err := found.Scan(&s.num, &s.root, &s.pos, &s.planned, &s.state, &s.stop, &restored, &s.next); err != nil {
		return s, fmt.Errorf("read run %s: %w", id, err)
	}
	s.gap = restored != 0
	return s, nil
}

// Survey decides every task of a run. The bytes of each answer in use are read
// and held against their hash.
func (r Reader) Survey(ctx context.Context, sc core.Scope, run core.RunID, q core.Quote, f core.Flags) (*core.Survey, error) {
	read := r.rows(ctx)
	s, err := readSource(read, selectSource, sc.Workspace, run)
	if err != nil {
		return nil, err
	}
	out := core.NewSurvey(f)
	cells := cells{read: read, source: s, quote: q, now: r.now(), bytes: true}
	for page, err := range cells.pages() {
		if err != nil {
			return nil, fmt.Errorf("survey run %s: %w", run, err)
		}
		for _, c := range page {
			out.Add(c)
		}
	}
	return out, nil
}

// Chain is the runs of a run's chain, from the first on.
func (r Reader) Chain(ctx context.Context, sc core.Scope, run core.RunID) (out []core.RunID, err error) {
	found, err := r.db.QueryContext(ctx, `SELECT c.id FROM runs c JOIN runs r ON r.chain_root = c.chain_root
		WHERE r.id = $1 AND r.workspace_id = $2 AND c.workspace_id = r.workspace_id ORDER BY c.chain_pos`, string(run), string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var id core.RunID
		if err := found.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, core.Missing("run")
	}
	return out, nil
}
