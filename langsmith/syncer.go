package langsmith

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/lib/redact"
)

// Tier is a part of the past that is read again every so often.
type Tier struct {
	Span  time.Duration
	Every time.Duration
}

// Config says what to import and how patiently. Zero values mean the defaults
// in brackets.
type Config struct {
	// Until ends a back-fill: roots that started after it are left alone. Zero
	// is no end.
	Until time.Time
	// Lookback is how long after its start a root may become visible (72 h).
	Lookback time.Duration
	// Settle is how long a root must have been over (60 s).
	Settle time.Duration
	// Poll is the pause between two polls (30 s).
	Poll time.Duration
	// PendingMax is how long a root may go on before it is given up (72 h).
	PendingMax time.Duration
	// PartialAfter is how long a tree may be incomplete after its root was seen
	// to have ended before it is sent as it is (10 min).
	PartialAfter time.Duration
	// Tiers are the parts that are read again, the narrowest first (15 min at
	// every poll, 2 h every minute, 12 h every 10 min, Lookback every 6 h).
	Tiers []Tier
	// IncludeIncomplete sends a root that never ended instead of giving it up.
	IncludeIncomplete bool
	// Attempts is how often one request is made before the poll fails (6).
	Attempts int
	// Chance is a random number in [0,1), for waits.
	Chance func() float64
	// Redact are the rules for content.
	Redact redact.Config
}

// Skewed is how far ahead of the source's clock a client's may be and its runs
// be found at once. Later ones are found when that time has come.
const Skewed = 10 * time.Minute

// windowSlack lets one window hold the look-back and what passes between two
// readings of it.
const windowSlack = 7 * time.Hour

// Syncer moves runs. It is used by one goroutine.
type Syncer struct {
	cfg      Config
	src      Source
	dst      Destination
	store    Store
	clock    Clock
	redactor *redact.Redactor
	state    *State

	read    []time.Time          // by tier: when it or a wider one was last read
	checked map[string]time.Time // by pending id: when the source was last asked
	window  time.Duration        // how much of the past one scan may cover
	saved   time.Time            // when the state was last saved
	// What waits for the next save: pending roots that changed, ids that are
	// not pending any more, and roots that were given up. written are the
	// pending roots that the store has.
	changed map[string]bool
	settled []string
	dead    []Dead
	written map[string]bool
	// failing counts polls that failed in a row.
	failing int
	// Note, if set, is told about waits and errors.
	Note func(format string, args ...any)
}

// New makes a syncer that continues from state. Identity and Since must be set
// in it.
func New(cfg Config, state *State, src Source, dst Destination, store Store, clock Clock) *Syncer {
	cfg.Lookback = cmp.Or(cfg.Lookback, 72*time.Hour)
	cfg.Settle = cmp.Or(cfg.Settle, time.Minute)
	cfg.Poll = cmp.Or(cfg.Poll, 30*time.Second)
	cfg.PendingMax = cmp.Or(cfg.PendingMax, 72*time.Hour)
	cfg.PartialAfter = cmp.Or(cfg.PartialAfter, 10*time.Minute)
	cfg.Attempts = cmp.Or(cfg.Attempts, 6)
	if cfg.Tiers == nil {
		cfg.Tiers = []Tier{{15 * time.Minute, 0}, {2 * time.Hour, time.Minute}, {12 * time.Hour, 10 * time.Minute}}
	}
	cfg.Tiers = append(append([]Tier{}, cfg.Tiers...), Tier{cfg.Lookback, 6 * time.Hour})
	if cfg.Chance == nil {
		cfg.Chance = func() float64 { return 0.5 }
	}
	written := map[string]bool{}
	for id := range state.Pending {
		written[id] = true
	}
	return &Syncer{
		changed: map[string]bool{}, written: written,
		cfg: cfg, src: src, dst: dst, store: store, clock: clock, state: state, redactor: redact.New(cfg.Redact),
		read: make([]time.Time, len(cfg.Tiers)), checked: map[string]time.Time{}, window: cfg.Lookback + windowSlack,
		Note: func(string, ...any) {},
	}
}

// State is what is known now. It changes with the next call.
func (s *Syncer) State() *State { return s.state }

// Watch polls until ctx ends, which is no error, or until something fails that
// waiting does not cure.
func (s *Syncer) Watch(ctx context.Context) error {
	for {
		began := s.clock.Now()
		err := s.Poll(ctx)
		pause := began.Add(s.cfg.Poll).Sub(s.clock.Now())
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !passing(err):
			return err
		case err != nil:
			s.failing++
			pause = s.backoff(s.failing+4, err) // a whole series of attempts has failed already
			s.Note("poll failed: %v; next try in %s", err, pause.Round(time.Second))
		default:
			s.failing = 0
		}
		if pause > 0 && s.clock.Sleep(ctx, pause) != nil {
			return nil
		}
	}
}

