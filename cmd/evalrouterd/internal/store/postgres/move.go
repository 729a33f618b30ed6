package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NotEmpty says that the database to move into has rows already.
type NotEmpty struct{ Table string }

// Error names a table with rows.
func (n *NotEmpty) Error() string { return "the table " + n.Table + " has rows" }

// Moved counts the rows of a table.
type Moved struct {
	Table string
	Rows  int64
}

// Move copies every table of a SQLite database into an empty PostgreSQL, in one
// transaction there that check has the last word on. Rows are streamed.
func Move(ctx context.Context, from, to *sql.DB, each func(Moved), check func(context.Context, *sql.Conn) error) error {
	all, err := tables(ctx, from)
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	conn, err := to.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED"); err != nil {
		return err
	}
	err = copyInto(ctx, from, conn, all, each)
	if err == nil {
		err = check(ctx, conn)
	}
	if err != nil {
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, undo)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func copyInto(ctx context.Context, db *sql.DB, conn *sql.Conn, all []string, each func(Moved)) error {
	// Another mover waits here, and then finds rows.
	if _, err := conn.ExecContext(ctx, Patient); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(SchemaLock))); err != nil {
		return err
	}
	for _, t := range all {
		var n int
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+t+" LIMIT 1) one").Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return &NotEmpty{t}
		}
	}
	from, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer from.Rollback()
	for _, t := range all {
		n, err := copyTable(ctx, from, conn, t)
		if err != nil {
			return fmt.Errorf("copy %s: %w", t, err)
		}
		each(Moved{t, n})
	}
	// Runs and traces arrive with their numbers, and the next ones go on from there.
	for _, t := range []string{"runs", "traces"} {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%s', 'num'), max(num)) FROM %s HAVING max(num) IS NOT NULL`, t, t)); err != nil {
			return err
		}
	}
	return nil
}

// tables lists every table of ours, those first that others refer to.
func tables(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT t.name, coalesce(group_concat(f."table"), '') FROM sqlite_master t LEFT JOIN pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'goose_%' GROUP BY t.name ORDER BY t.name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	needs := map[string][]string{}
	var names []string
	for rows.Next() {
		var name, refers string
		if err := rows.Scan(&name, &refers); err != nil {
			return nil, err
		}
		names = append(names, name)
		needs[name] = strings.FieldsFunc(refers, func(r rune) bool { return r == ',' })
	}
	return inOrder(names, needs), rows.Err()
}

// inOrder puts what is needed before what needs it.
func inOrder(names []string, needs map[string][]string) (out []string) {
	var put func(string)
	put = func(name string) {
		if slices.Contains(out, name) {
			return
		}
		for _, n := range needs[name] {
			if n != name {
				put(n)
			}
		}
		out = append(out, name)
	}
	for _, n := range names {
		put(n)
	}
	return out
}
