// Package sqlite opens SQLite with the settings that money needs, and refuses to
// go on without them.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// Open gives one connection for writing and a few that cannot write.
// Settings stand in the DSN: by Exec they would reach one pooled connection.
func Open(driver, path string) (write, read *sql.DB, err error) {
	dsn := func(extra ...string) string {
		q := url.Values{"_pragma": append([]string{
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"journal_size_limit(67108864)", "cache_size(-4000)",
			// What is dropped is overwritten: an expired answer must not be read
			// from the file. FAST would leave it in the pages that become free.
			"secure_delete(ON)",
		}, extra...)}
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	if write, err = sql.Open(driver, dsn()+"&_txlock=immediate"); err != nil {
		return nil, nil, err
	}
	write.SetMaxOpenConns(1)
	if read, err = sql.Open(driver, dsn("query_only(1)")); err != nil {
		return nil, nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(6)
	return write, read, nil
}

// Stands says whether a file holds the tables of an installation. It changes
// nothing.
func Stands(ctx context.Context, path string) (bool, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return false, err
	}
	defer db.Close()
	n := 0
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('meta', 'runs', 'ledger_accounts')").Scan(&n)
	return n == 3, err
}

// empties bounds how long Empty waits for readers: writers wait with it.
const empties = time.Second

// Empty moves what the write-ahead log holds into the database and cuts the log
// off, so that what was dropped does not stand there either. Where somebody
// reads for long, the log stays, and is overwritten in its time.
func Empty(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, q := range []string{fmt.Sprintf("PRAGMA busy_timeout = %d", empties.Milliseconds()), "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA busy_timeout = 5000"} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// minVersion is the first version without the WAL-reset race, which can lose
// acknowledged commits.
var minVersion = [3]int{3, 51, 3}

// Assert refuses a library or settings with which committed data can be lost.
func Assert(ctx context.Context, db *sql.DB) error {
	var version, journal string
	var synchronous, foreignKeys int
	for q, into := range map[string]any{
		"SELECT sqlite_version()": &version, "PRAGMA journal_mode": &journal,
		"PRAGMA synchronous": &synchronous, "PRAGMA foreign_keys": &foreignKeys,
	} {
		if err := db.QueryRowContext(ctx, q).Scan(into); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	if !atLeast(version, minVersion) {
		return fmt.Errorf("SQLite %s can lose committed data; 3.51.3 or later is required", version)
	}
	if journal != "wal" || synchronous != 2 || foreignKeys != 1 {
		return fmt.Errorf("journal_mode=%s synchronous=%d foreign_keys=%d; WAL, 2 (FULL) and 1 are required", journal, synchronous, foreignKeys)
	}
	return nil
}

func atLeast(version string, floor [3]int) bool {
	parts := strings.SplitN(version, ".", 3)
	for i, want := range floor {
		if i >= len(parts) {
			return false
		}
		got, err := strconv.Atoi(parts[i])
		if err != nil || got < want {
			return false
		}
		if got > want {
			return true
		}
	}
	return true
}
