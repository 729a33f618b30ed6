package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// mayCall says whether provider calls may be made on what this database knows.
// The caller holds the lock of the directory.
func (o *open) mayCall(ctx context.Context) error {
	if err := o.stays(ctx); err != nil {
		return err
	}
	if _, err := o.store.FollowIdentity(ctx); err != nil {
		return err
	}
	r, pending, err := o.store.PendingRestore(ctx)
	if err != nil || !pending {
		return err
	}
	return refuse("restore_unacknowledged", "this installation was restored (epoch %d: %s); nothing was started and nobody was called. %s 'evalrouterd recover' says more, and 'evalrouterd recover --ack' lets calls be made again",
		r.Epoch, r.Why, restoredSentence(r))
}

func restoredSentence(r store.Restored) string {
	return fmt.Sprintf("Runs that were live and have stopped: %d; calls of theirs whose outcome nobody knows: %d.", r.Runs, r.Unknown)
}

// restoreCommand begins a new epoch: for a database that was put back by hand,
// or with --from, for one that it puts into an empty directory.
func restoreCommand(f *flagSet) action {
	data, from := f.data(), f.StringLong("from", "", "a backup `FILE` of the database, for a data directory without one")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		if *from != "" {
			if at.postgres != "" {
				return refuse("invalid_input", "--from is for a database in the data directory; restore PostgreSQL with its own tools and run this without --from; nothing was restored")
			}
			if err := putBack(at.dir, *from); err != nil {
				return err
			}
		}
		return withData(ctx, at, func(o *open) error {
			if at.postgres == "" {
				lock, err := o.dir.takeLock()
				if err != nil {
					return err
				}
				defer lock.Close()
			}
			r, err := o.store.NewEpoch(ctx, "an operator restored it at "+sys.now().UTC().Format(time.RFC3339))
			if err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "Epoch %d. %s\nEvery open quote is void. Nobody is called before 'evalrouterd recover --ack'.\n", r.Epoch, restoredSentence(r))
			return nil
		})
	}
}

// putBack copies a backup into a directory that has no database.
func putBack(dir, from string) error {
	d, err := openDir(dir)
	if err != nil {
		return err
	}
	lock, err := d.takeLock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if info, err := os.Lstat(d.path(databaseFile)); err == nil && info.Size() > 0 {
		return refuse("destination_exists", "%s has a database; nothing was restored. Move it away first, with its -wal and -shm files", d)
	}
	in, err := os.Open(from)
	if err != nil {
		return refuse("invalid_input", "the backup %s cannot be read: %s; nothing was restored", from, reason(err))
	}
	defer in.Close()
	head := make([]byte, len(sqliteHead))
	if _, err := io.ReadFull(in, head); err != nil || string(head) != sqliteHead {
		return refuse("invalid_input", "%s is no backup of a database; nothing was restored. A backup is a copy of %s from a data directory", from, databaseFile)
	}
	return d.replaceFrom(databaseFile, io.MultiReader(bytes.NewReader(head), in))
}

// sqliteHead begins every SQLite database.
const sqliteHead = "SQLite format 3\x00"

// recoverCommand shows an epoch that nobody has acknowledged, and with --ack
// acknowledges it.
func recoverCommand(f *flagSet) action {
	data, ack := f.data(), f.toggle("ack", "let provider calls be made again")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			r, pending, err := o.store.PendingRestore(ctx)
			switch {
			case err != nil:
				return err
			case !pending:
				fmt.Fprintln(sys.Stdout, "Nothing is to be acknowledged.")
				return nil
			case !*ack:
				return sayRestored(sys.Stdout, r)
			}
			if err := o.store.AcknowledgeRestore(ctx); err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "Epoch %d is acknowledged. The next 'evalrouterd serve' or 'local' ends its runs and takes new ones.\n", r.Epoch)
			return nil
		})
	}
}

func sayRestored(w io.Writer, r store.Restored) error {
	_, err := fmt.Fprintf(w, "Epoch %d began at %s: %s.\n%s\nNothing was charged for them. Tasks without a record may have been called after the backup was taken.\n"+
		"'evalrouterd audit' checks the record; 'evalrouterd recover --ack' lets calls be made again.\n",
		r.Epoch, time.UnixMicro(int64(r.At)).UTC().Format(time.RFC3339), r.Why, restoredSentence(r))
	return err
}
