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

// groupService starts groups as a service does: once for a key, once for a
// quote. lose says how many answers get lost after they took effect.
type groupService struct {
	quotes, started int
	lose            int
	refuse          api.Code // of submissions, once
	byKey           map[evalrouter.IdempotencyKey]api.GroupRecord
	byQuote         map[string]string
	ended           bool
	submitted       []string
	listed          []api.GroupRecord // what other command lines started
}

// made is when quotes of the service are made.
var made = time.Date(2026, 11, 30, 1, 30, 0, 0, time.UTC)

func (s *groupService) List(context.Context, evalrouter.GroupQuery) (api.Page[api.GroupRecord], error) {
	return api.Page[api.GroupRecord]{Data: s.listed}, nil
}

func (s *groupService) members(in []api.GroupChoice) (out []api.GroupQuoteMember) {
	for i, m := range in {
		out = append(out, api.GroupQuoteMember{Index: i, Model: api.SelectedModel{RouteID: &m.Model.RouteID}, Reasoning: m.Reasoning})
	}
	return out
}

func (s *groupService) Quote(_ context.Context, in api.NewGroupQuote) (api.GroupQuoteRecord, error) {
	if !in.Preview {
		s.quotes++
	}
	least := usd.Micro(10)
	return api.GroupQuoteRecord{
		ID: fmt.Sprint("q", s.quotes), CreatedAt: made, MaxChargeMicrousd: in.MaxChargeMicrousd, MinimumCapMicrousd: &least, Members: s.members(in.Members), Preview: in.Preview,
		Profiles: []api.ProfileSelection{{ID: "sums@1"}},
	}, nil
}

func (s *groupService) Submit(_ context.Context, in api.NewGroup, key evalrouter.IdempotencyKey) (api.GroupRecord, error) {
	s.submitted = append(s.submitted, in.GroupQuoteID+" "+string(key))
	if s.refuse != "" {
		code := s.refuse
		s.refuse = ""
		return api.GroupRecord{}, &evalrouter.Error{Problem: evalrouter.Problem{Code: code}, Status: 410}
	}
	g, ok := s.byKey[key]
	if !ok {
		if id, taken := s.byQuote[in.GroupQuoteID]; taken {
			return g, &evalrouter.Error{Problem: evalrouter.Problem{Code: api.QuoteAlreadyAccepted, Details: map[string]any{"group_id": id}}, Status: 409}
		}
		s.started++
		g = api.GroupRecord{ID: fmt.Sprint("g", s.started), Status: api.StatusRunning}
		s.byKey[key], s.byQuote[in.GroupQuoteID] = g, g.ID
	}
	if s.lose > 0 {
		s.lose--
		return api.GroupRecord{}, &evalrouter.Error{Problem: evalrouter.Problem{Code: api.NetworkError}, Uncertain: true}
	}
	return g, nil
}

func (s *groupService) Get(_ context.Context, id string) (api.GroupRecord, error) {
	status := api.StatusRunning
	if s.ended {
		status = api.StatusCompleted
	}
	return api.GroupRecord{ID: id, Status: status}, nil
}

type groupDesk struct {
	asked, repeats int
	no             bool
	notes          []string
}

func (d *groupDesk) Quoted(context.Context, api.GroupQuoteRecord) error { return nil }
func (d *groupDesk) Cap(context.Context, api.GroupQuoteRecord) (usd.Micro, error) {
	return 5 * usd.Dollar, nil
}

func (d *groupDesk) Approve(context.Context, api.GroupQuoteRecord, *api.GroupQuoteRecord) (bool, error) {
	d.asked++
	return !d.no, nil
}

func (d *groupDesk) Repeat(context.Context, api.GroupRecord) (bool, error) {
	d.repeats++
	return false, nil
}

func (d *groupDesk) Note(text string) { d.notes = append(d.notes, text) }

type groupBench struct {
	*groupService
	*groupDesk
	l    *flow.GroupLauncher
	keys int
}

