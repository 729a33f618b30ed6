package langsmith_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/checkpoint"
	"github.com/evalrouter/evalrouter/lib/api"
)

// The world is a project with its runs, a destination and a disk, on a clock
// that moves only when somebody waits. It plays the connector's whole life in
// one goroutine and counts what becomes of every run.

const lookback = 72 * time.Hour

// root is one root run as it really happens.
type root struct {
	id            string
	start, end    time.Time // as the client wrote them; end is zero if it never ends
	shown         time.Time // from when the source shows it
	closed        time.Time // from when the source shows its end
	totals        time.Time // from when the source knows its tokens
	children      int
	childrenShown time.Time // from when the source shows the last child
	tokens        int64
	broken        bool // one of its runs names a parent that never arrives
}

// visible is when the source shows it as it will remain.
func (r *root) visible() time.Time { return r.closed }

func (r *root) header(now time.Time) langsmith.Header {
	h := langsmith.Header{ID: r.id, Start: r.start, Status: api.TraceOpen, Tokens: -1}
	if !r.end.IsZero() && !now.Before(r.closed) {
		h.End, h.Status = r.end, api.TraceOK
		if !now.Before(r.totals) {
			h.Tokens = r.tokens
		}
	}
	return h
}

var errCrash = errors.New("the process is gone")

// passing is an error that may pass.
type passing struct{ after time.Duration }

func (passing) Error() string                       { return "the other side is busy" }
func (p passing) RetryAfter() (time.Duration, bool) { return p.after, true }

type world struct {
	rng   *rand.Rand
	now   time.Time
	epoch time.Time
	roots []*root // by start
	byID  map[string]*root
	page  int

	// steps counts the boundaries of steps. The process dies at crashAt.
	steps, crashAt int
	faults         float64 // chance that a request fails
	disk           []byte
	seq            int64
	fresh          int // size of the disk after the last rewrite

	stored    map[string]*stored
	final     map[string]bool // when its tree was last read, the source had nothing more to come
	requests  int
	duplicate int
	loads     int
}

// stored is what the destination has of one trace.
type stored struct {
	digest   string
	accepted int
	spans    int
	partial  bool
	first    time.Time
	wasFinal bool // the source had nothing more to show when it was first accepted
}

// newWorld spreads n roots over a span of time.
func newWorld(seed uint64, n int, span time.Duration) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 12)), page: 1000, byID: map[string]*root{}, stored: map[string]*stored{}, final: map[string]bool{},
		epoch: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	}
	w.now = w.epoch
	for i := range n {
		w.roots = append(w.roots, w.newRoot(i, span))
	}
	slices.SortFunc(w.roots, func(a, b *root) int { return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.id, b.id)) })
	for _, r := range w.roots {
		w.byID[r.id] = r
	}
	return w
}

// newRoot: 20 % of the clients have a clock that is up to 5 minutes off, 60 %
// of the runs are shown only when they end, 2 % run long, 0.2 % never end, 1 %
// arrive up to 2 hours late and 0.1 % up to a look-back after their start.
func (w *world) newRoot(i int, span time.Duration) *root {
	upTo := func(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }
	chance := func(p float64) bool { return w.rng.Float64() < p }
	really := w.epoch.Add(upTo(span))
	took := time.Duration(w.rng.ExpFloat64() * float64(20*time.Second))
	if chance(0.02) {
		took = time.Duration(w.rng.ExpFloat64() * float64(30*time.Minute))
	}
	took = min(took, 20*time.Hour)
	skew := time.Duration(0)
	if chance(0.2) {
		skew = upTo(10*time.Minute) - 5*time.Minute
	}
	r := &root{
		id: fmt.Sprintf("%08x-0000-4000-8000-%012x", w.rng.Uint32(), i), start: really.Add(skew).Truncate(time.Millisecond),
		children: w.rng.IntN(3), tokens: int64(w.rng.IntN(10_000)), broken: chance(0.001),
	}
	ended := really.Add(took)
	r.end = ended.Add(skew).Truncate(time.Millisecond)
	late := time.Second
	switch {
	case chance(0.01):
		late = upTo(2 * time.Hour)
	case chance(0.001):
		late = upTo(lookback - took - 15*time.Minute) // the clock may be 5 minutes off
	}
	r.closed = ended.Add(late)
	r.shown = r.closed
	if late <= time.Second && chance(0.4) {
		r.shown = really.Add(time.Second)
	}
	if chance(0.002) { // the client died
		r.end, r.shown, r.closed = time.Time{}, really.Add(time.Second), time.Time{}
	}
	r.totals = r.closed.Add(upTo(2 * time.Minute))
	r.childrenShown = r.closed.Add(upTo(45 * time.Second))
	return r
}

