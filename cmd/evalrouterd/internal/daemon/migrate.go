package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"crypto/rand"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
)

// Settings of an installation that moves. It is marked before the first row is
// copied: of two databases that both know a live run, only one may ever make
// its calls.
const (
	metaInstallation = "installation"
	metaMovingTo     = "moving_to"
	metaMovedTo      = "moved_to"
)

// stays refuses an installation that has moved, or whose move nobody finished.
func (o *open) stays(ctx context.Context) error {
	if o.postgres != "" {
		return nil // its settings came along with the rest
	}
	moved, err := o.store.Meta(ctx, metaMovedTo)
	if err != nil {
		return err
	}
	if moved != "" {
		return refuse("installation_moved", "the installation in %s has moved to %s; nothing was done. Name it with --database or %s", o.dir, moved, databaseVariable)
	}
	moving, err := o.store.Meta(ctx, metaMovingTo)
	if err != nil || moving == "" {
		return err
	}
	return refuse("installation_moving", "the installation in %s was being moved to %s and nobody knows whether that was finished; nothing was done. "+
		"Repeat 'evalrouterd migrate-to' with the same address to finish it", o.dir, moving)
}

// movedTo is where the installation of a directory has moved, "" if it has not.
func (o *open) movedTo(ctx context.Context) (string, error) {
	if o.postgres != "" {
		return "", nil
	}
	return o.store.Meta(ctx, metaMovedTo)
}

func migrateCommand(f *flagSet) action {
	dir := f.dir()
	file := f.StringLong("database-file", "", "a `FILE` with the address of the PostgreSQL to move to, readable by its owner only")
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := dir(sys)
		if err != nil {
			return err
		}
		address, err := databaseAddress(sys, strings.Join(operands, ""), *file)
		if err != nil {
			return err
		}
		if address == "" {
			return refuse("invalid_input", "name an empty PostgreSQL: evalrouterd migrate-to postgres://USER@HOST/NAME, or give its address in --database-file or %s; nothing was moved", databaseVariable)
		}
		d, err := findDir(at)
		if err != nil {
			return err
		}
		lock, err := d.takeLock()
		if err != nil {
			return err
		}
		defer lock.Close()
		return place{dir: at, postgres: address}.explain(migrate(ctx, sys, d, address))
	}
}

func migrate(ctx context.Context, sys System, d dataDir, address string) (err error) {
	from, err := openData(ctx, d, place{dir: string(d), now: sys.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	if moved, err := from.store.Meta(ctx, metaMovedTo); err != nil || moved != "" {
		return errors.Join(err, refuse("installation_moved", "the installation in %s has moved to %s; nothing was moved", d, moved))
	}
	to, err := openShared(ctx, d, place{dir: string(d), postgres: address, now: sys.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	m := mover{sys: sys, from: from, to: to, address: address}
	return m.move(ctx)
}

// mover is one move.
type mover struct {
	sys      System
	from, to *open
	address  string
}

// move settles what an earlier process left, marks the installation, copies it
// and marks it as gone.
func (m mover) move(ctx context.Context) error {
	if err := m.settle(ctx); err != nil {
		return err
	}
	installation, err := m.mark(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(m.sys.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	total, tables := int64(0), 0
	err = m.from.store.MoveTo(ctx, m.to.store, func(moved store.Moved) {
		total += moved.Rows
		tables++
		fmt.Fprintf(t, "%d\t %s\n", moved.Rows, moved.Table)
	})
	var full *store.NotEmpty
	var unsound *store.Unsound
	switch {
	case errors.As(err, &full):
		return m.occupied(ctx, installation, full)
	case errors.As(err, &unsound):
		return errors.Join(m.from.store.SetMeta(ctx, metaMovingTo, ""),
			&refusal{code: "audit_failed", status: exitFailed, message: fmt.Sprintf("%s; nothing was moved. 'evalrouterd audit' says more about the installation as it is", unsound)})
	case err != nil:
		// What the server made of it is unknown: the mark stays.
		return fmt.Errorf("move to %s: %w; the installation in %s waits until 'evalrouterd migrate-to' is repeated", postgres.Shown(m.address), err, m.from.dir)
	}
	if err := m.done(ctx); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(m.sys.Stdout, "Moved %d rows of %d tables to %s; counted and audited.\n%s", total, tables, postgres.Shown(m.address), m.next())
	return nil
}

func (m mover) next() string {
	return fmt.Sprintf("The database file in %s stays as it was and is used no more. Its master.key is needed by every process:\n"+
		"  evalrouterd serve --data %s --database-file FILE\n%s", m.from.dir, m.from.dir, m.routes())
}

// routes says where the next start finds the operator's routes.
func (m mover) routes() string {
	if _, err := os.Stat(m.from.dir.path(providersFile)); err == nil {
		return fmt.Sprintf("It reads its routes from %s in that directory; copy it, with master.key, for a process elsewhere.\n", providersFile)
	}
	return "If it was started with --providers, --allow-private or --workspace-calls, give them again: they are not in the database.\n"
}

// settle records answers that a dead process had received and ends the calls
// that it left: the directory's lock proves that it is dead.
func (m mover) settle(ctx context.Context) error {
	if err := m.from.dir.private(answersFile, answersFile+spool.Second); err != nil {
		return err
	}
	answers, kept, err := spool.Open(m.from.dir.path(answersFile))
	if err != nil {
		return err
	}
	defer answers.Close()
	for _, r := range kept {
		err := m.from.store.Respond(ctx, r)
		if errors.Is(err, core.ErrMoved) {
			_, err = m.from.store.Late(ctx, r)
		}
		if err != nil {
			return fmt.Errorf("record a kept answer: %w", err)
		}
	}
	if err := answers.Reset(); err != nil {
		return err
	}
	_, err = m.from.store.Recover(ctx)
	return err
}

// mark names the installation, says which master key it needs, and stops
// everybody else from using it here.
func (m mover) mark(ctx context.Context) (installation string, err error) {
	if installation, err = m.from.store.KeepMeta(ctx, metaInstallation, newID()); err != nil {
		return "", err
	}
	master, err := seal.Load(m.from.dir.path(masterFile), rand.Reader)
	switch {
	case err == nil:
		err = m.from.store.SetMeta(ctx, masterMeta, master.Check())
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return "", err
	}
	return installation, m.from.store.SetMeta(ctx, metaMovingTo, postgres.Shown(m.address))
}

// occupied finds out whether the rows in the way are this installation's, from
// a move whose end nobody saw.
func (m mover) occupied(ctx context.Context, installation string, full *store.NotEmpty) error {
	there, err := m.to.store.Meta(ctx, metaInstallation)
	if err != nil {
		return err
	}
	if there == installation {
		if err := m.done(ctx); err != nil {
			return err
		}
		fmt.Fprintf(m.sys.Stdout, "Everything had arrived at %s already.\n%s", postgres.Shown(m.address), m.next())
		return nil
	}
	if err := m.from.store.SetMeta(ctx, metaMovingTo, ""); err != nil {
		return err
	}
	return refuse("destination_exists", "%s is not empty: %s. Nothing was moved; make an empty database and repeat the command", postgres.Shown(m.address), full)
}

// done clears the mark there and sets the last one here.
func (m mover) done(ctx context.Context) error {
	if err := m.to.store.SetMeta(ctx, metaMovingTo, ""); err != nil {
		return err
	}
	return m.from.store.SetMeta(ctx, metaMovedTo, postgres.Shown(m.address)+" at "+m.sys.now().UTC().Format(time.RFC3339))
}