func newGroupBench(t *testing.T) *groupBench {
	t.Helper()
	b := &groupBench{groupService: &groupService{byKey: map[evalrouter.IdempotencyKey]api.GroupRecord{}, byQuote: map[string]string{}}, groupDesk: &groupDesk{}}
	now := time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	rest := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	b.l = &flow.GroupLauncher{
		Groups: b.groupService, Desk: b.groupDesk, Now: clock, Sleep: rest, Journal: &flow.Journal{Dir: t.TempDir(), Disk: flow.OS{}, Now: clock, Sleep: rest},
		NewKey: func() string { b.keys++; return fmt.Sprint("key-", b.keys) },
	}
	return b
}

func groupOrder(cap usd.Micro) flow.GroupOrder {
	o := flow.GroupOrder{Request: flow.Request{Kind: flow.GroupKind, ProfileID: "sums@1", Models: []flow.ModelSetting{{Model: api.ModelRef{RouteID: "a"}}, {Model: api.ModelRef{RouteID: "b"}}}}}
	o.Quote.Members = []api.GroupChoice{{Model: api.ModelRef{RouteID: "a"}}, {Model: api.ModelRef{RouteID: "b"}}}
	if cap > 0 {
		o.Quote.MaxChargeMicrousd, o.Request.Cap = &cap, &cap
	}
	return o
}

// A submission whose answer never came is sent again, by this process and by
// the next, with the same quote and key, and is one group.
func TestGroupLaunch_LostAnswer(t *testing.T) {
	t.Parallel()
	b := newGroupBench(t)
	b.lose = 5 // as often as one launch tries
	_, err := b.l.Launch(t.Context(), groupOrder(usd.Dollar))
	var lost *flow.Error
	if !errors.As(err, &lost) || lost.IdempotencyKey != "key-1" {
		t.Fatalf("launch says %v", err)
	}
	got, err := b.l.Launch(t.Context(), groupOrder(usd.Dollar))
	if err != nil || got.Group.ID != "g1" || !got.Existing {
		t.Fatalf("second launch: %+v, %v", got, err)
	}
	if b.started != 1 || b.quotes != 1 || b.asked != 1 || b.keys != 1 {
		t.Errorf("%d groups, %d quotes, %d questions, %d keys", b.started, b.quotes, b.asked, b.keys)
	}
	for _, s := range b.submitted {
		if s != "q1 key-1" {
			t.Errorf("submitted %s", s)
		}
	}
}

func TestGroupLaunch_Repeats(t *testing.T) {
	t.Parallel()
	b := newGroupBench(t)
	first, err := b.l.Launch(t.Context(), groupOrder(0)) // the desk is asked for the cap
	if err != nil || first.Existing {
		t.Fatal(first, err)
	}
	again, err := b.l.Launch(t.Context(), groupOrder(0))
	if err != nil || !again.Existing || again.Group.ID != first.Group.ID || b.started != 1 {
		t.Fatalf("while it goes on: %+v, %v", again, err)
	}
	b.ended = true
	if _, err := b.l.Launch(t.Context(), groupOrder(0)); !errors.Is(err, api.ConfirmationDeclined) || b.repeats != 1 || b.started != 1 {
		t.Fatalf("after its end: %v, asked %d times", err, b.repeats)
	}
	separate := groupOrder(0)
	separate.New = true
	other, err := b.l.Launch(t.Context(), separate)
	if err != nil || other.Group.ID == first.Group.ID || b.started != 2 {
		t.Fatalf("as separate work: %+v, %v", other, err)
	}
	if err := b.l.Finish(t.Context(), other); err != nil {
		t.Fatal(err)
	}
}