// step is a boundary between two steps, at which the process may die.
func (w *world) step() error {
	w.steps++
	if w.crashAt > 0 && w.steps >= w.crashAt {
		w.crashAt = 0
		return errCrash
	}
	return nil
}

// request takes its time and may fail, before it has an effect or after it.
func (w *world) request(effect func()) error {
	if err := w.step(); err != nil {
		return err
	}
	w.requests++
	w.now = w.now.Add(time.Duration(50+w.rng.IntN(100)) * time.Millisecond)
	if w.faults > 0 && w.rng.Float64() < w.faults {
		if w.rng.IntN(2) == 0 {
			effect()
		}
		return passing{time.Duration(w.rng.IntN(3)) * time.Second}
	}
	effect()
	return w.step()
}

// Now is the clock of the source, Sleep the only thing that lets time pass.
func (w *world) Now() time.Time { return w.now }

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	w.now = w.now.Add(d)
	return ctx.Err()
}

// Roots lists the newest first, as version 2 of the interface does.
func (w *world) Roots(_ context.Context, q langsmith.Query) (page langsmith.Page, err error) {
	err = w.request(func() {
		if len(q.IDs) > 0 {
			for _, id := range q.IDs {
				if r := w.byID[id]; r != nil && !w.now.Before(r.shown) && !r.start.Before(q.Min) && !r.start.After(q.Max) {
					page.Items = append(page.Items, r.header(w.now))
				}
			}
			return
		}
		at := sort.Search(len(w.roots), func(i int) bool { return w.roots[i].start.After(q.Max) })
		if q.Cursor != "" {
			fmt.Sscan(q.Cursor, &at)
		}
		for at--; at >= 0 && !w.roots[at].start.Before(q.Min); at-- {
			if r := w.roots[at]; !w.now.Before(r.shown) {
				page.Items = append(page.Items, r.header(w.now))
			}
			if len(page.Items) == w.page {
				page.Next = fmt.Sprint(at)
				return
			}
		}
	})
	return page, err
}

// Tree shows the runs of a trace that the source has so far.
func (w *world) Tree(_ context.Context, h langsmith.Header, visit func(langsmith.Run) error) error {
	var runs []langsmith.Run
	err := w.request(func() {
		r := w.byID[h.ID]
		top := r.header(w.now)
		whole := langsmith.Run{ID: r.id, Order: "a", Type: "chain", Name: "root", Status: top.Status, Start: r.start, End: top.End}
		if top.Tokens >= 0 {
			whole.InputTokens = &top.Tokens
		}
		runs = append(runs, whole)
		w.final[h.ID] = !r.end.IsZero() && !w.now.Before(later(r.totals, r.childrenShown))
		shown := r.children
		if w.now.Before(r.childrenShown) {
			shown /= 2
		}
		for i := range shown {
			c := langsmith.Run{ID: fmt.Sprintf("%s-%d", r.id, i), ParentID: r.id, Order: fmt.Sprint("a.", i), Type: "llm", Name: "step", Status: api.TraceOK, Start: r.start, End: r.start.Add(time.Second)}
			if i == 0 && r.broken {
				c.ParentID = "nobody"
			}
			runs = append(runs, c)
		}
		w.rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	})
	for _, r := range runs {
		err = errors.Join(err, visit(r))
	}
	return err
}

