package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// regrouping is a service with one group: its first member was stopped by its cap,
// the second has nothing left.
type regrouping struct {
	fake   *apitest.Fake
	client *evalrouter.Client
	clock  *atomic.Int64 // how far the service's clock is on
	c      *groupClerk
	dir    string
	keys   int
	first  string
}

func newRegrouping(t *testing.T) *regrouping {
	t.Helper()
	r := &regrouping{clock: new(atomic.Int64), dir: t.TempDir(), c: &groupClerk{yes: true, leave: true, attended: true, cap: usd.Dollar}}
	start := time.Now()
	r.fake = apitest.NewFake(apitest.Options{TaskTime: time.Second, Now: func() time.Time { return start.Add(time.Duration(r.clock.Load())) }})
	t.Cleanup(r.fake.Close)
	var err error
	r.client, err = evalrouter.New(evalrouter.Config{BaseURL: r.fake.URL, AllowHTTP: true, APIKey: r.fake.Token, WorkspaceID: r.fake.WorkspaceID, Retries: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	r.first = r.started(t, "practice.solver-80", "practice.echo")
	r.ends()
	return r
}

// started begins a group of which the first model can pay for a few tasks only.
func (r *regrouping) started(t *testing.T, models ...string) string {
	t.Helper()
	limit, n := usd.Micro(1200*len(models)), 20
	in := api.NewGroupQuote{Selection: api.Selection{ProfileIDs: []string{"arithmetic@1"}}, Coverage: &api.Coverage{Mode: api.Sample, SampleCount: &n}, MaxChargeMicrousd: &limit}
	for _, m := range models {
		in.Members = append(in.Members, api.GroupChoice{Model: api.ModelRef{Kind: api.ManagedKind, RouteID: m}})
	}
	q, err := r.client.Groups.Quote(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.client.Groups.Submit(t.Context(), api.NewGroup{GroupQuoteID: q.ID}, evalrouter.IdempotencyKey(q.ID))
	if err != nil {
		t.Fatal(err)
	}
	return g.ID
}

// ends lets every run come to its end.
func (r *regrouping) ends() { r.clock.Add(int64(time.Minute)) }

func (r *regrouping) get(t *testing.T, id string) api.GroupRecord {
	t.Helper()
	g, err := r.client.Groups.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (r *regrouping) resumer() *flow.GroupResumer {
	return &flow.GroupResumer{
		Groups: r.client.Groups, Journal: journal(r.dir, flow.OS{}, time.Now), Desk: r.c, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		NewKey: func() string { r.keys++; return fmt.Sprintf("key%d", r.keys) },
	}
}

func (r *regrouping) order(change func(*flow.ResumeOrder)) flow.ResumeOrder {
	limit := usd.Dollar
	o := flow.ResumeOrder{Origin: r.fake.URL, Workspace: "w", Group: r.first, Quote: api.NewContinuationQuote{MaxChargeMicrousd: &limit}}
	if change != nil {
		change(&o)
	}
	return o
}

func (r *regrouping) must(t *testing.T, o flow.ResumeOrder) flow.LaunchedGroup {
	t.Helper()
	got, err := r.resumer().Resume(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *regrouping) fails(t *testing.T, o flow.ResumeOrder, want api.Code) {
	t.Helper()
	if _, err := r.resumer().Resume(t.Context(), o); !errors.Is(err, want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// single resumes one run by itself, as another command line would.
func (r *regrouping) single(t *testing.T, run string) string {
	t.Helper()
	limit := usd.Micro(500)
	q, err := r.client.Runs.ContinuationQuote(t.Context(), run, api.NewContinuationQuote{MaxChargeMicrousd: &limit})
	if err != nil {
		t.Fatal(err)
	}
	next, err := r.client.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, evalrouter.IdempotencyKey(q.ID))
	if err != nil {
		t.Fatal(err)
	}
	return next.ID
}

// groupClerk answers a group's questions from a script.
type groupClerk struct {
	yes, leave, attended bool
	cap                  usd.Micro
	asked, notes         []string
	// then happens once, before the first yes.
	then func()
}

func (c *groupClerk) say(s string) { c.asked = append(c.asked, s) }

func (c *groupClerk) Quoted(_ context.Context, q api.GroupQuoteRecord) error {
	n := 0
	for _, m := range q.Members {
		if m.Eligible {
			n++
		}
	}
	c.say(fmt.Sprintf("quoted %d of %d", n, len(q.Members)))
	return nil
}

func (c *groupClerk) Cap(context.Context, api.GroupQuoteRecord) (usd.Micro, error) {
	c.say("cap")
	return c.cap, nil
}

func (c *groupClerk) LeaveOut(context.Context, api.GroupQuoteRecord) (bool, error) {
	c.say("leave out")
	return c.leave, nil
}

func (c *groupClerk) Newest(context.Context, string, api.GroupRecord) error {
	c.say("newest")
	if !c.attended {
		return &flow.Error{Code: api.ContinuationExists}
	}
	return nil
}

func (c *groupClerk) Approve(_ context.Context, _ api.GroupQuoteRecord, anew bool) (bool, error) {
	if c.then != nil {
		c.then()
		c.then = nil
	}
	if anew {
		c.say("approve anew")
		return c.yes && c.attended, nil
	}
	c.say("approve")
	return c.yes, nil
}

func (c *groupClerk) Note(s string) { c.notes = append(c.notes, s) }

func TestGroupResume(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		do    func(t *testing.T, r *regrouping)
		runs  int
		asked string
	}{
		{"GRP-10 starts what is left after one yes, under one cap", func(t *testing.T, r *regrouping) {
			got := r.must(t, r.order(nil))
			if got.Existing || *got.Group.SourceGroupID != r.first || len(got.Group.Members) != 1 || got.Group.CapMicrousd != usd.Dollar {
				t.Errorf("launched %+v", got)
			}
			r.ends()
			if g := r.get(t, got.Group.ID); g.Status != api.StatusCompleted || g.Members[0].GradedCount != 20 {
				t.Errorf("ended as %+v", g)
			}
			if err := r.resumer().Finish(t.Context(), got); err != nil {
				t.Error(err)
			}
		}, 3, "quoted 1 of 2, approve"},
		{"a no starts nothing", func(t *testing.T, r *regrouping) {
			r.c.yes = false
			r.fails(t, r.order(nil), api.ConfirmationDeclined)
		}, 2, "quoted 1 of 2, approve"},
		{"without a cap it is asked for, after a preview", func(t *testing.T, r *regrouping) {
			r.must(t, r.order(func(o *flow.ResumeOrder) { o.Quote.MaxChargeMicrousd = nil }))
		}, 3, "quoted 1 of 2, cap, quoted 1 of 2, approve"},
		{"a group of which nothing has ended is watched and never quoted", func(t *testing.T, r *regrouping) {
			id := r.started(t, "practice.solver-80", "practice.echo")
			got := r.must(t, r.order(func(o *flow.ResumeOrder) { o.Group = id }))
			if !got.Existing || got.Group.ID != id || got.Group.Status.Terminal() {
				t.Errorf("launched %+v", got)
			}
		}, 4, ""},
		{"of a group that goes on in part, what has ended is quoted", func(t *testing.T, r *regrouping) {
			id := r.started(t, "practice.solver-80", "practice.echo")
			r.clock.Add(int64(15 * time.Second)) // the first is stopped, the second is on its way
			if g := r.get(t, id); g.Status != api.StatusRunning || !g.Members[0].Status.Terminal() {
				t.Fatalf("the group is %+v", g)
			}
			if got := r.must(t, r.order(func(o *flow.ResumeOrder) { o.Group = id })); got.Existing || len(got.Group.Members) != 1 {
				t.Errorf("launched %+v", got)
			}
		}, 5, "quoted 1 of 2, approve"},
		{"nothing is left", func(t *testing.T, r *regrouping) {
			r.must(t, r.order(nil))
			r.ends()
			r.c.asked = nil
			r.fails(t, r.order(nil), api.NothingToResume)
		}, 3, "newest"},
		{"a service without it", func(t *testing.T, r *regrouping) {
			r.fake.Fail("POST /v1/groups/{id}/continuation-quotes", 1, 404, api.NotFound)
			r.fails(t, r.order(nil), api.FeatureUnavailable)
		}, 2, ""},
		{"RES-18 a lost answer never starts a second group", func(t *testing.T, r *regrouping) {
			r.fake.Drop("POST /v1/groups", 5) // as often as a submission is tried
			o := r.order(nil)
			if _, err := r.resumer().Resume(t.Context(), o); !errors.Is(err, api.NetworkError) {
				t.Fatalf("the answer was not lost: %v", err)
			}
			fp, err := o.Fingerprint()
			if err != nil {
				t.Fatal(err)
			}
			if op, err := journal(r.dir, flow.OS{}, time.Now).Peek(fp); err != nil || op.Kind != flow.ResumeKind || *op.SourceID != r.first || op.State != flow.Accepted {
				t.Errorf("on record: %+v, %v", op, err)
			}
			if got := r.must(t, o); *got.Group.SourceGroupID != r.first {
				t.Errorf("launched %+v", got)
			}
		}, 3, "quoted 1 of 2, approve"},
		{"a repeat while it goes on follows it", func(t *testing.T, r *regrouping) {
			one := r.must(t, r.order(nil))
			r.c.asked = nil
			if got := r.must(t, r.order(nil)); !got.Existing || got.Group.ID != one.Group.ID {
				t.Errorf("launched %+v", got)
			}
			// So does the same wish under another cap: it leads to the newest group.
			two := 2 * usd.Dollar
			if got := r.must(t, r.order(func(o *flow.ResumeOrder) { o.Quote.MaxChargeMicrousd = &two })); !got.Existing || got.Group.CapMicrousd != usd.Dollar {
				t.Errorf("launched %+v", got)
			}
		}, 3, ""},
		{"the newest group is quoted once it has ended, and asked about again", func(t *testing.T, r *regrouping) {
			little := usd.Micro(600)
			r.must(t, r.order(func(o *flow.ResumeOrder) { o.Quote.MaxChargeMicrousd = &little }))
			r.ends()
			r.c.asked = nil
			if got := r.must(t, r.order(nil)); got.Existing || *got.Group.SourceGroupID == r.first {
				t.Errorf("launched %+v", got)
			}
		}, 4, "newest, quoted 1 of 2, approve anew"},
		{"scripts are refused with it", func(t *testing.T, r *regrouping) {
			r.must(t, r.order(nil))
			r.ends()
			r.c.asked, r.c.attended = nil, false
			r.fails(t, r.order(nil), api.ContinuationExists)
		}, 3, "newest"},
		{"somebody else was faster: their group is followed", func(t *testing.T, r *regrouping) {
			var theirs flow.LaunchedGroup
			r.c.then = func() {
				other := *r
				other.dir, other.keys, other.c = t.TempDir(), 100, &groupClerk{yes: true}
				theirs = other.must(t, other.order(nil))
			}
			if got := r.must(t, r.order(nil)); !got.Existing || got.Group.ID != theirs.Group.ID {
				t.Errorf("launched %+v, want %s", got, theirs.Group.ID)
			}
		}, 3, "quoted 1 of 2, approve"},
		{"a member that was resumed meanwhile takes the quote its ground: here is another", func(t *testing.T, r *regrouping) {
			var run string
			r.c.then = func() { run = r.single(t, r.get(t, r.first).Members[0].RunID); r.ends() }
			got := r.must(t, r.order(nil))
			if got.Existing || !strings.Contains(strings.Join(r.c.notes, "\n"), "was resumed by run "+run) {
				t.Errorf("launched %+v after %q", got, r.c.notes)
			}
		}, 4, "quoted 1 of 2, approve, quoted 1 of 2, approve anew"},
		{"and a script's yes does not count for it", func(t *testing.T, r *regrouping) {
			r.c.attended = false
			r.c.then = func() { r.single(t, r.get(t, r.first).Members[0].RunID); r.ends() }
			r.fails(t, r.order(nil), api.ConfirmationDeclined)
		}, 3, "quoted 1 of 2, approve, quoted 1 of 2, approve anew"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRegrouping(t)
			tt.do(t, r)
			if n := r.fake.Runs(); n != tt.runs {
				t.Errorf("%d runs, want %d", n, tt.runs)
			}
			if got := strings.Join(r.c.asked, ", "); got != tt.asked {
				t.Errorf("asked %q, want %q", got, tt.asked)
			}
		})
	}
}

// What a group's quote leaves out, or asks again, is consented to once for all of
// its members, and the consents go with the submission.
func TestGroupResume_Consents(t *testing.T) {
	t.Parallel()
	r := newRegrouping(t)
	o := r.order(func(o *flow.ResumeOrder) {
		o.Group = r.started(t, "practice.solver-80", "acme.model-x")
		o.Quote.RetryUnknown = true
	})
	r.ends()
	if err := r.fake.ShapePlans(`{"left_out":{"cells":2,"reasons":[],"acknowledgement_required":true},"unknown_retry":{"cells":3,"provider_may_bill_again":true}}`); err != nil {
		t.Fatal(err)
	}
	r.fails(t, o, api.DuplicateCharges)
	o.Duplicates = true
	r.c.leave, r.c.asked = false, nil
	r.fails(t, o, api.ConfirmationDeclined)
	if got := strings.Join(r.c.asked, ", "); got != "quoted 2 of 2, leave out" {
		t.Errorf("asked %q", got)
	}
	r.c.leave, r.c.asked = true, nil
	r.must(t, o)
	all := r.fake.Mutations()
	body := all[len(all)-1].Body
	for _, want := range []string{`"left_out":true`, `"retry_unknown":true`, `"duplicate_provider_charges":true`} {
		if !strings.Contains(body, want) {
			t.Errorf("submitted %s, without %s", body, want)
		}
	}
	preview, live, err := r.resumer().Preview(t.Context(), r.order(nil))
	if err != nil || live != nil || preview.MaxChargeMicrousd == nil {
		t.Errorf("previewed %+v, %+v, %v", preview, live, err)
	}
}
