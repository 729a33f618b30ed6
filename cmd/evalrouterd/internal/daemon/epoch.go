package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
	"github.com/evalrouter/evalrouter/lib/plain"
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
	text := fmt.Sprintf("Runs that were live and have stopped: %d; calls of theirs whose outcome nobody knows: %d.", r.Runs, r.Unknown)
	if r.Gap {
		text += fmt.Sprintf(" Sign-ins of browsers and terminals that were ended: %d.", r.SignIns)
	}
	return text
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
			r, err := putBack(ctx, at, *from, epochReason(sys))
			if err != nil {
				return at.explain(err)
			}
			sayEpoch(sys, r)
			return nil
		}
		return withData(ctx, at, func(o *open) error {
			if at.postgres == "" {
				lock, err := o.dir.takeLock()
				if err != nil {
					return err
				}
				defer lock.Close()
			}
			r, err := o.store.NewEpoch(ctx, epochReason(sys))
			if err != nil {
				return err
			}
			sayEpoch(sys, r)
			return nil
		})
	}
}

func epochReason(sys System) string {
	return "an operator restored it at " + sys.now().UTC().Format(time.RFC3339)
}

func sayEpoch(sys System, r store.Restored) {
	fmt.Fprintf(sys.Stdout, "Epoch %d. %s\nEvery open quote is void. Nobody is called before 'evalrouterd recover --ack'.\n", r.Epoch, restoredSentence(r))
}

// restoringFile is the database while it is put back.
const restoringFile = databaseFile + ".restoring"

// putBack copies a backup into a directory that has no database. The epoch
// begins in the copy before it gets the database's name: a service that is
// started after a death in between finds no database, never one that would make
// calls again.
func putBack(ctx context.Context, at place, from, why string) (r store.Restored, err error) {
	d, err := openDir(at.dir)
	if err != nil {
		return r, err
	}
	lock, err := d.takeLock()
	if err != nil {
		return r, err
	}
	defer lock.Close()
	// A log or journal may hold commits of a database that was moved away, or undo them.
	for _, name := range []string{databaseFile, databaseFile + "-wal", databaseFile + "-journal"} {
		if info, err := os.Lstat(d.path(name)); err == nil && info.Size() > 0 {
			return r, refuse("destination_exists", "%s is there; nothing was restored. Move the database away first, with its -wal, -shm and -journal files", d.path(name))
		}
	}
	if err := d.forget(restoringFile); err != nil {
		return r, err
	}
	if err := d.copyBackup(from); err != nil {
		return r, errors.Join(err, d.forget(restoringFile))
	}
	if err := sqlite.Intact(ctx, d.path(restoringFile)); err != nil {
		return r, errors.Join(refuse("invalid_input", "the backup %s is damaged: %s; nothing was restored", from, plain.Line(err.Error())), d.forget(restoringFile))
	}
	if r, err = beginAgain(ctx, d, at.now, why); err != nil {
		return r, errors.Join(err, d.forget(restoringFile))
	}
	return r, d.adopt(restoringFile, databaseFile)
}