// Import keeps one revision of a trace and counts what it accepts.
func (w *world) Import(_ context.Context, key string, traces []api.ImportedTrace) (res api.TraceImportResult, err error) {
	err = w.request(func() {
		for _, t := range traces {
			s := w.stored[t.SourceTraceID]
			if s == nil {
				s = &stored{first: w.now, wasFinal: w.final[t.SourceTraceID]}
				w.stored[t.SourceTraceID] = s
			}
			if s.digest == t.Digest {
				res.Duplicates++
				w.duplicate++
				continue
			}
			res.Accepted++
			s.digest, s.spans, s.partial = t.Digest, len(t.Spans), t.Completeness == api.TracePartial
			s.accepted++
		}
	})
	return res, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Save appends to the disk. A crash in it may leave a part of the record.
func (w *world) Save(c langsmith.Change, whole func(func(langsmith.Change) bool)) error {
	if err := w.step(); err != nil {
		return err
	}
	if len(w.disk) == 0 {
		w.disk = append(w.disk, checkpoint.Schema+"\n"...)
	}
	before := len(w.disk)
	var err error
	if w.disk, err = checkpoint.AppendRecord(w.disk, w.seq+1, c); err != nil {
		return err
	}
	if err := w.step(); err != nil {
		w.disk = w.disk[:before+w.rng.IntN(len(w.disk)-before+1)]
		return err
	}
	w.seq++
	if len(w.disk) > 1<<20 && len(w.disk) > 2*w.fresh {
		w.rewrite(whole)
	}
	return w.step()
}

func (w *world) rewrite(whole func(func(langsmith.Change) bool)) {
	w.disk, w.seq = append(w.disk[:0], checkpoint.Schema+"\n"...), 0
	whole(func(c langsmith.Change) bool {
		w.seq++
		w.disk, _ = checkpoint.AppendRecord(w.disk, w.seq, c)
		return true
	})
	w.fresh = len(w.disk)
}

// load is what a new process finds.
func (w *world) load() (*langsmith.State, error) {
	s, seq, size, err := checkpoint.Replay(bytes.NewReader(w.disk))
	if err != nil {
		return nil, err
	}
	w.disk, w.seq = w.disk[:size], seq
	w.loads++
	if s.Since.IsZero() {
		since := w.epoch.Add(-time.Hour)
		s.Apply(langsmith.Change{Since: &since})
	}
	return s, nil
}

// play runs the connector until end, with a new process after every crash.
// next says after how many boundaries the coming process dies, 0 for never.
func (w *world) play(cfg langsmith.Config, end time.Time, next func() int) error {
	for w.now.Before(end) {
		state, err := w.load()
		if err != nil {
			return err
		}
		w.crashAt = 0
		if n := next(); n > 0 {
			w.crashAt = w.steps + n
		}
		cfg.Chance = w.rng.Float64
		s := langsmith.New(cfg, state, w, w, w, w)
		for err == nil && w.now.Before(end) {
			began := w.now
			if err = s.Poll(context.Background()); err == nil {
				w.now = later(w.now, began.Add(30*time.Second))
			} else if errors.As(err, &passing{}) {
				err, w.now = nil, w.now.Add(30*time.Second)
			}
		}
		if err != nil && !errors.Is(err, errCrash) {
			return err
		}
		w.now = w.now.Add(10 * time.Second) // the supervisor
	}
	return nil
}

// verdict is what a whole history came to.
type verdict struct {
	Roots, Ended, Stored int
	Missed               []string
	Twice                []string // accepted again although the source had nothing new
	Incomplete           []string // stored without all of its runs although they came
	Duplicates           int
	P50, P99, Max        time.Duration
	Requests             int
	Loads                int
}

func (w *world) verdict() verdict {
	v := verdict{Roots: len(w.roots), Stored: len(w.stored), Duplicates: w.duplicate, Requests: w.requests, Loads: w.loads}
	var lags []time.Duration
	for _, r := range w.roots {
		if r.end.IsZero() {
			continue
		}
		v.Ended++
		s := w.stored[r.id]
		if s == nil {
			v.Missed = append(v.Missed, r.id)
			continue
		}
		lags = append(lags, s.first.Sub(r.visible()))
		if s.accepted > 1 && s.wasFinal {
			v.Twice = append(v.Twice, r.id)
		}
		if s.spans != r.children+1 || s.partial && !(r.broken && r.children > 0) {
			v.Incomplete = append(v.Incomplete, r.id)
		}
	}
	slices.Sort(lags)
	if n := len(lags); n > 0 {
		v.P50, v.P99, v.Max = lags[n/2], lags[n*99/100], lags[n-1]
	}
	return v
}

func (v verdict) String() string {
	b, _ := json.Marshal(map[string]int{"missed": len(v.Missed), "twice": len(v.Twice), "incomplete": len(v.Incomplete)})
	return fmt.Sprintf("%d roots, %d ended, %d stored, %s, %d repeated deliveries, lag p50 %s p99 %s max %s, %d requests, %d loads",
		v.Roots, v.Ended, v.Stored, b, v.Duplicates, v.P50.Round(time.Second), v.P99.Round(time.Second), v.Max.Round(time.Second), v.Requests, v.Loads)
}
