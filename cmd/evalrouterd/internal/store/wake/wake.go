// Package wake lets the processes that share a PostgreSQL tell each other that
// there is something to look at.
//
// Nothing here is the record of anything. Work is derived from the state of
// runs; what this package carries may be lost, repeated or late without any
// effect on money or results.
//
//   - A job of River (kind run.tick) says that a run wants a worker. One of the
//     workers gets it and tries to claim the run; the claim decides, not the job.
//   - A notification says that a run's row was changed by a request, so that
//     its worker looks, or that its log has grown, so that followers look.
//   - A sweeper, one process at a time by an advisory lock, makes jobs for live
//     runs that nobody works on. It repairs whatever was lost and finds the runs
//     of a worker that died.
//
// A job is unique among those that wait or run, by run and sweep: a job that is
// stuck in a dead worker keeps its run waiting for one sweep, not until River
// rescues it.
//
// River is here for its tested fetching, fairness among workers and clean-up of
// its own rows; github.com/riverqueue/river is pinned because it is before 1.0.
package wake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Options of Open. All fields are required unless they say otherwise.
type Options struct {
	// Postgres is the address of the database.
	Postgres string
	// Take is told of a run that wants a worker and must not block; nil for a
	// process that works on none.
	Take func(core.WorkspaceID, core.RunID)
	// Heard is told of a run that changed: asked says that a request changed its
	// row, otherwise only its log has grown.
	Heard func(run core.RunID, asked bool)
	// Orphans lists live runs that nobody works on.
	Orphans func(ctx context.Context, limit int) ([]core.Claim, error)
	// Sweep is the time between two looks for orphans.
	Sweep time.Duration
	Sleep func(context.Context, time.Duration) error
	Log   *slog.Logger
}

// Wake is a connection to the other processes.
type Wake struct {
	o      Options
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu    sync.Mutex
	grown map[core.RunID]bool // logs to announce
	some  chan struct{}
}

const (
	channel = "evalrouter_runs"
	// Advisory locks: of whoever sweeps, and of whoever sets up River's tables.
	sweepLock = 0x6576_616c_0002
	setupLock = 0x6576_616c_0003
	// orphansAtOnce bounds one sweep.
	orphansAtOnce = 1000
	// announceEvery bounds how often growing logs are announced.
	announceEvery = 100 * time.Millisecond
	// listenAgain is the pause before a lost connection is made again.
	listenAgain = time.Second
	poolSize    = 6
)

// tick says that a run wants a worker. Sweep is 0 for a job that a request
// made.
type tick struct {
	Run       core.RunID       `json:"run"`
	Workspace core.WorkspaceID `json:"workspace"`
	Sweep     int64            `json:"sweep"`
}

// Kind names the job for River.
func (tick) Kind() string { return "run.tick" }

// InsertOpts makes the job unique while it waits or runs.
func (tick) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 100, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateScheduled, rivertype.JobStateRetryable,
	}}}
}

// taker works on ticks.
type taker struct {
	river.WorkerDefaults[tick]
	take func(core.WorkspaceID, core.RunID)
}

// Work hands the run over. It never fails: the claim decides what comes of it.
func (t taker) Work(_ context.Context, job *river.Job[tick]) error {
	t.take(job.Args.Workspace, job.Args.Run)
	return nil
}

