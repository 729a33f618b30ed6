package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const (
	// expireEvery is how often a service looks for answers past their time.
	expireEvery = time.Hour
	// uploadTime is how long a source may take to become whole, in microseconds.
	// What has come of it is on the operator's disk until then.
	uploadTime = 24 * 3600 * 1_000_000
)

// expireAnswers drops raw answers past their retention, uploads that nobody went
// on with, and what nobody can sign in with any more: now and once an hour, until
// ctx ends. A failure waits for the next hour: pages and exports go by
// the date, and show none of them in between.
func (s *service) expireAnswers(ctx context.Context) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		s.answers.Trim()
		began := s.store.Now() - core.RawDays*24*3600*1_000_000
		switch n, err := s.store.ExpireAnswers(ctx, began); {
		case err != nil && !errors.Is(err, context.Canceled):
			s.log.Warn("answers past their time were not dropped", "error", err.Error())
		case n > 0:
			s.log.Info("dropped answers past their time", "runs", n)
		}
		if err := s.store.Access().Sweep(ctx); err != nil && !errors.Is(err, context.Canceled) {
			s.log.Warn("tokens past their time were not dropped", "error", err.Error())
		}
		switch n, err := s.store.Private().Abandon(ctx, s.store.Now()-uploadTime); {
		case err != nil && !errors.Is(err, context.Canceled):
			s.log.Warn("abandoned uploads were not dropped", "error", err.Error())
		case n > 0:
			s.log.Info("dropped abandoned uploads", "sources", n)
		}
		s.expireTraces(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
