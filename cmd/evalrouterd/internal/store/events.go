package store

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/scribe"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// event appends to a run's log. The sequence comes from the run's row, so the
// order of commits is the order of sequences, without gaps. Every event
// carries the run's money at that moment.
func (t *tx) event(run core.RunID, kind string, data map[string]any) error {
	return t.change(run, func(a *account) error {
		a.now.nextSeq++
		return t.insertEvent(run, a.now.nextSeq-1, kind, a.now.charged+a.now.metered, a.now.reserved, data)
	})
}

func (t *tx) insertEvent(run core.RunID, seq int64, kind string, spend, reserved usd.Micro, data map[string]any) error {
	if data == nil {
		data = map[string]any{}
	}
	data["spend_microusd"], data["reserved_microusd"] = spend.Wire(), reserved.Wire()
	doc, err := scribe.Object(nil, data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	num, err := t.num(run)
	if err != nil {
		return err
	}
	return t.add(intoEvents, []any{int64(t.now)}, num, seq, kind, string(doc))
}

// AppendEvent writes one event by itself.
func (s *Store) AppendEvent(ctx context.Context, run core.RunID, kind string, data map[string]any) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		return t.event(run, kind, copyData(data))
	})
}

func copyData(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+2)
	for k, v := range m {
		out[k] = v
	}
	return out
}
