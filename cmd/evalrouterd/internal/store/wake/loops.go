package wake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// listen hears the others until Stop. While it has no connection nothing is
// heard; followers ask again by themselves, and workers look at their runs
// whenever they renew their leases.
func (w *Wake) listen() {
	for {
		err := w.hear()
		if w.ctx.Err() != nil {
			return
		}
		w.o.Log.Warn("nothing is heard from the other processes for a moment", "error", err.Error())
		if w.o.Sleep(w.ctx, listenAgain) != nil {
			return
		}
	}
}

func (w *Wake) hear() error {
	conn, err := pgx.ConnectConfig(w.ctx, w.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(w.ctx))
	if _, err := conn.Exec(w.ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(w.ctx)
		if err != nil {
			return err
		}
		word, run, ok := strings.Cut(n.Payload, " ")
		if ok {
			w.o.Heard(core.RunID(run), word == "ask")
		}
	}
}

// announce says what has grown.
func (w *Wake) announce() {
	for {
		select {
		case <-w.some:
		case <-w.ctx.Done():
			return
		}
		w.mu.Lock()
		words := make([]string, 0, len(w.grown))
		for run := range w.grown {
			words = append(words, "grown "+string(run))
		}
		clear(w.grown)
		w.mu.Unlock()
		if err := w.notify(w.ctx, words); err != nil && w.ctx.Err() == nil {
			w.o.Log.Debug("followers elsewhere were not told", "error", err.Error())
		}
		if w.o.Sleep(w.ctx, announceEvery) != nil {
			return
		}
	}
}

// sweepOn sweeps until Stop.
func (w *Wake) sweepOn() {
	for {
		if err := w.sweep(w.ctx); err != nil && !errors.Is(err, context.Canceled) {
			w.o.Log.Warn("runs without a worker were not looked for", "error", err.Error())
		}
		if w.o.Sleep(w.ctx, w.o.Sweep) != nil {
			return
		}
	}
}

// sweep makes jobs for runs that nobody works on, unless another process is at
// it.
func (w *Wake) sweep(ctx context.Context) error {
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // gives the lock back
	var mine bool
	var number int64
	err = tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1), (extract(epoch FROM clock_timestamp()) / $2)::bigint`, int64(sweepLock), w.o.Sweep.Seconds()).Scan(&mine, &number)
	if err != nil || !mine {
		return err
	}
	orphans, err := w.o.Orphans(ctx, orphansAtOnce)
	if err != nil || len(orphans) == 0 {
		return err
	}
	jobs := make([]river.InsertManyParams, len(orphans))
	for i, o := range orphans {
		jobs[i] = river.InsertManyParams{Args: tick{Run: o.Run, Workspace: o.Workspace, Sweep: number}}
	}
	if _, err := w.client.InsertMany(ctx, jobs); err != nil {
		return fmt.Errorf("make %d jobs: %w", len(jobs), err)
	}
	return nil
}
