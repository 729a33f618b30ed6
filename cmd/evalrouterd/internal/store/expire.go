package store

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// expireTasks is how many tasks' answers go in one transaction.
const expireTasks = 1000

// ExpireAnswers drops the raw answers of runs that began at or before a time
// and have ended. What they were made of stays: hash, size, usage, score. It
// returns how many runs were gone through; a call that was cut off is taken up
// by the next one.
func (s *Store) ExpireAnswers(ctx context.Context, began core.Micros) (int, error) {
	done := 0
	for ctx.Err() == nil {
		run, planned, ok, err := s.oldest(ctx, began)
		if err != nil {
			return done, err
		}
		if !ok {
			return done, s.emptyLog(ctx)
		}
		if err := s.expire(ctx, run, planned); err != nil {
			return done, fmt.Errorf("expire the answers of run %s: %w", run, err)
		}
		done++
	}
	return done, ctx.Err()
}

// emptyLog drops what the write-ahead log still holds of dropped answers.
func (s *Store) emptyLog(ctx context.Context) error {
	if s.dialect.empty == nil {
		return nil
	}
	return s.dialect.empty(ctx, s.read)
}

// oldest is the first run that began at or before a time, has ended and still
// has answers.
func (s *Store) oldest(ctx context.Context, began core.Micros) (run core.RunID, planned int, ok bool, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, planned FROM runs WHERE raw_expired = 0 AND created_at <= $1
		AND state IN ('completed', 'partial', 'failed', 'cancelled') ORDER BY created_at LIMIT 1`, int64(began))
	if err != nil {
		return "", 0, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return "", 0, false, rows.Err()
	}
	return run, planned, true, rows.Scan(&run, &planned)
}

func (s *Store) expire(ctx context.Context, run core.RunID, planned int) error {
	for from := 0; from < planned; from += expireTasks {
		err := s.writer.do(ctx, func(t *tx) error {
			_, err := t.exec(`UPDATE blobs SET codec = 'expired', data = NULL WHERE call_id IN
				(SELECT id FROM calls WHERE run = `+numOf(1)+` AND idx >= $2 AND idx < $3) AND codec <> 'expired'`, string(run), from, from+expireTasks)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.writer.do(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE runs SET raw_expired = 1 WHERE id = $1`, string(run))
		return err
	})
}