// Open connects and brings River's tables up to date. Nothing is heard before
// Start.
func Open(ctx context.Context, o Options) (*Wake, error) {
	cfg, err := pgxpool.ParseConfig(o.Postgres)
	if err != nil {
		return nil, errors.New("the address is not a PostgreSQL URL that can be read") // the error would repeat the password
	}
	cfg.MaxConns = poolSize
	for k, v := range map[string]string{"application_name": "evalrouterd wake", "statement_timeout": "10s", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "15s"} {
		cfg.ConnConfig.RuntimeParams[k] = v
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	w := &Wake{o: o, pool: pool, grown: map[core.RunID]bool{}, some: make(chan struct{}, 1)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if err := w.setUp(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return w, nil
}

func (w *Wake) setUp(ctx context.Context) error {
	log := slog.New(quiet{w.o.Log.Handler()})
	if err := w.migrate(ctx, log); err != nil {
		return fmt.Errorf("set up the queue's tables: %w", err)
	}
	cfg := &river.Config{Logger: log, JobTimeout: time.Minute, RescueStuckJobsAfter: 2 * time.Minute, FetchCooldown: 5 * time.Millisecond}
	if w.o.Take != nil {
		cfg.Workers = river.NewWorkers()
		river.AddWorker(cfg.Workers, taker{take: w.o.Take})
		cfg.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}}
	}
	client, err := river.NewClient(riverpgxv5.New(w.pool), cfg)
	if err != nil {
		return fmt.Errorf("make the queue's client: %w", err)
	}
	w.client = client
	return nil
}

// migrate sets up River's tables, one process at a time.
func (w *Wake) migrate(ctx context.Context, log *slog.Logger) error {
	conn, err := pgx.ConnectConfig(ctx, w.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // gives the lock back
	for _, q := range []string{"SET statement_timeout = '2min'", "SET lock_timeout = '2min'", fmt.Sprintf("SELECT pg_advisory_lock(%d)", int64(setupLock))} {
		if _, err := conn.Exec(ctx, q); err != nil {
			return err
		}
	}
	m, err := rivermigrate.New(riverpgxv5.New(w.pool), &rivermigrate.Config{Logger: log})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// Start begins to listen, to sweep, and to take runs where there is a Take.
func (w *Wake) Start() error {
	if w.o.Take != nil {
		if err := w.client.Start(w.ctx); err != nil {
			return fmt.Errorf("start the queue: %w", err)
		}
	}
	w.group.Go(w.listen)
	w.group.Go(w.announce)
	w.group.Go(w.sweepOn)
	return nil
}

// Leave takes no more runs. Those that were taken are not its concern.
func (w *Wake) Leave(ctx context.Context) error {
	if w.o.Take == nil {
		return nil
	}
	return w.client.Stop(ctx)
}

// Close says once more what wants a worker, for the runs that this process gave
// back, and then hears and says nothing.
func (w *Wake) Close(ctx context.Context) {
	if err := w.sweep(ctx); err != nil {
		w.o.Log.Warn("runs without a worker wait for the next sweep", "error", err.Error())
	}
	w.cancel()
	w.group.Wait()
	w.pool.Close()
}

// Ask says that a request has changed a run's row: the run wants a worker, or
// its worker should look. What cannot be said now is found by the sweeper and
// by the worker itself.
func (w *Wake) Ask(ctx context.Context, ws core.WorkspaceID, run core.RunID) {
	if _, err := w.client.Insert(ctx, tick{Run: run, Workspace: ws}, nil); err != nil {
		w.o.Log.Warn("no worker was woken; the sweeper will", "run_id", string(run), "error", err.Error())
	}
	if err := w.notify(ctx, []string{"ask " + string(run)}); err != nil {
		w.o.Log.Warn("the run's worker was not told; it will look by itself", "run_id", string(run), "error", err.Error())
	}
}

func (w *Wake) notify(ctx context.Context, words []string) error {
	_, err := w.pool.Exec(ctx, `SELECT pg_notify($1, word) FROM unnest($2::text[]) AS word`, channel, words)
	return err
}

// Grown says that a run's log has grown. It returns at once, and what is said
// within a moment is said together.
func (w *Wake) Grown(run core.RunID) {
	w.mu.Lock()
	w.grown[run] = true
	w.mu.Unlock()
	select {
	case w.some <- struct{}{}:
	default:
	}
}

// quiet keeps the queue's own news out of the log, and its troubles in it.
type quiet struct{ slog.Handler }

// Enabled drops everything below a warning.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}
