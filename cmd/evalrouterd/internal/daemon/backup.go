package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
)

// backupCommand copies the database of a data directory, beside a service that
// runs.
func backupCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, operands []string) error {
		if len(operands) != 1 || operands[0] == "" {
			return refuse("invalid_input", "name the file to make: evalrouterd backup FILE; nothing was copied")
		}
		at, err := data(sys)
		if err != nil {
			return err
		}
		if at.postgres != "" {
			return refuse("invalid_input", "the database is in PostgreSQL, whose own tools back it up (pg_dump, pg_basebackup); nothing was copied. Keep master.key of the data directory with it")
		}
		return withData(ctx, at, func(o *open) error { return backup(ctx, sys, o.dir, operands[0]) })
	}
}

// backup makes the file whole or not at all, and never in place of another.
func backup(ctx context.Context, sys System, d dataDir, file string) (err error) {
	file, err = filepath.Abs(file)
	if err != nil {
		return refuse("invalid_input", "%s cannot be a file: %s; nothing was copied", file, reason(err))
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return refuse("destination_exists", "%s is there already; nothing was copied. Name another file", file)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*") // 0600
	if err != nil {
		return refuse("invalid_input", "%s cannot be written: %s; nothing was copied", filepath.Dir(file), reason(err))
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := sqlite.Backup(ctx, d.path(databaseFile), tmp.Name()); err != nil {
		return d.explain(err)
	}
	h := sha256.New()
	size, err := io.Copy(h, tmp)
	if err := errors.Join(err, tmp.Sync()); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	// A link takes no other file's place, as a rename would.
	if err := os.Link(tmp.Name(), file); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refuse("destination_exists", "%s was made meanwhile; nothing was copied. Name another file", file)
		}
		return fmt.Errorf("name the backup: %w", err)
	}
	fmt.Fprintf(sys.Stdout, "%s  %s\n", hex.EncodeToString(h.Sum(nil)), file)
	fmt.Fprintf(sys.Stderr, "evalrouterd: %d bytes, checked. It holds every answer that has not expired; master.key is not in it: keep that apart, without it stored keys are void.\n"+
		"evalrouterd: 'evalrouterd restore --from %s' puts it into an empty data directory.\n", size, file)
	return nil
}
