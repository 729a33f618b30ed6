package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// again is a service that also continues runs: each once, and with the consents
// that its plan asks for.
type again struct {
	*service
	plan api.ContinuationPlan
	// old is a service without continuations.
	old    bool
	of     map[string]string // quote to source
	next   map[string]string // run to its continuation
	bodies []api.NewRun
	asked  []string // runs that were quoted
}

func newAgain() *again {
	return &again{service: newService(), of: map[string]string{}, next: map[string]string{}, plan: api.ContinuationPlan{ReusedCells: 3, RerunCells: 2}}
}

func (s *again) newest(id string) string {
	for s.next[id] != "" {
		id = s.next[id]
	}
	return id
}

func (s *again) Continuation(_ context.Context, id string) (api.ContinuationStatus, error) {
	if s.old {
		return api.ContinuationStatus{}, callError(api.NotFound, 404)
	}
	run, err := s.find(s.newest(id))
	return api.ContinuationStatus{Supported: true, NewestRunID: run.ID, NewestStatus: run.Status}, err
}

func (s *again) ContinuationQuote(ctx context.Context, id string, in api.NewContinuationQuote) (api.QuoteRecord, error) {
	s.asked = append(s.asked, id)
	if s.next[id] != "" {
		return api.QuoteRecord{}, callError(api.ContinuationExists, 409)
	}
	q, err := s.service.Create(ctx, api.NewQuote{
		Coverage: &api.Coverage{}, Selection: api.Selection{ProfileIDs: []string{"a@1"}}, MaxChargeMicrousd: in.MaxChargeMicrousd, Preview: in.MaxChargeMicrousd == nil,
	})
	plan := s.plan
	plan.UnknownRetry.Selected = in.RetryUnknown && plan.UnknownRetry.Cells > 0
	q.Continuation = &plan
	s.quotes[q.ID], s.of[q.ID] = q, id
	return q, err
}

func (s *again) Submit(ctx context.Context, in api.NewRun, key evalrouter.IdempotencyKey) (api.RunRecord, error) {
	s.bodies = append(s.bodies, in)
	source := s.of[in.QuoteID]
	if _, known := s.byKey[string(key)]; !known && s.next[source] != "" {
		taken := callError(api.ContinuationExists, 409)
		taken.Details = map[string]any{"run_id": s.newest(source)}
		return api.RunRecord{}, taken
	}
	run, err := s.service.Submit(ctx, in, key)
	if id := s.byKey[string(key)]; id != "" {
		s.next[source] = id
	}
	return run, err
}

// kept reads quotes by their ids.
type kept struct{ s *again }

func (k kept) Get(_ context.Context, id string) (api.QuoteRecord, error) {
	q, ok := k.s.quotes[id]
	if !ok {
		return q, callError(api.NotFound, 404)
	}
	return q, nil
}

// clerk answers a resume's questions from a script.
type clerk struct {
	yes, leave bool
	attended   bool
	cap        usd.Micro
	asked      []string
}

func (c *clerk) say(s string) { c.asked = append(c.asked, s) }

func (c *clerk) Quoted(context.Context, api.QuoteRecord) error { c.say("quoted"); return nil }

func (c *clerk) Cap(context.Context, api.QuoteRecord) (usd.Micro, error) {
	c.say("cap")
	return c.cap, nil
}

func (c *clerk) LeaveOut(context.Context, api.QuoteRecord) (bool, error) {
	c.say("leave out")
	return c.leave, nil
}

func (c *clerk) Newest(_ context.Context, _ string, r api.RunRecord) error {
	c.say("newest " + r.ID)
	if !c.attended {
		return &flow.Error{Code: api.ContinuationExists, RunID: r.ID}
	}
	return nil
}

func (c *clerk) Approve(_ context.Context, _ api.QuoteRecord, anew bool) (bool, error) {
	c.say(map[bool]string{true: "approve anew", false: "approve"}[anew])
	return c.yes, nil
}

func (c *clerk) Note(string) {}

type resuming struct {
	s    *again
	c    *clerk
	dir  string
	keys int
}

