package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/wake"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// role is what a process of a shared database does.
type role string

const (
	roleAll    role = "all"
	roleAPI    role = "api"    // answers requests and makes no calls
	roleWorker role = "worker" // makes calls and answers nobody
)

// sharing is how a process shares its database with others.
type sharing struct {
	role         role
	lease, sweep time.Duration
}

const (
	defaultLease = 30 * time.Second
	defaultSweep = 15 * time.Second
	// askWithin bounds telling the other processes something.
	askWithin = 2 * time.Second
	// masterMeta is where a shared database says which master key it needs.
	masterMeta = "master_key_check"
)

// sharing declares the flags of a process that shares a PostgreSQL.
func (f *flagSet) sharing() func(place) (sharing, error) {
	as := f.StringLong("role", string(roleAll), "`ROLE` on a shared PostgreSQL: api answers requests, worker makes calls, all does both")
	lease := f.DurationLong("lease", defaultLease, "`TIME` after which the runs of a worker that is silent go to another one; the same for all")
	sweep := f.DurationLong("sweep", defaultSweep, "`TIME` between two looks for runs without a worker")
	return func(at place) (sharing, error) {
		s := sharing{role: role(*as), lease: *lease, sweep: *sweep}
		switch {
		case s.role != roleAll && s.role != roleAPI && s.role != roleWorker:
			return s, refuse("invalid_input", "a role is api, worker or all; nothing was started")
		case s.role != roleAll && at.postgres == "":
			return s, refuse("invalid_input", "--role %s needs a PostgreSQL that other processes share (--database); nothing was started", s.role)
		case s.lease < time.Second || s.sweep < 100*time.Millisecond:
			return s, refuse("invalid_input", "--lease is at least 1s and --sweep at least 100ms; nothing was started")
		}
		return s, nil
	}
}

// openShared opens an installation in PostgreSQL. Its times are the database's.
func openShared(ctx context.Context, d dataDir, p place) (*open, error) {
	st, err := store.Open(ctx, store.Options{Postgres: p.postgres, Now: p.now, ServerClock: true, Gather: gather})
	if err != nil {
		return nil, unreachable(p.postgres, err)
	}
	return &open{dir: d, postgres: p.postgres, now: p.now, store: st, catalog: catalog.New(st, practice.Routes(), newID)}, nil
}

// unreachable makes a database that is out of reach or unfit a sentence.
func unreachable(address string, err error) error {
	var unfit *store.Unfit
	switch {
	case errors.As(err, &unfit):
		return refuse("database_unfit", "%s cannot be used: %s; nothing was started", postgres.Shown(address), unfit)
	case store.Unreachable(err):
		return &refusal{code: "database_unreachable", status: exitFailed,
			message: fmt.Sprintf("the database at %s cannot be reached: %s. Nothing that was begun is lost; repeat the command when it is back", postgres.Shown(address), plain.Line(err.Error()))}
	}
	return err
}

// unlockShared reads the master key that every process of the database needs a
// copy of. The first one makes it.
func (o *open) unlockShared(ctx context.Context) error {
	path := o.dir.path(masterFile)
	stands, err := o.store.Meta(ctx, masterMeta)
	if err != nil {
		return err
	}
	m, err := seal.Load(path, rand.Reader)
	if errors.Is(err, fs.ErrNotExist) && stands == "" {
		m, err = seal.LoadOrCreate(path, rand.Reader)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("master_key_missing", "%s is missing; nothing was started. Every process of one database needs the same: copy master.key from the data directory of another process of %s. If it is lost in all of them, 'evalrouterd keys reset' makes a new one; every key must then be given again", path, postgres.Shown(o.postgres))
	case err != nil:
		return refuse("master_key_unusable", "%s; nothing was started", err)
	}
	if m.Follows(stands) { // a rotation of the master key died before it said so
		err = o.store.SetMeta(ctx, masterMeta, m.Check())
		stands = m.Check()
	} else {
		stands, err = o.store.KeepMeta(ctx, masterMeta, m.Check())
	}
	if err != nil {
		return err
	}
	if stands != m.Check() {
		return refuse("master_key_wrong", "%s is not the master key of %s; nothing was started. Every process of one database needs the same: copy master.key from the data directory of another process", path, postgres.Shown(o.postgres))
	}
	o.master = m
	return nil
}

// claims gives the engine its turns.
type claims struct{ *store.Store }

// Holding is what a holder writes through.
func (c claims) Holding(claim core.Claim) engine.Held {
	s := c.Store.Holding(claim)
	return engine.Held{Journal: s, Answers: s, Judging: s, Life: s}
}

// join connects the service to the other processes of its database.
func (s *service) join(o sharing) error {
	if s.postgres == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	options := wake.Options{Postgres: s.postgres, Heard: s.heard, Orphans: s.store.Orphans, Sweep: o.sweep, Sleep: clock{}.Sleep, Log: s.log}
	if o.role != roleAPI {
		options.Take = s.engine.Wake
	}
	w, err := wake.Open(ctx, options)
	if err != nil {
		return err
	}
	s.wake = w
	return nil
}

// heard follows what another process, or this one, has said about a run.
func (s *service) heard(run core.RunID, asked bool) {
	if asked {
		s.engine.Nudge(run)
	}
	s.changes.Publish(run)
}

// changed tells followers here and elsewhere that a run's log has grown.
func (s *service) changed(run core.RunID) {
	s.changes.Publish(run)
	if s.wake != nil {
		s.wake.Grown(run)
	}
}

// leave takes no more runs from the other processes.
func (s *service) leave(ctx context.Context) error {
	if s.wake == nil {
		return nil
	}
	err := s.wake.Leave(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil // a second signal: what this process gives up is found by the next sweep
	}
	return err
}

// part gives the runs that are left to the other processes.
func (s *service) part(ctx context.Context) {
	if s.wake == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
	defer cancel()
	s.wake.Close(ctx)
}

// labour makes calls until a signal, and answers nobody.
func (r *runner) labour(ctx context.Context, data *open, o options) error {
	s, err := newService(data, o)
	if err != nil {
		return errors.Join(err, data.close())
	}
	uncollect, err := r.collect(ctx, s)
	if err != nil {
		return errors.Join(err, s.stop(ctx))
	}
	defer uncollect()
	if err := s.start(ctx); err != nil {
		return errors.Join(err, s.stop(ctx))
	}
	r.notify("READY=1")
	fmt.Fprintf(r.sys.Stderr, "evalrouterd %s works for %s\n", r.sys.Version, postgres.Shown(data.postgres))
	err = r.wait(ctx, s, nil, nil)
	return errors.Join(err, r.shutdown(s, nil))
}
