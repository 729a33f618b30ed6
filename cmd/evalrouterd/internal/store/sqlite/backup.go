package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
)

// Backup writes a whole copy of the database at from, as of one moment, into
// the empty file at to. Others may go on writing meanwhile; the copy holds what
// was committed when it began, and is read once more to be sure of it.
func Backup(ctx context.Context, from, to string) error {
	if err := with(from, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `VACUUM INTO $1`, to)
		return err
	}); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return Intact(ctx, to)
}

// Intact reads a whole copy to be sure of it.
func Intact(ctx context.Context, path string) error {
	return with(path, func(db *sql.DB) error {
		var found string
		if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
			return fmt.Errorf("check the copy: %w", err)
		}
		if found != "ok" {
			return fmt.Errorf("check the copy: %s", found)
		}
		return nil
	})
}

// with opens a database that is only read, for one thing.
func with(path string, do func(*sql.DB) error) error {
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return do(db)
}