// Poll reads what is due, asks after the pending runs and delivers what is
// ready.
func (s *Syncer) Poll(ctx context.Context) error {
	if err := s.scanDue(ctx); err != nil {
		return err
	}
	if err := s.watchPending(ctx); err != nil {
		return err
	}
	if err := s.deliver(ctx); err != nil {
		return err
	}
	s.state.Stats.LastPoll = s.src.Now()
	s.state.Stats.LastError, s.state.Stats.ThrottledUntil = "", time.Time{}
	if len(s.settled)+len(s.dead) > 0 || s.clock.Now().Sub(s.saved) >= 5*time.Minute {
		return s.save(Change{})
	}
	return nil
}

// keepAfter is how old a pending root must be to be worth a record. A younger
// one is found again by the first scan of the next process, which begins at
// the horizon.
const keepAfter = 10 * time.Minute

// save applies c and makes it durable together with all changes that wait. The
// waiting ones were applied already: losing them costs reading again. After an
// error the syncer must not be used: what it holds is ahead of the store.
func (s *Syncer) save(c Change) error {
	s.state.Apply(c)
	d := c
	d.Dead = append(s.dead, c.Dead...)
	d.Settled = nil
	for _, id := range append(s.settled, c.Settled...) {
		if s.written[id] {
			d.Settled = append(d.Settled, id)
			delete(s.written, id)
		}
	}
	now := s.src.Now()
	for id := range s.changed {
		p, ok := s.state.Pending[id]
		if ok && !p.Start.Before(s.state.Horizon) && now.Sub(p.FirstSeen) < keepAfter {
			continue
		}
		delete(s.changed, id)
		if ok {
			d.Pending = append(d.Pending, p)
			s.written[id] = true
		}
	}
	slices.SortFunc(d.Pending, func(a, b Pending) int { return compare(a.ID, b.ID) })
	stats := s.state.Stats
	d.Stats = &stats
	if err := s.store.Save(d, s.state.Whole); err != nil {
		return err
	}
	s.settled, s.dead, s.saved = nil, nil, s.clock.Now()
	return nil
}

// put files a pending root.
func (s *Syncer) put(p Pending) {
	s.state.Pending[p.ID] = p
	s.changed[p.ID] = true
}

// drop takes a root off the list of pending ones.
func (s *Syncer) drop(id string) {
	delete(s.state.Pending, id)
	delete(s.checked, id)
	s.settled = append(s.settled, id)
}

// bury gives a pending root up.
func (s *Syncer) bury(p Pending, reason string) {
	d := Dead{ID: p.ID, Start: p.Start, Reason: reason, Print: printOf(p.header())}
	s.state.Dead[p.ID] = d
	s.dead = append(s.dead, d)
	s.drop(p.ID)
}

// passing says that an error may pass by itself.
func passing(err error) bool {
	var r Retryable
	if !errors.As(err, &r) {
		return false
	}
	_, ok := r.RetryAfter()
	return ok
}

const longestWait = 5 * time.Minute

// backoff is the wait after n failures: what the other side asked for, or 1 s
// doubled n times with half of it left to chance, at most 5 minutes.
func (s *Syncer) backoff(n int, err error) time.Duration {
	d := longestWait
	if n < 9 {
		d = min(longestWait, time.Second<<n)
	}
	d = d/2 + time.Duration(s.cfg.Chance()*float64(d/2))
	var r Retryable
	if errors.As(err, &r) {
		if asked, _ := r.RetryAfter(); asked > d {
			d = asked
		}
	}
	return d
}

// attempt makes a request again while its error may pass.
func attempt[T any](ctx context.Context, s *Syncer, f func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		v, err := f()
		if err == nil || !passing(err) || n+1 >= s.cfg.Attempts || ctx.Err() != nil {
			return v, err
		}
		wait := s.backoff(n, err)
		s.state.Stats.LastError = err.Error()
		if s.state.Stats.ThrottledUntil = s.src.Now().Add(wait); wait >= 20*time.Second {
			s.Note("%v; waiting %s", err, wait.Round(time.Second))
			if err := s.save(Change{}); err != nil {
				return v, err
			}
		}
		if err := s.clock.Sleep(ctx, wait); err != nil {
			return v, err
		}
	}
}
