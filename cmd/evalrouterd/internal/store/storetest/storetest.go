// Package storetest gives tests a PostgreSQL of their own.
package storetest

import (
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
)

// Postgres makes an empty database in the server that the test command
// started, and drops it when the test is over. Without a server the test is
// skipped.
func Postgres(t testing.TB) (address string) {
	t.Helper()
	server := os.Getenv("EVALROUTER_TEST_PG")
	if server == "" {
		t.Skip("EVALROUTER_TEST_PG names no PostgreSQL server; scripts/test starts one")
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	name := "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
		admin.Close()
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
