package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// groupQuote keeps an open quote of n members with a cap of cap each.
func (d *db) groupQuote(n int, cap usd.Micro) core.GroupQuote {
	d.t.Helper()
	g := core.GroupQuote{ID: core.GroupQuoteID(uuid.NewString()), Workspace: "w1", Name: "models", CreatedAt: d.Now(), ExpiresAt: d.Now() + core.QuoteLife}
	for i := range n {
		g.Members = append(g.Members, core.Quote{
			ID: core.QuoteID(uuid.NewString()), Workspace: "w1", Epoch: 1, Group: g.ID, CreatedAt: g.CreatedAt, ExpiresAt: g.ExpiresAt, Cap: cap, MinCap: 100, Profile: profile,
			Target: core.Target{Kind: core.Managed, RouteID: core.RouteID(fmt.Sprint("r", i)), ModelID: "m", Protocol: "openai_chat", Revision: 1, Priced: true, Prices: price, MaxOutputTokens: 50,
				Ceiling: 64, Auto: 8, Status: "active"},
			Coverage: core.Coverage{N: 5, Seed: 42}, Limit: 8, Warnings: []string{}, ScopeHash: fmt.Sprint("s", i),
		})
		g.Cap += cap
	}
	d.check(d.Groups().PutQuote(context.Background(), g))
	return g
}

func groupAdmission(q core.GroupQuote, key string) core.GroupAdmission {
	a := core.GroupAdmission{
		Scope: scope, Quote: q.ID, Metadata: map[string]string{"k": "v"}, Once: core.Once{Op: "POST /groups", Key: key, Hash: "h-" + string(q.ID)}, GroupID: core.GroupID(uuid.NewString()),
		Encode: func(g core.Group, m []core.GroupMember) ([]byte, error) { return json.Marshal([]any{g.ID, len(m)}) },
	}
	for range q.Members {
		a.Members = append(a.Members, core.MemberIDs{Run: core.RunID(uuid.NewString()), Transfer: uuid.NewString(), Consent: uuid.NewString()})
	}
	return a
}

// together starts a group of n members and says which it is.
func (d *db) together(n int) core.GroupID {
	d.t.Helper()
	q := d.groupQuote(n, 1000)
	out, err := d.Groups().AdmitGroup(context.Background(), groupAdmission(q, "k-"+string(q.ID)))
	d.check(err)
	return core.GroupID(out.Run)
}

func (d *db) group(id core.GroupID) core.Group {
	d.t.Helper()
	g, err := d.Groups().Group(context.Background(), scope, id)
	d.check(err)
	return g
}

func (d *db) told(id core.GroupID) []group.Event {
	d.t.Helper()
	out, err := d.Groups().Events(context.Background(), d.group(id), 0, nil, 1000)
	d.check(err)
	return out
}

// counts is how many rows there are of what an admission writes.
func (d *db) counts() string {
	d.t.Helper()
	out := ""
	for _, table := range []string{"groups_", "group_members", "runs", "consents", "transfers", "events", "idempotency"} {
		var n int
		d.check(d.raw.QueryRow("SELECT count(*) FROM " + table).Scan(&n))
		out += fmt.Sprint(table, " ", n, " ")
	}
	var open int
	d.check(d.raw.QueryRow("SELECT count(*) FROM quotes WHERE consumed_by IS NULL").Scan(&open))
	return out + fmt.Sprint("open quotes ", open)
}

func TestGroup_GRP11_EachMemberIsARunOfItsOwn(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, before := context.Background(), d.credits()
		g := d.group(d.together(3))
		if len(g.Members) != 3 || g.Cap != 3000 || g.Name != "models" || g.Metadata["k"] != "v" {
			t.Fatalf("group is %+v", g)
		}
		for i, id := range g.Members {
			r := d.run(id)
			q, err := d.Quote(ctx, scope, r.QuoteID)
			d.check(err)
			if r.GroupID != string(g.ID) || r.Cap != 1000 || r.Held != 1000 || q.Run != id || string(q.Target.RouteID) != fmt.Sprint("r", i) {
				t.Errorf("member %d is %+v of quote %+v", i, r, q)
			}
		}
		if now := d.credits(); now.Held != before.Held+3000 || now.Available != before.Available-3000 {
			t.Errorf("credits went from %+v to %+v", before, now)
		}
		in, err := d.Runs(ctx, scope, storeFilter(g.ID))
		d.check(err)
		if len(in) != 3 {
			t.Errorf("%d runs in the group", len(in))
		}
		d.clean()
	})
}