func TestGroupLaunch_NothingStarted(t *testing.T) {
	t.Parallel()
	t.Run("declined", func(t *testing.T) {
		t.Parallel()
		b := newGroupBench(t)
		b.no = true
		if _, err := b.l.Launch(t.Context(), groupOrder(usd.Dollar)); !errors.Is(err, api.ConfirmationDeclined) || b.started != 0 || len(b.submitted) != 0 {
			t.Errorf("%v, submitted %v", err, b.submitted)
		}
	})
	t.Run("the quote died", func(t *testing.T) {
		t.Parallel()
		b := newGroupBench(t)
		b.refuse = api.QuoteExpired
		got, err := b.l.Launch(t.Context(), groupOrder(usd.Dollar))
		if err != nil || got.Group.ID != "g1" || b.quotes != 2 || b.keys != 2 || b.asked != 1 {
			t.Errorf("%+v, %v after %d quotes, %d keys, %d questions", got, err, b.quotes, b.keys, b.asked)
		}
		if !strings.Contains(strings.Join(b.notes, "\n"), "no longer valid") {
			t.Errorf("notes are %v", b.notes)
		}
	})
	t.Run("only a quote", func(t *testing.T) {
		t.Parallel()
		b := newGroupBench(t)
		if q, err := b.l.Quote(t.Context(), groupOrder(0)); err != nil || !q.Preview || b.started != 0 {
			t.Errorf("%+v, %v", q, err)
		}
	})
}

// A group that another command line started, or this one under another cap, is
// found before anything is charged again: what goes on is followed, and what has
// just ended is asked about.
func TestGroupLaunch_TheSameElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := func(status api.RunStatus, ago time.Duration, change func(*api.GroupRecord)) api.GroupRecord {
		a, b, at := "a", "b", made.Add(-ago)
		g := api.GroupRecord{
			ID: "other", GroupQuoteID: "theirs", Status: status, Coverage: &api.Coverage{}, Profiles: []api.ProfileSelection{{ID: "sums@1"}},
			Members: []api.GroupMember{{Model: api.SelectedModel{RouteID: &b}}, {Index: 1, Model: api.SelectedModel{RouteID: &a}}},
		}
		if status.Terminal() {
			g.FinishedAt = &at
		}
		if change != nil {
			change(&g)
		}
		return g
	}
	for _, tt := range []struct {
		name     string
		there    api.GroupRecord
		separate bool
		want     string // the group, "" for a question
	}{
		{"goes on", elsewhere(api.StatusRunning, 0, nil), false, "other"},
		{"has just ended", elsewhere(api.StatusPartial, time.Minute, nil), false, ""},
		{"ended long ago", elsewhere(api.StatusPartial, time.Hour, nil), false, "g1"},
		{"separate work", elsewhere(api.StatusRunning, 0, nil), true, "g1"},
		{"another benchmark", elsewhere(api.StatusRunning, 0, func(g *api.GroupRecord) { g.Profiles[0].ID = "dates@1" }), false, "g1"},
		{"other tasks", elsewhere(api.StatusRunning, 0, func(g *api.GroupRecord) { g.Coverage.Mode = api.Full }), false, "g1"},
		{"another model", elsewhere(api.StatusRunning, 0, func(g *api.GroupRecord) { g.Members = g.Members[:1] }), false, "g1"},
		{"another setting", elsewhere(api.StatusRunning, 0, func(g *api.GroupRecord) { g.Members[0].Reasoning = &api.ReasoningChoice{Mode: "off"} }), false, "g1"},
		{"goes on with another group", elsewhere(api.StatusRunning, 0, func(g *api.GroupRecord) { g.SourceGroupID = new("first") }), false, "g1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newGroupBench(t)
			b.listed = []api.GroupRecord{tt.there}
			o := groupOrder(usd.Dollar)
			o.New = tt.separate
			got, err := b.l.Launch(t.Context(), o)
			if tt.want == "" {
				if !errors.Is(err, api.ConfirmationDeclined) || b.repeats != 1 || b.started != 0 {
					t.Errorf("%v, asked %d times, %d started", err, b.repeats, b.started)
				}
				return
			}
			if err != nil || got.Group.ID != tt.want || got.Existing != (tt.want == "other") || b.repeats != 0 {
				t.Errorf("%+v, %v, asked %d times", got, err, b.repeats)
			}
		})
	}
}
