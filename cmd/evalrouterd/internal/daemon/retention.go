package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// expireEvery is how often a service looks for answers past their time.
const expireEvery = time.Hour

// expireAnswers drops raw answers past their retention, now and once an hour,
// until ctx ends. A failure waits for the next hour: pages and exports go by
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
		s.expireTraces(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