// What a member spends, how it ends and what comes back of its cap is its own.
func TestGroup_GRP13_EachMemberHasItsOwnCharges(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		g := d.group(d.together(2))
		first, second := g.Members[0], g.Members[1]
		d.check(d.Start(ctx, first))
		d.ask(first, 0, 100, 40)
		d.check(d.RequestCancel(ctx, scope, first))
		d.finalize(first)
		if a, b := d.run(first), d.run(second); a.State != core.Partial && a.State != core.Cancelled || a.Charged != 40 || b.Charged != 0 || b.State != core.Queued || b.Held != 1000 {
			t.Errorf("first %+v, second %+v", a, b)
		}
		if c := d.credits(); c.Held != 1000 {
			t.Errorf("held %s, want what the second member holds", c.Held)
		}
		d.clean()
	})
}

func TestGroup_AdmitsAllOrNone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(*db, *core.GroupQuote, *core.GroupAdmission)
		want core.Code
	}{
		{"one member's quote is stale", func(d *db, q *core.GroupQuote, _ *core.GroupAdmission) {
			_, err := d.raw.Exec(`UPDATE profiles SET manifest_sha256 = 'other'`)
			d.check(err)
		}, core.QuoteStale},
		{"the sum is more than there is", func(d *db, q *core.GroupQuote, a *core.GroupAdmission) {
			*q = d.groupQuote(3, 4*usd.Dollar)
			*a = groupAdmission(*q, "k")
		}, core.InsufficientCredit},
		{"expired", func(d *db, q *core.GroupQuote, _ *core.GroupAdmission) { d.time.Store(int64(q.ExpiresAt)) }, core.QuoteExpired},
		{"another workspace's", func(_ *db, _ *core.GroupQuote, a *core.GroupAdmission) { a.Scope = foreign }, core.NotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, d *db) {
				q := d.groupQuote(3, 1000)
				a := groupAdmission(q, "k")
				tt.do(d, &q, &a)
				before := d.counts()
				_, err := d.Groups().AdmitGroup(context.Background(), a)
				d.wants(err, tt.want)
				if after := d.counts(); after != before {
					t.Errorf("left %s, had %s", after, before)
				}
			})
		})
	}
}

// The last member's failure undoes the members before it.
func TestGroup_LastMemberFails(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		q := d.groupQuote(3, 1000)
		a := groupAdmission(q, "k")
		a.Members[2].Run = a.Members[0].Run // an id that is taken already
		before := d.counts()
		if _, err := d.Groups().AdmitGroup(context.Background(), a); err == nil {
			t.Fatal("admitted")
		}
		if after := d.counts(); after != before {
			t.Errorf("left %s, had %s", after, before)
		}
		d.clean()
		d.must(d.Groups().AdmitGroup(context.Background(), groupAdmission(q, "k")))
	})
}

func TestGroup_IsSubmittedOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, q := context.Background(), d.groupQuote(2, 1000)
		one, err := d.Groups().AdmitGroup(ctx, groupAdmission(q, "k"))
		d.check(err)
		before := d.counts()
		two, err := d.Groups().AdmitGroup(ctx, groupAdmission(q, "k"))
		d.check(err)
		if !two.Replayed || string(two.Body) != string(one.Body) || two.Run != one.Run {
			t.Errorf("answered %+v, then %+v", one, two)
		}
		_, err = d.Groups().AdmitGroup(ctx, groupAdmission(q, "another"))
		d.wants(err, core.QuoteAlreadyAccepted)
		// A member's quote starts nothing by itself, neither before nor after.
		open := d.groupQuote(2, 1000)
		before2 := d.counts()
		_, err = d.Admit(ctx, admission(open.Members[0], "alone"))
		d.wants(err, core.NotFound)
		if after := d.counts(); after != before2 || before == "" {
			t.Errorf("left %s, had %s", after, before2)
		}
		d.clean()
	})
}

