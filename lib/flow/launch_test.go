package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// service is the little of the real one that a launch meets. It keeps its
// promises about keys: the same key gives the same run, a quote starts one.
type service struct {
	mu      sync.Mutex
	now     time.Time
	quotes  map[string]api.QuoteRecord
	runs    []api.RunRecord
	byKey   map[string]string
	submits int

	blind     bool      // lists no runs, so that the journal alone must do
	rate      usd.Micro // the input price of new quotes
	lose      int       // answers to submissions that get lost
	refuse    []error   // answers instead of the next submissions
	onSubmit  func()    // what happens just before a submission takes effect
	afterward func()    // and just after
}

func newService() *service {
	return &service{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), quotes: map[string]api.QuoteRecord{}, byKey: map[string]string{}, rate: 1000}
}

func (s *service) Create(_ context.Context, in api.NewQuote) (api.QuoteRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	least, rate := usd.Micro(100), s.rate
	q := api.QuoteRecord{
		ID: fmt.Sprintf("q%d", len(s.quotes)+1), CreatedAt: s.now, ExpiresAt: s.now.Add(30 * time.Minute), ExpiresIn: 1800, Status: "open",
		MaxChargeMicrousd: in.MaxChargeMicrousd, MinimumCapMicrousd: &least, Compatibility: api.Compatibility{OK: true}, Preview: in.Preview,
		Reasoning: in.Reasoning,
		Plan: api.QuotePlan{
			Coverage: *in.Coverage, Profiles: []api.ProfileSelection{{ID: in.Selection.ProfileIDs[0]}},
			Model: api.Model{Selected: &api.SelectedModel{RouteID: &in.Model.RouteID}}, Pricing: &api.Pricing{InputMicrousd: &rate},
		},
	}
	s.quotes[q.ID] = q
	return q, nil
}