// copyBackup makes the restoring file out of a backup.
func (d dataDir) copyBackup(from string) error {
	in, err := os.Open(from)
	if err != nil {
		return refuse("invalid_input", "the backup %s cannot be read: %s; nothing was restored", from, reason(err))
	}
	defer in.Close()
	head := make([]byte, len(sqliteHead))
	if _, err := io.ReadFull(in, head); err != nil || string(head) != sqliteHead {
		return refuse("invalid_input", "%s is no backup of a database; nothing was restored. A backup is a copy of %s from a data directory", from, databaseFile)
	}
	out, err := os.OpenFile(d.path(restoringFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.MultiReader(bytes.NewReader(head), in))
	if err := errors.Join(err, out.Chmod(0o600), out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("copy the backup: %w", err)
	}
	return nil
}

// beginAgain begins an epoch in the restoring file and closes it: all of it is
// in the one file then.
func beginAgain(ctx context.Context, d dataDir, now func() time.Time, why string) (r store.Restored, err error) {
	st, err := store.Open(ctx, store.Options{Path: d.path(restoringFile), Now: now})
	if err != nil {
		return r, err
	}
	o := &open{dir: d, now: now, store: st}
	if err = o.stays(ctx); err == nil {
		r, err = st.NewEpoch(ctx, why)
	}
	return r, errors.Join(err, st.Close())
}

// forget removes a database with what stands beside it. A journal is there
// when a process died before the database had its write-ahead log: it would be
// rolled back into the next file of this name.
func (d dataDir) forget(name string) error {
	var all error
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Remove(d.path(name + suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// adopt gives a closed database its name, for good. What was beside a database
// that is gone must not be read into this one.
func (d dataDir) adopt(from, to string) error {
	if info, err := os.Stat(d.path(from + "-wal")); err == nil && info.Size() > 0 {
		return fmt.Errorf("put back %s: it was not closed", d.path(to))
	}
	if err := d.forget(to); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path(from), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), os.Rename(d.path(from), d.path(to))); err != nil {
		return fmt.Errorf("put back %s: %w", d.path(to), err)
	}
	dir, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// sqliteHead begins every SQLite database.
const sqliteHead = "SQLite format 3\x00"

// recoverCommand shows an epoch that nobody has acknowledged, and with --ack
// acknowledges it.
func recoverCommand(f *flagSet) action {
	data, ack := f.data(), f.toggle("ack", "let provider calls be made again")
	keep, end := f.toggle("keep-keys", "with --ack: no API key was revoked after the backup; they stay good"), f.toggle("end-keys", "with --ack: revoke every API key")
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
				return o.sayRestored(ctx, sys.Stdout, r)
			}
			if err := o.decideKeys(ctx, sys, r, *keep, *end); err != nil {
				return err
			}
			if err := o.store.AcknowledgeRestore(ctx); err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "Epoch %d is acknowledged. The next 'evalrouterd serve' or 'local' ends its runs and takes new ones.\n", r.Epoch)
			return nil
		})
	}
}

// decideKeys has the operator say what becomes of API keys where some that were
// revoked may be good again.
func (o *open) decideKeys(ctx context.Context, sys System, r store.Restored, keep, end bool) error {
	n, err := o.store.Access().GoodKeys(ctx)
	switch {
	case err != nil:
		return err
	case keep && end:
		return refuse("invalid_input", "--keep-keys and --end-keys are two answers; nothing was acknowledged")
	case end:
		ended, err := o.store.Access().EndKeys(ctx, core.By{Entry: newID(), Actor: "operator"})
		if err == nil {
			fmt.Fprintf(sys.Stdout, "API keys that were revoked: %d.\n", ended)
		}
		return err
	case r.Gap && n > 0 && !keep:
		return refuse("keys_undecided", "%s; nothing was acknowledged. Say --keep-keys if no key was revoked since the backup, or --end-keys to revoke all of them ('evalrouterd keys list' shows them, 'evalrouterd keys revoke' ends one)", keysSentence(n))
	}
	return nil
}

func keysSentence(n int) string {
	return fmt.Sprintf("API keys that are good in this copy: %d; one that was revoked after the backup was taken is good again", n)
}

func (o *open) sayRestored(ctx context.Context, w io.Writer, r store.Restored) error {
	revived := ""
	if r.Gap {
		n, err := o.store.Access().GoodKeys(ctx)
		if err != nil {
			return err
		}
		revived = keysSentence(n) + ". With such keys --ack needs --keep-keys or --end-keys.\n" +
			"Accounts, members and passwords are those of the backup: 'evalrouterd accounts list' shows who may sign in.\n"
	}
	_, err := fmt.Fprintf(w, "Epoch %d began at %s: %s.\n%s\n%sNothing was charged for them. Tasks without a record may have been called after the backup was taken.\n"+
		"'evalrouterd audit' checks the record; 'evalrouterd recover --ack' lets calls be made again.\n",
		r.Epoch, time.UnixMicro(int64(r.At)).UTC().Format(time.RFC3339), r.Why, restoredSentence(r), revived)
	return err
}