// A group's log tells each event once, in an order that never changes, and each
// member's events in its own order, wherever a reader stopped.
func TestGroup_LogIsStable(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, id := context.Background(), d.together(3)
		g := d.group(id)
		early, err := d.Groups().Events(ctx, g, 0, nil, 2)
		d.check(err)
		for i, m := range g.Members {
			d.time.Add(1000)
			d.check(d.Start(ctx, m))
			d.ask(m, i, 100, 10)
		}
		whole := d.told(id)
		var pieces []group.Event
		for {
			var after int64
			if n := len(pieces); n > 0 {
				after = pieces[n-1].Seq
			}
			some, err := d.Groups().Events(ctx, g, after, nil, 3)
			d.check(err)
			if len(some) == 0 {
				break
			}
			pieces = append(pieces, some...)
		}
		if fmt.Sprint(whole) != fmt.Sprint(pieces) || len(early) != 2 || fmt.Sprint(whole[:2]) != fmt.Sprint(early) {
			t.Errorf("in one piece\n%v\nin pieces\n%v\nat first\n%v", whole, pieces, early)
		}
		own := map[core.RunID][]string{}
		for i, e := range whole {
			if e.Seq != int64(i+1) {
				t.Errorf("event %d has sequence %d", i, e.Seq)
			}
			own[e.Run] = append(own[e.Run], e.Type)
		}
		for _, m := range g.Members {
			var want []string
			log, err := d.Events(ctx, scope, m, eventsAfter(0))
			d.check(err)
			for _, e := range log {
				want = append(want, e.Type)
			}
			if !slices.Equal(own[m], want) {
				t.Errorf("member %s told %v, its own log says %v", m, own[m], want)
			}
		}
		some, err := d.Groups().Events(ctx, g, 0, []string{core.EventTaskGraded}, 100)
		d.check(err)
		if len(some) != 3 {
			t.Errorf("%d graded tasks", len(some))
		}
		d.clean()
	})
}

// Whoever reads a log while others take its events up sees all that was there
// when he began.
func TestGroup_LogIsReadByManyAtOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		for range 20 {
			g := d.group(d.together(2))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if out, err := d.Groups().Events(context.Background(), g, 0, nil, 100); err != nil || len(out) < len(g.Members) {
						t.Errorf("%d events, %v", len(out), err)
					}
				})
			}
			all.Wait()
		}
	})
}

func TestGroup_ListAndTenancy(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		var made []core.GroupID
		for range 3 {
			made = append([]core.GroupID{d.together(2)}, made...)
			d.time.Add(1000)
		}
		var got []core.GroupID
		q := group.Query{Limit: 2}
		for {
			page, err := d.Groups().Groups(ctx, scope, q)
			d.check(err)
			if len(page) == 0 {
				break
			}
			for _, g := range page {
				got = append(got, g.ID)
			}
			last := page[len(page)-1]
			q.After = &core.Place{At: last.CreatedAt, ID: string(last.ID)}
		}
		if !slices.Equal(got, made) {
			t.Errorf("listed %v, made %v", got, made)
		}
		found, err := d.Groups().Groups(ctx, scope, group.Query{Prefix: string(made[1])[:8], Limit: 5})
		d.check(err)
		if len(found) != 1 || found[0].ID != made[1] {
			t.Errorf("found %v", found)
		}
		_, err = d.Groups().Group(ctx, foreign, made[0])
		d.wants(err, core.NotFound)
		if none, err := d.Groups().Groups(ctx, foreign, group.Query{Limit: 5}); err != nil || len(none) != 0 {
			t.Errorf("another workspace sees %v, %v", none, err)
		}
	})
}

func storeFilter(id core.GroupID) store.RunFilter {
	return store.RunFilter{GroupID: string(id), Limit: 10}
}

func eventsAfter(seq int64) history.EventQuery { return history.EventQuery{After: seq, Limit: 200} }

// Several processes and people accept one quote at once: one group, and every
// other one is told which.
func TestGroup_RacesHaveOneWinner(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		stores := []*store.Store{d.Store}
		if strings.HasSuffix(t.Name(), "postgres") { // SQLite has one process
			stores = append(stores, d.open())
		}
		for round := range 5 {
			q := d.groupQuote(3, 100)
			var wg sync.WaitGroup
			outs, errs := make([]core.Admitted, 8), make([]error, 8)
			for i := range outs {
				wg.Go(func() {
					outs[i], errs[i] = stores[i%len(stores)].Groups().AdmitGroup(context.Background(), groupAdmission(q, fmt.Sprint("k", round, "-", i%4)))
				})
			}
			wg.Wait()
			won, key := "", 0
			for i := range outs {
				if errs[i] == nil && !outs[i].Replayed {
					if won != "" {
						t.Fatalf("two groups of one quote: %s and %s", won, outs[i].Run)
					}
					won, key = string(outs[i].Run), i%4
				}
			}
			for i := range outs {
				var no *core.Refusal
				if i%4 == key && (errs[i] != nil || string(outs[i].Run) != won) {
					t.Errorf("the winner's key is answered with %+v, %v", outs[i], errs[i])
				} else if errs[i] != nil && (!errors.As(errs[i], &no) || no.Code != core.QuoteAlreadyAccepted || no.Details["group_id"] != won) {
					t.Errorf("a loser is told %v, the group is %s", errs[i], won)
				}
			}
			if won == "" {
				t.Error("nobody won")
			}
		}
		d.clean()
	})
}

