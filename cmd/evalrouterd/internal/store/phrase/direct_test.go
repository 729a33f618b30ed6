package phrase_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
)

func openDirect(t *testing.T) (*sql.DB, *sql.Conn, context.Context) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); db.Close() })
	if _, err := c.ExecContext(context.Background(), `CREATE TABLE a (id INTEGER PRIMARY KEY, v, w TEXT CHECK (w <> 'bad'))`); err != nil {
		t.Fatal(err)
	}
	return db, c, context.Background()
}

type word string

type count int

// What the driver is given directly is stored as what database/sql gives it.
func TestDirect_StoresWhatDatabaseSQLDoes(t *testing.T) {
	t.Parallel()
	_, c, ctx := openDirect(t)
	d, err := phrase.PrepareDirect(ctx, c, `INSERT INTO a (id, v) VALUES (?, ?)`, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, tt := range []struct {
		name string
		v    any
	}{
		{"nothing", nil},
		{"a number", int64(7)},
		{"an int", 7},
		{"a number of a type", count(7)},
		{"a small number", int8(-7)},
		{"a fraction", 0.5},
		{"true", true},
		{"text", "a\x00b"},
		{"no text", ""},
		{"text of a type", word("é")},
		{"bytes", []byte{0, 1}},
		{"no bytes", []byte{}},
		{"nil bytes", []byte(nil)},
		{"a null", sql.NullInt64{}},
		{"no null", sql.NullInt64{Int64: 7, Valid: true}},
		{"a time", time.Unix(1, 0).UTC()},
		{"nil of a pointer", (*string)(nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if n, err := d.Exec(ctx, []any{2 * i, tt.v}); n != 1 || err != nil {
				t.Fatalf("%d rows, %v", n, err)
			}
			if _, err := c.ExecContext(ctx, `INSERT INTO a (id, v) VALUES (?, ?)`, 2*i+1, tt.v); err != nil {
				t.Fatal(err)
			}
			var got, want []any
			for at, into := range map[int]*[]any{2 * i: &got, 2*i + 1: &want} {
				var kind, value any
				if err := c.QueryRowContext(ctx, `SELECT typeof(v), v FROM a WHERE id = ?`, at).Scan(&kind, &value); err != nil {
					t.Fatal(err)
				}
				*into = []any{kind, value}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("stored %#v, want %#v", got, want)
			}
		})
	}
}

// A driver that panics leaves no lock behind: the transaction is rolled back, and
// another connection writes.
func TestDirect_DriverPanics(t *testing.T) {
	t.Parallel()
	if err := sqlite.RegisterScalarFunction("direct_boom", 1, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) { panic("boom") }); err != nil {
		t.Fatal(err)
	}
	db, c, ctx := openDirect(t)
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	d, err := phrase.PrepareDirect(ctx, c, `INSERT INTO a (id, v) VALUES (?, direct_boom(1))`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(ctx, []any{1}); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("the panic became %v", err)
	}
	if _, err := c.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Errorf("roll back: %v", err)
	}
	other, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(ctx, `INSERT INTO a (id) VALUES (2)`); err != nil {
		t.Errorf("another connection cannot write: %v", err)
	}
}

// Arguments go where the statement's own order says, it is used again with
// others, and what the database refuses is told.
func TestDirect_OrderAndErrors(t *testing.T) {
	t.Parallel()
	_, c, ctx := openDirect(t)
	d, err := phrase.PrepareDirect(ctx, c, `INSERT INTO a (w, id, v) VALUES (?, ?, ?)`, []int{1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, tt := range []struct {
		name string
		args []any
		n    int64
		err  string
	}{
		{"a row", []any{1, "x"}, 1, ""},
		{"the same row", []any{1, "y"}, 0, "UNIQUE"},
		{"what a CHECK refuses", []any{2, "bad"}, 0, "CHECK"},
		{"what no database takes", []any{2, struct{}{}}, 0, "argument 2"},
		{"another row", []any{2, "z"}, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := d.Exec(ctx, tt.args)
			if n != tt.n || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
	var got string
	if err := c.QueryRowContext(ctx, `SELECT group_concat(id || w || v, ' ') FROM a`).Scan(&got); err != nil || got != "1xx 2zz" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := phrase.PrepareDirect(ctx, c, `INSERT INTO nowhere VALUES (1)`, nil); err == nil {
		t.Error("a statement about no table was prepared")
	}
}
