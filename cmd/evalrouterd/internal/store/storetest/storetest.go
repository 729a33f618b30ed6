// Package storetest gives tests a PostgreSQL of their own.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// Postgres makes an empty database in the server that the test command
// started, and drops it when the test is over. Without a server the test is
// skipped.
func Postgres(t testing.TB) (address string) {
	t.Helper()
	server, admin := connect(t)
	name := create(t, admin, "")
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return within(t, server, name)
}

// Migrated is Postgres with the tables of the store in it: a copy of a database
// that the first test of the package set up, which takes a tenth of the time. It
// is left behind: to drop it would be to write all of it to the disk first, and
// the server of the test command goes as a whole.
func Migrated(t testing.TB) (address string) {
	t.Helper()
	server, admin := connect(t)
	return within(t, server, create(t, admin, template(t, server, admin)))
}

func connect(t testing.TB) (server string, admin *sql.DB) {
	t.Helper()
	server = os.Getenv("EVALROUTER_TEST_PG")
	if server == "" {
		t.Skip("EVALROUTER_TEST_PG names no PostgreSQL server; scripts/test starts one")
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	return server, admin
}

func create(t testing.TB, admin *sql.DB, from string) (name string) {
	t.Helper()
	name = "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	q := "CREATE DATABASE " + name
	if from != "" {
		q += " TEMPLATE " + from
		var version int
		if err := admin.QueryRow("SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
			t.Fatal(err)
		}
		if version >= 150000 { // before, there was no other way
			q += " STRATEGY file_copy" // a quarter less than by way of the log
		}
	}
	if _, err := admin.Exec(q); err != nil {
		t.Fatal(err)
	}
	return name
}

func within(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// setUpLock is the advisory lock of whoever sets up a template.
const setUpLock = 0x7465_6d70

// template is a database with the schema that is compiled into this test
// program, which is known by its file: another schema is another program.
func template(t testing.TB, server string, admin *sql.DB) (name string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	must(err)
	file, err := os.Stat(self)
	must(err)
	name = fmt.Sprintf("template_%x_%x", file.ModTime().UnixNano(), file.Size())
	ctx := context.Background()
	conn, err := admin.Conn(ctx)
	must(err)
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", setUpLock)
	must(err)
	defer conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", setUpLock) // the session's end gives it back at the latest
	var there bool
	must(conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&there))
	if there {
		return name
	}
	raw := create(t, admin, "")
	s, err := store.Open(ctx, store.Options{Postgres: within(t, server, raw), Now: time.Now})
	must(err)
	must(s.Close())
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+raw+" RENAME TO "+name)
	must(err)
	return name
}