// halted starts a group of n members, each stopped by its cap with tasks of every
// fate, and says which it is.
func (d *db) halted(n int) core.GroupID {
	d.t.Helper()
	ctx := context.Background()
	id := d.together(n)
	for _, run := range d.group(id).Members {
		d.check(d.Start(ctx, run))
		d.gradeAt(run, gradedTask, 1)
		d.loseAt(run, unknownTask, 1)
		d.end(run, core.SpendingCap)
	}
	return id
}

// regroup keeps a quote that goes on with every member of a group.
func (d *db) regroup(id core.GroupID) core.GroupQuote {
	d.t.Helper()
	ctx := context.Background()
	g := core.GroupQuote{
		ID: core.GroupQuoteID(uuid.NewString()), Workspace: "w1", CreatedAt: d.Now(), ExpiresAt: d.Now() + core.QuoteLife, Continuation: &core.GroupContinuation{Source: id},
	}
	for place, run := range d.group(id).Members {
		r := d.run(run)
		was, err := d.Quote(ctx, scope, r.QuoteID)
		d.check(err)
		q, s := was.Quote, d.survey(run, core.Flags{})
		q.ID, q.Group, q.CreatedAt, q.ExpiresAt = core.QuoteID(uuid.NewString()), g.ID, g.CreatedAt, g.ExpiresAt
		q.Profile.Grader = grader
		q.Continuation = &core.Continuation{Source: run, Chain: []core.RunID{run}, Cells: s.Cells, Digest: s.Digest()}
		g.Members, g.Cap = append(g.Members, q), g.Cap+q.Cap
		g.Continuation.Places = append(g.Continuation.Places, place)
	}
	d.check(d.Groups().PutQuote(ctx, g))
	return g
}

// Several processes, each with a quote of its own, go on with one group at once:
// one of them does, with every member, and the others learn which group it is.
func TestGroup_GRP10_ResumeRaces(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		stores := []*store.Store{d.Store}
		if strings.HasSuffix(t.Name(), "postgres") { // SQLite has one process
			stores = append(stores, d.open())
		}
		for range 5 {
			source := d.halted(3)
			var quotes []core.GroupQuote
			for range 4 {
				quotes = append(quotes, d.regroup(source))
			}
			held := d.credits().Held
			var wg sync.WaitGroup
			outs, errs := make([]core.Admitted, len(quotes)), make([]error, len(quotes))
			for i, q := range quotes {
				wg.Go(func() {
					outs[i], errs[i] = stores[i%len(stores)].Groups().AdmitGroup(ctx, groupAdmission(q, "k-"+string(q.ID)))
				})
			}
			wg.Wait()
			won := d.group(source).ContinuedBy
			if won == "" {
				t.Fatalf("nobody won: %v", errs)
			}
			for i, err := range errs {
				var no *core.Refusal
				if err == nil && core.GroupID(outs[i].Run) != won {
					t.Errorf("group %s goes on with it beside %s", outs[i].Run, won)
				} else if err != nil && (!errors.As(err, &no) || no.Code != core.ContinuationExists || no.Details["group_id"] != string(won)) {
					t.Errorf("a loser is told %v, the group is %s", err, won)
				}
			}
			next := d.group(won)
			for i, run := range d.group(source).Members {
				if by := d.run(run).ContinuedBy; by != next.Members[i] {
					t.Errorf("run %s is continued by %q, member %d is %s", run, by, i, next.Members[i])
				}
			}
			if now := d.credits().Held; now != held+quotes[0].Cap || next.Source != source {
				t.Errorf("%s is held after %s; %+v", now, held, next)
			}
		}
		d.clean()
	})
}

// Of several processes that accept one run's quote, one starts it; the others
// are told of it, or get its answer again where their key is the same.
func TestAdmit_RacesOfProcesses(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		stores := []*store.Store{d.Store}
		if strings.HasSuffix(t.Name(), "postgres") { // SQLite has one process
			stores = append(stores, d.open())
		}
		for round := range 10 {
			q := d.quote(3, 100)
			var wg sync.WaitGroup
			outs, errs := make([]core.Admitted, 8), make([]error, 8)
			for i := range errs {
				wg.Go(func() {
					outs[i], errs[i] = stores[i%len(stores)].Admit(context.Background(), admission(q, fmt.Sprint("k", round, "-", i%4)))
				})
			}
			wg.Wait()
			started := map[core.RunID]bool{}
			for i, err := range errs {
				if err == nil {
					started[outs[i].Run] = true
				} else if !refused(err, core.QuoteAlreadyAccepted) {
					t.Errorf("a loser is told %v", err)
				}
			}
			if len(started) != 1 {
				t.Errorf("%d runs of one quote", len(started))
			}
		}
		d.clean()
	})
}
