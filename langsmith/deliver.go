package langsmith

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Bounds of one request. A trace alone may be larger than batchBytes.
const (
	batchTraces = 64
	batchBytes  = 2 << 20
)

// parcel is a trace on its way.
type parcel struct {
	p     Pending
	trace api.ImportedTrace
	size  int
}

// deliver reads the trees of all roots that are ready and sends them in
// batches. A root is marked only when its batch was acknowledged.
func (s *Syncer) deliver(ctx context.Context) error {
	ready, _ := s.ready()
	var batch []parcel
	size := 0
	flush := func() error {
		err := s.send(ctx, batch)
		batch, size = batch[:0], 0
		return err
	}
	failures := 0
	for _, p := range ready {
		trace, n, err := s.fetch(ctx, p)
		if err != nil && passing(err) && failures == 0 && ctx.Err() == nil {
			// One tree that cannot be read must not keep the others waiting. Two in
			// a row are the source's trouble.
			failures++
			s.postpone(p, err)
			continue
		}
		if err != nil && passing(err) {
			return errors.Join(err, flush()) // what was read need not be read again
		}
		if err != nil {
			return err
		}
		failures = 0
		if n == 0 {
			continue
		}
		if len(batch) == batchTraces || size+n > batchBytes && len(batch) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, parcel{p, trace, n}), size+n
	}
	return flush()
}

// postpone puts a root off whose tree could not be read. After PendingMax it is
// given up.
func (s *Syncer) postpone(p Pending, err error) {
	now := s.src.Now()
	if now.Sub(p.DoneSeen) >= s.cfg.PendingMax {
		s.bury(p, Unreadable)
		return
	}
	p.Tries++
	p.Next = now.Add(min(time.Hour, time.Minute<<min(p.Tries, 6)))
	s.put(p)
	s.Note("the runs of trace %s cannot be read (%v); next try at %s", p.ID, err, p.Next.Format(time.TimeOnly))
}

// fetch reads the tree of p. A size of 0 says that there is nothing to send
// now: the tree is incomplete and will be read again, or it is gone.
func (s *Syncer) fetch(ctx context.Context, p Pending) (api.ImportedTrace, int, error) {
	b, err := attempt(ctx, s, func() (*builder, error) {
		b := newBuilder(s.redactor, p.header())
		return b, s.src.Tree(ctx, p.header(), func(r Run) error {
			b.add(r)
			return nil
		})
	})
	if errors.Is(err, ErrGone) {
		s.bury(p, Gone)
		return api.ImportedTrace{}, 0, nil
	}
	if err != nil {
		return api.ImportedTrace{}, 0, err
	}
	reasons := b.incomplete(p.Runs)
	now := s.src.Now()
	if len(reasons) > 0 && now.Sub(p.DoneSeen) < s.cfg.PartialAfter {
		p.Runs, p.Tries = max(p.Runs, b.runs), p.Tries+1
		p.Next = now.Add(min(4*time.Minute, 15*time.Second<<min(p.Tries, 4)))
		s.put(p)
		return api.ImportedTrace{}, 0, nil
	}
	if !p.header().Done() {
		reasons = append(reasons, NeverCompleted)
	}
	return b.build(reasons)
}

// send delivers a batch and makes its marks durable. A batch that is refused
// for its size is sent in halves.
func (s *Syncer) send(ctx context.Context, batch []parcel) error {
	if len(batch) == 0 {
		return nil
	}
	// In one order, so that an equal batch is an equal body under its key.
	slices.SortFunc(batch, func(a, b parcel) int { return compare(a.p.ID, b.p.ID) })
	traces := make([]api.ImportedTrace, 0, len(batch))
	for _, x := range batch {
		traces = append(traces, x.trace)
	}
	res, err := attempt(ctx, s, func() (api.TraceImportResult, error) {
		return s.dst.Import(ctx, batchKey(traces), traces)
	})
	if errors.Is(err, ErrTooLarge) {
		if half := len(batch) / 2; half > 0 {
			return errors.Join(s.send(ctx, batch[:half]), s.send(ctx, slices.Clone(batch[half:])))
		}
		res, err = api.TraceImportResult{Rejected: []api.TraceRejection{{SourceTraceID: traces[0].SourceTraceID, Code: api.RequestTooLarge}}}, nil
	}
	if err != nil {
		return err
	}
	if n := res.Accepted + res.Duplicates + len(res.Rejected); n != len(batch) {
		return fmt.Errorf("the destination answered for %d of %d traces; none was marked as delivered", n, len(batch))
	}
	return s.acknowledge(batch, res)
}

func (s *Syncer) acknowledge(batch []parcel, res api.TraceImportResult) error {
	rejected := map[string]api.Code{}
	for _, r := range res.Rejected {
		rejected[r.SourceTraceID] = r.Code
	}
	var c Change
	for _, x := range batch {
		c.Settled = append(c.Settled, x.p.ID)
		print := printOf(x.p.header())
		if code, ok := rejected[x.p.ID]; ok {
			c.Dead = append(c.Dead, Dead{ID: x.p.ID, Start: x.p.Start, Reason: string(code), Print: print})
			continue
		}
		c.Delivered = appendMark(c.Delivered, keyOf(x.p.ID), mark{x.p.Start.Unix(), print})
		if x.trace.Completeness == api.TracePartial {
			s.state.Stats.Partial++
		}
		if _, was := s.state.Dead[x.p.ID]; was {
			c.Revived = append(c.Revived, x.p.ID)
		}
	}
	s.state.Stats.Accepted += int64(res.Accepted)
	s.state.Stats.Duplicates += int64(res.Duplicates)
	s.state.Stats.Rejected += int64(len(res.Rejected))
	for _, x := range batch {
		delete(s.checked, x.p.ID)
	}
	return s.save(c)
}

// batchKey is the same for the same traces.
func batchKey(traces []api.ImportedTrace) string {
	h := sha256.New()
	for _, t := range traces {
		h.Write([]byte(t.SourceTraceID + " " + t.Digest + "\n"))
	}
	return "langsmith-" + hex.EncodeToString(h.Sum(nil))
}