func (s *service) Submit(_ context.Context, in api.NewRun, key evalrouter.IdempotencyKey) (api.RunRecord, error) {
	if s.onSubmit != nil {
		s.onSubmit()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.submits++
	run, err := s.submit(in.QuoteID, string(key))
	if s.afterward != nil {
		s.afterward()
	}
	if s.lose > 0 {
		s.lose--
		lost := callError(api.NetworkError, 0)
		lost.Uncertain = true
		return api.RunRecord{}, lost
	}
	return run, err
}

func (s *service) submit(quoteID, key string) (api.RunRecord, error) {
	if id, ok := s.byKey[key]; ok {
		return s.find(id)
	}
	if len(s.refuse) > 0 {
		err := s.refuse[0]
		s.refuse = s.refuse[1:]
		return api.RunRecord{}, err
	}
	q, ok := s.quotes[quoteID]
	if !ok {
		return api.RunRecord{}, callError(api.NotFound, 404)
	}
	if q.RunID != nil {
		taken := callError(api.QuoteAlreadyAccepted, 409)
		taken.Details = map[string]any{"run_id": *q.RunID}
		return api.RunRecord{}, taken
	}
	run := api.RunRecord{
		ID: fmt.Sprintf("run%d", len(s.runs)+1), Status: api.StatusRunning, QuoteID: quoteID, CreatedAt: s.now, CapMicrousd: *q.MaxChargeMicrousd,
		Coverage: &q.Plan.Coverage, Profiles: q.Plan.Profiles, Model: q.Plan.Model, Reasoning: q.Reasoning,
	}
	s.runs, s.byKey[key] = append(s.runs, run), run.ID
	q.RunID, q.Status = &run.ID, "accepted"
	s.quotes[quoteID] = q
	return run, nil
}

func (s *service) find(id string) (api.RunRecord, error) {
	for _, r := range s.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return api.RunRecord{}, callError(api.NotFound, 404)
}

func (s *service) Get(_ context.Context, id string) (api.RunRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(id)
}

func (s *service) List(_ context.Context, in evalrouter.RunQuery) (api.Page[api.RunRecord], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page api.Page[api.RunRecord]
	for i := len(s.runs) - 1; i >= 0 && !s.blind; i-- {
		if r := s.runs[i]; r.Profiles[0].ID == in.ProfileID {
			page.Data = append(page.Data, r)
		}
	}
	return page, nil
}

// end finishes a run at the service's time.
func (s *service) end(i int) {
	at := s.now
	s.runs[i].Status, s.runs[i].FinishedAt = api.StatusCompleted, &at
}

// desk answers from a script and remembers what it was asked.
type desk struct {
	approve, repeat bool
	refuseChanged   bool
	cap             usd.Micro
	asked           []string
}

func (d *desk) Quoted(_ context.Context, q api.QuoteRecord) error {
	d.asked = append(d.asked, "quoted")
	return nil
}

func (d *desk) Cap(context.Context, api.QuoteRecord) (usd.Micro, error) {
	d.asked = append(d.asked, "cap")
	return d.cap, nil
}

func (d *desk) Approve(_ context.Context, _ api.QuoteRecord, before *api.QuoteRecord) (bool, error) {
	d.asked = append(d.asked, "approve")
	if before != nil && d.refuseChanged {
		return false, &flow.Error{Code: api.QuoteChanged}
	}
	return d.approve, nil
}

func (d *desk) Repeat(context.Context, api.RunRecord) (bool, error) {
	d.asked = append(d.asked, "repeat")
	return d.repeat, nil
}

func (d *desk) Note(string) {}

// during does something while a quote is shown.
type during struct {
	*desk
	then func()
}

func (d *during) Quoted(ctx context.Context, q api.QuoteRecord) error {
	d.then()
	return d.desk.Quoted(ctx, q)
}

// bench is a service, a state directory and a desk: everything around a launch
// that outlives one process.
type around struct {
	s    *service
	dir  string
	desk *desk
	disk flow.Disk
	now  time.Time
	keys *int
}

func newAround(t testing.TB) *around {
	return &around{s: newService(), dir: t.TempDir(), desk: &desk{approve: true, cap: usd.Dollar}, disk: flow.OS{}, now: time.Now(), keys: new(int)}
}

func (a *around) launcher() *flow.Launcher {
	now := func() time.Time { return a.now }
	return &flow.Launcher{
		Quotes: a.s, Runs: a.s, Journal: journal(a.dir, a.disk, now), Desk: a.desk, Now: now,
		NewKey: func() string { *a.keys++; return fmt.Sprintf("key%d", *a.keys) },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func order() flow.Order {
	n, seed, limit := 25, uint32(42), usd.Dollar
	c := api.Coverage{Mode: api.Sample, SampleCount: &n, Seed: &seed}
	m := api.ModelRef{Kind: api.ManagedKind, RouteID: "r"}
	return flow.Order{
		Request: flow.Request{Origin: "http://x", Workspace: "w", Kind: flow.RunKind, ProfileID: "a@1", Coverage: c, Cap: &limit, Models: []flow.ModelSetting{{Model: m}}},
		Quote:   api.NewQuote{Selection: api.Selection{ProfileIDs: []string{"a@1"}}, Model: m, Coverage: &c, MaxChargeMicrousd: &limit},
	}
}

func (a *around) launch(t *testing.T, o flow.Order) (flow.Launched, error) {
	t.Helper()
	return a.launcher().Launch(t.Context(), o)
}

func (a *around) mustLaunch(t *testing.T, o flow.Order) flow.Launched {
	t.Helper()
	got, err := a.launch(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	expired := callError(api.QuoteExpired, 410)
	tests := []struct {
		name  string
		do    func(t *testing.T, a *around)
		runs  int
		asked string
	}{
		{"starts a run after approval", func(t *testing.T, a *around) {
			if got := a.mustLaunch(t, order()); got.Existing || got.Run.ID != "run1" {
				t.Errorf("launched %+v", got)
			}
		}, 1, "quoted approve"},
		{"RUN-14 a no starts nothing", func(t *testing.T, a *around) {
			a.desk.approve = false
			if _, err := a.launch(t, order()); !errors.Is(err, api.ConfirmationDeclined) {
				t.Errorf("error %v", err)
			}
			if op, err := a.launcher().Journal.Peek(fingerprint(t, order())); op != nil || err != nil {
				t.Errorf("recorded %v, %v", op, err)
			}
		}, 0, "quoted approve"},
		{"RUN-38 without a cap a preview is shown before it is asked for", func(t *testing.T, a *around) {
			o := order()
			o.Quote.MaxChargeMicrousd, o.Request.Cap = nil, nil
			a.mustLaunch(t, o)
		}, 1, "quoted cap quoted approve"},
		{"a cap below the minimum is refused", func(t *testing.T, a *around) {
			o, small := order(), usd.Micro(99)
			o.Quote.MaxChargeMicrousd = &small
			if _, err := a.launch(t, o); !errors.Is(err, api.CapBelowMinimum) {
				t.Errorf("error %v", err)
			}
		}, 0, "quoted"},
		{"a repeat while the run is alive returns it and asks nothing", func(t *testing.T, a *around) {
			first := a.mustLaunch(t, order())
			a.desk.asked = nil
			if got := a.mustLaunch(t, order()); !got.Existing || got.Run.ID != first.Run.ID {
				t.Errorf("launched %+v", got)
			}
		}, 1, ""},
		{"also with another cap, where the journal does not help", func(t *testing.T, a *around) {
			a.mustLaunch(t, order())
			o, other := order(), 2*usd.Dollar
			o.Quote.MaxChargeMicrousd, o.Request.Cap = &other, &other
			a.desk.asked = nil
			if got := a.mustLaunch(t, o); !got.Existing {
				t.Errorf("launched %+v", got)
			}
		}, 1, "quoted"},
		{"RUN-42 a repeat of an ended run asks first", func(t *testing.T, a *around) {
			got := a.mustLaunch(t, order())
			a.s.end(0)
			got.Run.Status = api.StatusCompleted
			if err := a.launcher().Finish(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			a.desk.asked = nil
			if _, err := a.launch(t, order()); !errors.Is(err, api.ConfirmationDeclined) {
				t.Errorf("error %v", err)
			}
		}, 1, "repeat"},
		{"and starts after a yes", func(t *testing.T, a *around) {
			a.mustLaunch(t, order())
			a.s.end(0)
			a.desk.asked, a.desk.repeat = nil, true
			if got := a.mustLaunch(t, order()); got.Existing || got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 2, "repeat quoted approve"},
		{"one that the same command started meanwhile is followed, though it has ended", func(t *testing.T, a *around) {
			began := a.now
			a.now = a.now.Add(time.Millisecond)
			first := a.mustLaunch(t, order())
			a.s.end(0)
			a.desk.asked = nil
			l := a.launcher()
			l.Began = began
			if got, err := l.Launch(t.Context(), order()); err != nil || !got.Existing || got.Run.ID != first.Run.ID || got.Run.Status != api.StatusCompleted {
				t.Errorf("launched %+v, %v", got, err)
			}
		}, 1, ""},
		{"also when it is found only after the quote", func(t *testing.T, a *around) {
			l, began := a.launcher(), a.now
			l.Began = began
			l.Desk = &during{desk: a.desk, then: func() {
				a.now = a.now.Add(time.Millisecond)
				other := a.launcher()
				other.Desk = &desk{approve: true}
				if _, err := other.Launch(t.Context(), order()); err != nil {
					t.Error(err)
				}
				a.s.end(0)
			}}
			if got, err := l.Launch(t.Context(), order()); err != nil || !got.Existing || got.Run.ID != "run1" {
				t.Errorf("launched %+v, %v", got, err)
			}
		}, 1, "quoted"},
		{"but separate work is separate", func(t *testing.T, a *around) {
			began := a.now
			a.now = a.now.Add(time.Millisecond)
			a.mustLaunch(t, order())
			a.s.end(0)
			o := order()
			o.New = true
			l := a.launcher()
			l.Began = began
			if got, err := l.Launch(t.Context(), o); err != nil || got.Existing {
				t.Errorf("launched %+v, %v", got, err)
			}
		}, 2, "quoted approve quoted approve"},
		{"ten minutes later it is a new wish", func(t *testing.T, a *around) {
			got := a.mustLaunch(t, order())
			a.s.end(0)
			if err := a.launcher().Finish(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			a.now, a.s.now, a.desk.asked = a.now.Add(11*time.Minute), a.s.now.Add(11*time.Minute), nil
			a.mustLaunch(t, order())
		}, 2, "quoted approve"},
		{"an ended run of another machine is asked about", func(t *testing.T, a *around) {
			a.mustLaunch(t, order())
			a.s.end(0)
			a.dir, a.desk.asked = t.TempDir(), nil
			if _, err := a.launch(t, order()); !errors.Is(err, api.ConfirmationDeclined) {
				t.Errorf("error %v", err)
			}
		}, 1, "quoted repeat"},
		{"REC-06 new starts separate work", func(t *testing.T, a *around) {
			a.mustLaunch(t, order())
			o := order()
			o.New = true
			a.desk.asked = nil
			if got := a.mustLaunch(t, o); got.Existing || got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 2, "quoted approve"},
		{"REC-05 a lost answer is recovered by the next process", func(t *testing.T, a *around) {
			a.s.lose = 1000
			_, err := a.launch(t, order())
			var e *flow.Error
			if !errors.As(err, &e) || e.IdempotencyKey != "key1" {
				t.Fatalf("error %v does not carry the key", err)
			}
			a.s.lose, a.desk.asked = 0, nil
			if got := a.mustLaunch(t, order()); got.Run.ID != "run1" {
				t.Errorf("launched %+v", got)
			}
		}, 1, ""},
		{"a lost answer of new is recovered by new", func(t *testing.T, a *around) {
			a.mustLaunch(t, order())
			o := order()
			o.New = true
			a.s.lose = 1000
			if _, err := a.launch(t, o); err == nil {
				t.Fatal("no error")
			}
			a.s.lose = 0
			if got := a.mustLaunch(t, o); got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 2, "quoted approve quoted approve"},
		{"short of credit keeps the quote", func(t *testing.T, a *around) {
			a.s.refuse = []error{callError(api.InsufficientCredit, 402)}
			if _, err := a.launch(t, order()); !errors.Is(err, api.InsufficientCredit) {
				t.Fatalf("error %v", err)
			}
			a.desk.asked = nil
			if got := a.mustLaunch(t, order()); got.Run.QuoteID != "q1" {
				t.Errorf("launched %+v", got.Run)
			}
		}, 1, ""},
		{"an expired quote with the same terms is replaced without a question", func(t *testing.T, a *around) {
			a.s.refuse = []error{expired}
			if got := a.mustLaunch(t, order()); got.Run.QuoteID != "q2" {
				t.Errorf("launched %+v", got.Run)
			}
		}, 1, "quoted approve"},
		{"with other terms it is asked again", func(t *testing.T, a *around) {
			a.s.refuse = []error{expired}
			a.s.onSubmit = func() { a.s.rate = 2000 }
			a.mustLaunch(t, order())
		}, 1, "quoted approve quoted approve"},
		{"and refused where nobody is", func(t *testing.T, a *around) {
			a.s.refuse, a.desk.refuseChanged = []error{callError(api.QuoteStale, 409)}, true
			a.s.onSubmit = func() { a.s.rate = 2000 }
			if _, err := a.launch(t, order()); !errors.Is(err, api.QuoteChanged) {
				t.Errorf("error %v", err)
			}
		}, 0, "quoted approve quoted approve"},
		{"quotes that keep dying end", func(t *testing.T, a *around) {
			a.s.refuse = []error{expired, expired, expired, expired}
			if _, err := a.launch(t, order()); !errors.Is(err, api.QuoteChanged) {
				t.Errorf("error %v", err)
			}
		}, 0, "quoted approve"},
		{"a definite refusal leaves no record", func(t *testing.T, a *around) {
			a.s.refuse = []error{callError(api.BudgetLimit, 422)}
			if _, err := a.launch(t, order()); !errors.Is(err, api.BudgetLimit) {
				t.Errorf("error %v", err)
			}
			if op, err := a.launcher().Journal.Peek(fingerprint(t, order())); op != nil || err != nil {
				t.Errorf("recorded %v, %v", op, err)
			}
		}, 0, "quoted approve"},
		{"a refused key keeps it: it proves nothing about the run", func(t *testing.T, a *around) {
			a.s.refuse = []error{callError(api.Unauthenticated, 401)}
			if _, err := a.launch(t, order()); !errors.Is(err, api.Unauthenticated) {
				t.Errorf("error %v", err)
			}
			if op, err := a.launcher().Journal.Peek(fingerprint(t, order())); op == nil || err != nil {
				t.Errorf("recorded %v, %v", op, err)
			}
		}, 0, "quoted approve"},
		{"a run that the service does not know any more is no obstacle", func(t *testing.T, a *around) {
			a.mustLaunch(t, order())
			a.s = newService()
			a.desk.asked = nil
			a.mustLaunch(t, order())
		}, 1, "quoted approve"},
		{"nor is a quote that it does not know", func(t *testing.T, a *around) {
			a.s.refuse = []error{callError(api.InsufficientCredit, 402)}
			if _, err := a.launch(t, order()); !errors.Is(err, api.InsufficientCredit) {
				t.Fatalf("error %v", err)
			}
			a.s = newService()
			a.desk.asked = nil
			a.mustLaunch(t, order())
		}, 1, "quoted approve"},
		{"REC-01 the key is on the disk before it is sent", func(t *testing.T, a *around) {
			fp := fingerprint(t, order())
			a.s.onSubmit = func() {
				op, err := a.launcher().Journal.Peek(fp)
				if err != nil || op == nil || op.IdempotencyKey != "key1" || op.State != flow.Accepted {
					t.Errorf("at the submission the journal held %+v, %v", op, err)
				}
			}
			a.mustLaunch(t, order())
		}, 1, "quoted approve"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAround(t)
			tt.do(t, a)
			if got := len(a.s.runs); got != tt.runs {
				t.Errorf("%d runs, want %d", got, tt.runs)
			}
			if got := strings.Join(a.desk.asked, " "); got != tt.asked {
				t.Errorf("asked %q, want %q", got, tt.asked)
			}
		})
	}
}

func fingerprint(t *testing.T, o flow.Order) string {
	t.Helper()
	fp, err := o.Request.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return fp
}

func TestLaunchRacing(t *testing.T) {
	t.Parallel()
	a := newAround(t)
	a.s.blind = true
	var wg sync.WaitGroup
	ids := make([]string, 20)
	var mu sync.Mutex
	for i := range ids {
		wg.Go(func() {
			l := a.launcher()
			l.Desk = &desk{approve: true}
			l.Sleep = func(ctx context.Context, d time.Duration) error { return sleep(ctx, time.Millisecond) }
			l.Journal.Sleep = l.Sleep
			l.NewKey = func() string {
				mu.Lock()
				defer mu.Unlock()
				*a.keys++
				return fmt.Sprintf("key%d", *a.keys)
			}
			got, err := l.Launch(t.Context(), order())
			if err != nil {
				t.Error(err)
			}
			ids[i] = got.Run.ID
		})
	}
	wg.Wait()
	if len(a.s.runs) != 1 || a.s.submits != 1 {
		t.Errorf("%d runs from %d submissions, want 1 from 1", len(a.s.runs), a.s.submits)
	}
	for i, id := range ids {
		if id != "run1" {
			t.Errorf("caller %d got %q", i, id)
		}
	}
}
