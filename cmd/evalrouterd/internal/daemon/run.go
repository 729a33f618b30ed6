package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/front"
)

// run serves until a signal, the end of ctx or idleness, and then stops. web is
// nil for a process that answers nobody.
func (r *runner) run(ctx context.Context, s *service, web *front.Server, ready func() error, idle func(stop <-chan struct{})) error {
	uncollect, err := r.collect(ctx, s)
	if err == nil {
		defer uncollect()
		err = s.start(ctx)
	}
	if err != nil {
		if web != nil {
			web.Shutdown(ctx)
			err = errors.Join(err, web.Serve()) // closes the socket: it was shut down before
		}
		return errors.Join(err, s.stop(ctx))
	}
	var group sync.WaitGroup
	served := make(chan error, 1)
	if web != nil {
		group.Add(1)
		go func() { defer group.Done(); served <- web.Serve() }()
	}
	stop, wasIdle := make(chan struct{}), make(chan struct{})
	if idle != nil {
		group.Add(1)
		go func() {
			defer group.Done()
			idle(stop)
			close(wasIdle)
		}()
	}
	sweep, stopSweep := context.WithCancel(context.Background())
	defer stopSweep()
	var sweeping sync.WaitGroup
	sweeping.Add(1)
	go func() { defer sweeping.Done(); s.expireAnswers(sweep) }()
	if err = ready(); err == nil {
		r.notify("READY=1")
		err = r.wait(ctx, s, served, wasIdle)
	}
	close(stop)
	stopSweep()
	sweeping.Wait() // it uses the database, which shutdown closes
	err = errors.Join(err, r.shutdown(s, web))
	group.Wait()
	return err
}

// wait returns when the service should end: nil for every ordinary reason.
func (r *runner) wait(ctx context.Context, s *service, served <-chan error, idle <-chan struct{}) error {
	select {
	case <-s.store.Replaced():
		return &refusal{code: "database_replaced", status: exitFailed, message: "the database was replaced by another one, by a failover or a restored backup; no call begins. Start evalrouterd again: it says what was stopped"}
	case sig := <-r.sys.Signals:
		r.log.Info("stopping", "signal", sig.String())
	case <-ctx.Done():
	case <-idle:
		r.log.Info("stopping: idle")
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// shutdown ends the process in order. No call begins, and no request that would
// begin one is taken; everything else is answered while calls in flight are
// waited for. Then the socket closes, last requests are answered, and the
// database closes. A second signal ends every wait.
func (r *runner) shutdown(s *service, web *front.Server) error {
	hurry, cancel := context.WithCancel(context.Background())
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	defer close(done)
	group.Add(1)
	go func() {
		defer group.Done()
		select {
		case <-r.sys.Signals:
			cancel()
		case <-done:
		}
	}()
	r.notify("STOPPING=1")
	s.ending.Store(true)
	if web != nil {
		web.Drain()
	}
	grace, end := context.WithTimeout(hurry, r.grace)
	defer end()
	err := s.quiesce(grace)
	if web != nil {
		web.Shutdown(hurry)
	}
	r.log.Info("stopped", "commits", s.store.Commits())
	return errors.Join(err, s.finish(grace))
}

// waitIdle returns once nobody has asked and nothing has run for that long.
func (s *service) waitIdle(idle time.Duration, stop <-chan struct{}) {
	tick := time.NewTicker(max(min(idle/10, 30*time.Second), 10*time.Millisecond))
	defer tick.Stop()
	busy := time.Now()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			if s.engine.Active() > 0 || s.server.Pending() > 0 {
				busy = now
			}
			if last := s.server.LastRequest(); last.After(busy) {
				busy = last
			}
			if now.Sub(busy) >= idle {
				return
			}
		}
	}
}
