package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

// everything is all rows of all tables as text, by table.
func (d *db) everything(tables []string) map[string][]string {
	d.t.Helper()
	out := map[string][]string{}
	for _, table := range tables {
		rows, err := d.raw.Query("SELECT * FROM " + table)
		d.check(err)
		columns, err := rows.Columns()
		d.check(err)
		seen := map[string]bool{}
		for rows.Next() {
			v, at := make([]any, len(columns)), make([]any, len(columns))
			for i := range v {
				at[i] = &v[i]
			}
			d.check(rows.Scan(at...))
			line := ""
			for i, c := range columns {
				if b, ok := v[i].([]byte); ok {
					v[i] = string(b)
				}
				line += fmt.Sprintf("%s=%v|", c, v[i])
			}
			seen[line] = true
		}
		d.check(rows.Err())
		d.check(rows.Close())
		out[table] = slices.Sorted(maps.Keys(seen))
	}
	return out
}

// An installation moves as a whole: every row of every table is the same on
// the other side, and nothing is added to a database with rows.
func TestMove_KeepsEveryRow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := storetest.Postgres(t)
	from := newSQLite(t)
	from.finishedAndLive()
	from.must(from.Recover(ctx))
	from.check(from.SetMeta(ctx, "a", "b"))
	from.check(from.Access().AddKey(ctx, core.APIKey{ID: "k", Workspace: "w1", Name: "n", Prefix: "p", MAC: []byte{0, 1, 0xFF}, Scopes: []string{"eval:read"}}, by("operator")))
	from.check(from.InsertConnection(ctx, core.ConnectionInfo{ID: "c", Workspace: "w1", Name: "n\x00", BaseURL: "https://x.example", ModelID: "m", Protocol: "openai_chat", Revision: 1,
		SealedKey: []byte{0, 0xFE}, KeyVersion: 1, MaxOutputTokens: 5, ContextWindow: 10}))
	to := newEmpty(t, address)
	var tables []string
	rows := int64(0)
	from.check(from.MoveTo(ctx, to.Store, func(m store.Moved) {
		tables = append(tables, m.Table)
		rows += m.Rows
	}))
	if len(tables) < 19 || rows < 150 {
		t.Errorf("%d rows of %v", rows, tables)
	}
	if diff := cmp.Diff(from.everything(tables), to.everything(tables)); diff != "" {
		t.Errorf("what arrived differs:\n%s", diff)
	}
	to.clean()
	err := from.MoveTo(ctx, to.Store, func(store.Moved) { t.Error("a row was copied into a database with rows") })
	var full *store.NotEmpty
	if !errors.As(err, &full) {
		t.Errorf("into a database with rows: %v", err)
	}
	to.time.Store(from.time.Load())
	run := to.start(3, 1000) // and work goes on there
	to.ask(run, 0, 100, 40)
	to.clean()
}

// A copy that the audit does not pass is undone.
func TestMove_AuditsTheCopy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := storetest.Postgres(t)
	from := newSQLite(t)
	from.finishedAndLive()
	from.must(from.raw.Exec(`UPDATE runs SET waived = waived + 1`))
	to := newEmpty(t, address)
	err := from.MoveTo(ctx, to.Store, func(store.Moved) {})
	var unsound *store.Unsound
	if !errors.As(err, &unsound) || len(unsound.Findings) == 0 {
		t.Fatalf("an unsound copy: %v", err)
	}
	var n int
	to.check(to.raw.QueryRow(`SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM workspaces) + (SELECT count(*) FROM events)`).Scan(&n))
	if n != 0 {
		t.Errorf("%d rows stayed", n)
	}
}