// newResuming has one run that has ended.
func newResuming(t *testing.T) *resuming {
	r := &resuming{s: newAgain(), c: &clerk{yes: true, leave: true, attended: true, cap: usd.Dollar}, dir: t.TempDir()}
	at := r.s.now
	r.s.runs = append(r.s.runs, api.RunRecord{ID: "run1", Status: api.StatusPartial, FinishedAt: &at, Profiles: []api.ProfileSelection{{ID: "a@1"}}})
	return r
}

func (r *resuming) resumer() *flow.Resumer {
	return &flow.Resumer{
		Runs: r.s, Quotes: kept{r.s}, Journal: journal(r.dir, flow.OS{}, time.Now), Desk: r.c,
		NewKey: func() string { r.keys++; return fmt.Sprintf("key%d", r.keys) },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func resumeOrder(change func(*flow.ResumeOrder)) flow.ResumeOrder {
	limit := usd.Dollar
	o := flow.ResumeOrder{Origin: "http://x", Workspace: "w", Run: "run1", Quote: api.NewContinuationQuote{MaxChargeMicrousd: &limit}}
	if change != nil {
		change(&o)
	}
	return o
}

func (r *resuming) must(t *testing.T, o flow.ResumeOrder) flow.Launched {
	t.Helper()
	got, err := r.resumer().Resume(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *resuming) fails(t *testing.T, o flow.ResumeOrder, want api.Code) {
	t.Helper()
	if _, err := r.resumer().Resume(t.Context(), o); !errors.Is(err, want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	other := func(o *flow.ResumeOrder) { two := 2 * usd.Dollar; o.Quote.MaxChargeMicrousd = &two }
	tests := []struct {
		name    string
		do      func(t *testing.T, r *resuming)
		started int // continuations
		quoted  string
		asked   string
	}{
		{"RES-01 starts after a yes", func(t *testing.T, r *resuming) {
			if got := r.must(t, resumeOrder(nil)); got.Existing || got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 1, "run1", "quoted approve"},
		{"RES-13 a no starts nothing", func(t *testing.T, r *resuming) {
			r.c.yes = false
			r.fails(t, resumeOrder(nil), api.ConfirmationDeclined)
		}, 0, "run1", "quoted approve"},
		{"RES-10 without a cap it is asked for, after a preview", func(t *testing.T, r *resuming) {
			r.must(t, resumeOrder(func(o *flow.ResumeOrder) { o.Quote.MaxChargeMicrousd = nil }))
		}, 1, "run1 run1", "quoted cap quoted approve"},
		{"RES-15 a run that goes on is watched and never quoted", func(t *testing.T, r *resuming) {
			r.s.runs[0].Status = api.StatusRunning
			if got := r.must(t, resumeOrder(nil)); !got.Existing || got.Run.ID != "run1" {
				t.Errorf("launched %+v", got)
			}
		}, 0, "", ""},
		{"RES-67 a service without resume", func(t *testing.T, r *resuming) {
			r.s.old = true
			r.fails(t, resumeOrder(nil), api.FeatureUnavailable)
		}, 0, "", ""},
		{"RES-17 RES-18 a lost answer never starts a second run", func(t *testing.T, r *resuming) {
			r.s.lose = 100
			if _, err := r.resumer().Resume(t.Context(), resumeOrder(nil)); err == nil {
				t.Fatal("the answer was not lost")
			}
			r.s.lose, r.c.asked = 0, nil
			if got := r.must(t, resumeOrder(nil)); got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 1, "run1", ""},
		{"RES-19 after a top-up the same quote goes in", func(t *testing.T, r *resuming) {
			r.s.refuse = []error{callError(api.InsufficientCredit, 402)}
			r.fails(t, resumeOrder(nil), api.InsufficientCredit)
			r.c.asked = nil
			r.must(t, resumeOrder(nil))
			if a, b := r.s.bodies[0], r.s.bodies[1]; a.QuoteID != b.QuoteID {
				t.Errorf("submitted %s and then %s", a.QuoteID, b.QuoteID)
			}
		}, 1, "run1", ""},
		{"RES-20 an expired quote is replaced, and the same terms need no second yes", func(t *testing.T, r *resuming) {
			r.s.refuse = []error{callError(api.InsufficientCredit, 402), callError(api.QuoteExpired, 410)}
			r.fails(t, resumeOrder(nil), api.InsufficientCredit)
			r.c.asked = nil
			if got := r.must(t, resumeOrder(nil)); got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 1, "run1 run1", "quoted"},
		{"RES-21 other terms need it", func(t *testing.T, r *resuming) {
			r.s.refuse = []error{callError(api.InsufficientCredit, 402), callError(api.QuoteExpired, 410)}
			r.fails(t, resumeOrder(nil), api.InsufficientCredit)
			r.s.rate, r.c.asked = 2000, nil
			r.must(t, resumeOrder(nil))
		}, 1, "run1 run1", "quoted approve anew"},
		{"RES-22 another cap gets a fresh quote", func(t *testing.T, r *resuming) {
			r.s.refuse = []error{callError(api.InsufficientCredit, 402)}
			r.fails(t, resumeOrder(nil), api.InsufficientCredit)
			r.c.asked = nil
			r.must(t, resumeOrder(other))
		}, 1, "run1 run1", "quoted approve"},
		{"RES-23 and so does another choice about cancelled tasks", func(t *testing.T, r *resuming) {
			r.s.refuse = []error{callError(api.InsufficientCredit, 402)}
			r.fails(t, resumeOrder(nil), api.InsufficientCredit)
			r.c.asked = nil
			r.must(t, resumeOrder(func(o *flow.ResumeOrder) { o.Quote.IncludeCancelled = true }))
		}, 1, "run1 run1", "quoted approve"},
		{"RES-24 RES-27 a run that an earlier submission started is shown as it was accepted", func(t *testing.T, r *resuming) {
			r.must(t, resumeOrder(nil))
			r.c.asked = nil
			if got := r.must(t, resumeOrder(other)); !got.Existing || got.Run.ID != "run2" || got.Run.CapMicrousd != usd.Dollar {
				t.Errorf("launched %+v", got)
			}
		}, 1, "run1", ""},
		{"a repeat while it goes on follows it", func(t *testing.T, r *resuming) {
			r.must(t, resumeOrder(nil))
			r.c.asked = nil
			if got := r.must(t, resumeOrder(nil)); !got.Existing || got.Run.ID != "run2" {
				t.Errorf("launched %+v", got)
			}
		}, 1, "run1", ""},
		{"RES-26 RES-28 the newest run is quoted once it has ended, and asked about again", func(t *testing.T, r *resuming) {
			r.must(t, resumeOrder(nil))
			r.s.end(1)
			r.c.asked = nil
			if got := r.must(t, resumeOrder(nil)); got.Existing || got.Run.ID != "run3" {
				t.Errorf("launched %+v", got)
			}
		}, 2, "run1 run2", "newest run2 quoted approve anew"},
		{"RES-29 scripts are refused with its id", func(t *testing.T, r *resuming) {
			r.must(t, resumeOrder(nil))
			r.s.end(1)
			r.c.asked, r.c.attended = nil, false
			r.fails(t, resumeOrder(nil), api.ContinuationExists)
		}, 1, "run1", "newest run2"},
		{"RES-34 leaving out for good is asked about", func(t *testing.T, r *resuming) {
			r.s.plan.LeftOut = api.ContinuationLeftOut{Cells: 2, AcknowledgementRequired: true}
			r.must(t, resumeOrder(nil))
			if a := r.s.bodies[0].Acknowledgements; a == nil || !a.LeftOut || a.RetryUnknown {
				t.Errorf("acknowledged %+v", a)
			}
		}, 1, "run1", "quoted leave out approve"},
		{"and a no starts nothing", func(t *testing.T, r *resuming) {
			r.s.plan.LeftOut, r.c.leave = api.ContinuationLeftOut{Cells: 2, AcknowledgementRequired: true}, false
			r.fails(t, resumeOrder(nil), api.ConfirmationDeclined)
		}, 0, "run1", "quoted leave out"},
		{"RES-48 the consent to ask again goes with the submission, and with its repeat", func(t *testing.T, r *resuming) {
			r.s.plan.UnknownRetry = api.ContinuationRetry{Cells: 2, ConsentRequired: true}
			r.s.lose = 100
			o := resumeOrder(func(o *flow.ResumeOrder) { o.Quote.RetryUnknown = true })
			if _, err := r.resumer().Resume(t.Context(), o); err == nil {
				t.Fatal("the answer was not lost")
			}
			r.s.lose, r.c.asked = 0, nil
			r.must(t, o)
			for _, b := range r.s.bodies {
				if b.Acknowledgements == nil || !b.Acknowledgements.RetryUnknown || b.QuoteID != r.s.bodies[0].QuoteID {
					t.Errorf("submitted %+v", b)
				}
			}
		}, 1, "run1", ""},
		{"RES-53 one's own provider may bill twice", func(t *testing.T, r *resuming) {
			r.s.plan.UnknownRetry = api.ContinuationRetry{Cells: 2, ConsentRequired: true, ProviderMayBillAgain: true}
			r.fails(t, resumeOrder(func(o *flow.ResumeOrder) { o.Quote.RetryUnknown = true }), api.DuplicateCharges)
			r.c.asked, r.s.asked = nil, nil
			r.must(t, resumeOrder(func(o *flow.ResumeOrder) { o.Quote.RetryUnknown, o.Duplicates = true, true }))
			if a := r.s.bodies[0].Acknowledgements; !a.RetryUnknown || !a.DuplicateProviderCharges {
				t.Errorf("acknowledged %+v", a)
			}
		}, 1, "run1", "quoted approve"},
		{"RES-68 a service that offers no second attempt is asked for no consent", func(t *testing.T, r *resuming) {
			r.s.plan.UnknownRetry = api.ContinuationRetry{EarlierAttemptsMax: 1}
			r.must(t, resumeOrder(func(o *flow.ResumeOrder) { o.Quote.RetryUnknown = true }))
			if a := r.s.bodies[0].Acknowledgements; a != nil {
				t.Errorf("acknowledged %+v", a)
			}
		}, 1, "run1", "quoted approve"},
		{"RES-41 an older plan without pending tasks keeps its exclusions", func(t *testing.T, r *resuming) {
			r.s.plan = api.ContinuationPlan{LeftOut: api.ContinuationLeftOut{Cells: 3, AcknowledgementRequired: true}, UnknownRetry: api.ContinuationRetry{Cells: 1, ConsentRequired: true}}
			r.must(t, resumeOrder(func(o *flow.ResumeOrder) { o.LeftOut, o.Quote.RetryUnknown = true, true }))
			if a := r.s.bodies[0].Acknowledgements; !a.LeftOut || !a.RetryUnknown {
				t.Errorf("acknowledged %+v", a)
			}
		}, 1, "run1", "quoted approve"},
		{"somebody else was faster", func(t *testing.T, r *resuming) {
			r.s.onSubmit = nil
			r.s.runs = append(r.s.runs, api.RunRecord{ID: "theirs", Status: api.StatusRunning})
			p := r.resumer()
			p.Desk = &hasty{r.c, func() { r.s.next["run1"] = "theirs" }}
			got, err := p.Resume(t.Context(), resumeOrder(nil))
			if err != nil || !got.Existing || got.Run.ID != "theirs" {
				t.Errorf("launched %+v, %v", got, err)
			}
			if op, err := p.Journal.Peek(mustPrint(t, resumeOrder(nil))); err != nil || op != nil {
				t.Errorf("the lost quote is still on record: %+v, %v", op, err)
			}
		}, 1, "run1", "quoted approve"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newResuming(t)
			tt.do(t, r)
			if len(r.s.next) != tt.started {
				t.Errorf("%d continuations: %v", len(r.s.next), r.s.next)
			}
			if got := strings.Join(r.s.asked, " "); got != tt.quoted {
				t.Errorf("quoted %q, want %q", got, tt.quoted)
			}
			if got := strings.Join(r.c.asked, " "); got != tt.asked {
				t.Errorf("asked %q, want %q", got, tt.asked)
			}
		})
	}
}

// hasty is a clerk behind whose back something happens before the yes.
type hasty struct {
	*clerk
	then func()
}

func (h *hasty) Approve(ctx context.Context, q api.QuoteRecord, anew bool) (bool, error) {
	h.then()
	return h.clerk.Approve(ctx, q, anew)
}

func mustPrint(t *testing.T, o flow.ResumeOrder) string {
	t.Helper()
	fp, err := o.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return fp
}
