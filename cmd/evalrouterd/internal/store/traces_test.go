package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// agents is what is kept of traces, with one connection of w1.
func (d *db) agents() *traces.Store {
	d.t.Helper()
	st, err := d.Traces(uuid.NewString)
	d.check(err)
	if _, err := st.Connection(context.Background(), scope, "c1"); err != nil {
		d.connection(st, "c1", core.TraceOTLP)
	}
	return st
}

func (d *db) connection(st *traces.Store, id core.TraceConnectionID, kind string) {
	d.t.Helper()
	d.check(st.AddConnection(context.Background(), core.TraceConnection{
		ID: id, Workspace: "w1", Name: "shop", Kind: kind, Days: 30, Actor: "key-1", Capture: core.Capture{Inputs: true, Outputs: true, MaxValue: 65536, Fields: []string{"plate"}},
	}, core.APIKey{ID: "k-" + string(id), Prefix: "eri_" + string(id), MAC: []byte{1, 2}}, core.By{Entry: "made-" + string(id), Actor: "key-1"}))
}

func arrival(trace string, spans ...core.Span) core.Arrival {
	return core.Arrival{Connection: "c1", Workspace: "w1", Days: 30, Source: core.TraceOTLP, TraceID: trace, Spans: spans}
}

func num(n int64) *int64 { return &n }

// Text that one of the databases does not take is kept alike by both.
func TestTraces_TextThatNoDatabaseKeeps(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		st := d.agents()
		d.write(st, arrival("x", core.Span{ID: "s", Kind: core.SpanAgent, Name: "n\x00", Model: "m\xff", Status: core.TraceOK, Start: 1, End: 2, Agent: "a\x00"}))
		tr := d.only(st)
		back, err := st.Spans(context.Background(), scope, tr.ID, nil, 10)
		d.check(err)
		if tr.Name != "n\uFFFD" || tr.Agent != "a\uFFFD" || len(back) != 1 || back[0].Name != "n\uFFFD" || back[0].Model != "m\uFFFD" {
			t.Errorf("%+v %+v", tr, back)
		}
	})
}

// talk is an agent's run whose history is sent again with each turn.
func talk(turns int) []core.Span {
	cost := usd.Micro(5)
	spans := []core.Span{{ID: "root", Kind: core.SpanAgent, Name: "support", Status: core.TraceOK, Start: 1_000, End: 900_000, Agent: "support", Conversation: "conv", Attributes: json.RawMessage(`{"a":1}`)}}
	history := []string{}
	for i := range turns {
		history = append(history, fmt.Sprintf(`{"content":"turn %d %s","role":"user"}`, i, strings.Repeat(fmt.Sprint("word", i, " "), 60)))
		spans = append(spans, core.Span{
			ID: fmt.Sprint("m", i), ParentID: "root", Kind: core.SpanModel, Name: "chat", Status: core.TraceOK, Start: int64(2_000 + i), End: int64(3_000 + i), Model: "gpt-x", Provider: "openai",
			Usage: core.SpanUsage{Input: num(10), Output: num(2)}, Cost: &cost, Input: json.RawMessage("[" + strings.Join(history, ",") + "]"), Output: json.RawMessage(`"short"`),
			Attributes: json.RawMessage(`{"gen_ai.request.model":"gpt-x","long":"` + strings.Repeat("y", 400) + `"}`), InputCut: i == 0,
		})
	}
	return append(spans, core.Span{ID: "t", ParentID: "root", Kind: core.SpanTool, Name: "look", Status: core.TraceError, ErrorType: "E", ErrorText: "bad", Start: 4_000, End: 5_000})
}

// only is the trace of a workspace that has one.
func (d *db) only(st *traces.Store) traces.Row {
	d.t.Helper()
	all, err := st.List(context.Background(), scope, traces.Filter{}, nil, 10)
	d.check(err)
	if len(all) != 1 {
		d.t.Fatalf("%d traces", len(all))
	}
	return all[0]
}

func (d *db) write(st *traces.Store, arrivals ...core.Arrival) {
	d.t.Helper()
	refused, err := st.Write(context.Background(), arrivals)
	d.check(err)
	for _, n := range refused {
		if n != 0 {
			d.t.Errorf("refused %v", refused)
		}
	}
}

// asText compares contents in one step: byte by byte it takes most of a test.
var asText = cmp.Transformer("text", func(b json.RawMessage) string { return string(b) })

func TestTraces_ComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st, spans := context.Background(), d.agents(), talk(20)
		d.write(st, arrival("a", spans...))
		got := d.only(st)
		if got.Spans != 22 || got.Models != 20 || got.Tools != 1 || *got.Usage.Input != 200 || *got.Usage.Output != 40 || *got.Cost != 100 || got.Name != "support" || got.Status != "ok" ||
			got.Agent != "support" || got.Conversation != "conv" || !got.RootEnded || got.Start != 1_000 || got.End != 900_000 || got.InputsCut != 1 || got.Inputs != 20 || got.Orphans != 0 || got.Redacted {
			t.Errorf("%+v", got.Trace)
		}
		back, err := st.Spans(ctx, scope, got.ID, nil, 100)
		d.check(err)
		want := make([]core.Span, len(spans))
		for i, s := range spans {
			s.Agent, s.Conversation = "", "" // what a trace says
			want[i] = s
		}
		if diff := cmp.Diff(want, back, cmpopts.SortSlices(func(a, b core.Span) bool { return a.ID < b.ID }), asText); diff != "" {
			t.Error(diff)
		}
		var contents, bytes, sent int
		d.check(d.raw.QueryRow(`SELECT count(*), sum(length(data)) FROM trace_contents`).Scan(&contents, &bytes))
		for _, s := range spans {
			sent += len(s.Input)
		}
		if contents != 20 || bytes*3 > sent {
			t.Errorf("%d contents of %d bytes for %d bytes of histories", contents, bytes, sent)
		}
		page, err := st.Spans(ctx, scope, got.ID, &traces.SpanPlace{Start: 2_000, ID: "m0"}, 3)
		d.check(err)
		if len(page) != 3 || page[0].ID != "m1" || page[2].ID != "m3" {
			t.Errorf("a page: %+v", page)
		}
		drawn, err := st.Outline(ctx, scope, got.ID, 100) // the same steps without what is in them
		d.check(err)
		for i := range back {
			x := &back[i]
			x.Provider, x.Usage, x.Attributes = "", drawn[i].Usage, nil
			for _, side := range []*json.RawMessage{&x.Input, &x.Output} {
				if *side != nil {
					*side = json.RawMessage{}
				}
			}
		}
		if diff := cmp.Diff(back, drawn, asText); diff != "" {
			t.Error(diff)
		}
	})
}

// However many spans come together, and however much they hold: each comes back
// by itself, in its page, and when another takes its place.
func TestTraces_ContentsThatStandTogether(t *testing.T) {
	t.Parallel()
	const parts, step = 3, 50 // deliveries, and spans of each
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		var want []core.Span
		for i := range parts * step {
			want = append(want, core.Span{
				ID: fmt.Sprintf("s%03d", i), Kind: core.SpanTool, Name: "look", Status: core.TraceOK, Start: int64(10 + i), End: int64(1_000 + i),
				Input: json.RawMessage(fmt.Sprintf(`{"q":"%d %s"}`, i, strings.Repeat("x", 3_000*(i%3)))), Output: json.RawMessage(fmt.Sprint(i)), Attributes: json.RawMessage(`{"a":1}`),
			})
		}
		want[7].Input, want[8].Output, want[9].Attributes, want[9].Input, want[9].Output = nil, nil, nil, nil, nil
		for from := 0; from < len(want); from += step {
			d.write(st, arrival("a", slices.Clone(want[from:from+step])...))
		}
		d.write(st, arrival("a", slices.Clone(want[:2*step])...)) // again, cut elsewhere
		want[70].End, want[70].Output = 5_000, json.RawMessage(`"later"`)
		d.write(st, arrival("a", want[70], want[71]))
		tr := d.only(st)
		var back []core.Span
		for after := (*traces.SpanPlace)(nil); ; {
			page, err := st.Spans(ctx, scope, tr.ID, after, 40)
			d.check(err)
			back = append(back, page...)
			if len(page) < 40 {
				break
			}
			after = &traces.SpanPlace{Start: page[39].Start, ID: page[39].ID}
		}
		if diff := cmp.Diff(want, back, asText); diff != "" {
			t.Error(diff)
		}
		for _, i := range []int{0, 7, 70, 149} {
			if _, one, err := st.Step(ctx, scope, tr.ID, want[i].ID); err != nil || cmp.Diff(want[i], one, asText) != "" {
				t.Errorf("step %d: %v\n%s", i, err, cmp.Diff(want[i], one, asText))
			}
		}
		var alone, shares int
		d.check(d.raw.QueryRow(`SELECT count(*) FROM spans WHERE share = 0`).Scan(&alone))
		d.check(d.raw.QueryRow(`SELECT count(*) FROM trace_shares`).Scan(&shares))
		if alone != 0 || shares < 2*parts || shares > 5*parts {
			t.Errorf("%d spans alone, %d shares", alone, shares)
		}
	})
}

// A span that was kept before contents stood together is read as it stands.
func TestTraces_FromBeforeContentsStoodTogether(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		one := core.Span{ID: "r", Kind: core.SpanTool, Name: "n", Status: core.TraceOK, Start: 1, End: 2, Input: json.RawMessage(`{"q":"` + strings.Repeat("y", 500) + `"}`)}
		d.write(st, arrival("a", one)) // alone, as each was
		var share int
		d.check(d.raw.QueryRow(`SELECT share FROM spans`).Scan(&share))
		two := one
		two.ID, two.Start = "s", 2
		three := two
		three.ID, three.Start = "t", 3
		d.write(st, arrival("a", two, three))
		back, err := st.Spans(ctx, scope, d.only(st).ID, nil, 10)
		d.check(err)
		if diff := cmp.Diff([]core.Span{one, two, three}, back, asText); diff != "" || share != 0 {
			t.Error(share, diff)
		}
	})
}

// Spans that come again, in whatever order and pieces, change nothing.
func TestTraces_WhatComesTwiceIsKeptOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st, spans := context.Background(), d.agents(), talk(6)
		d.write(st, arrival("whole", spans...))
		for i := len(spans) - 1; i >= 0; i-- { // children before parents
			d.write(st, arrival("pieces", spans[i]), arrival("pieces", spans[(i+1)%len(spans)]))
		}
		d.write(st, arrival("whole", spans...), arrival("pieces", spans...))
		all, err := st.List(ctx, scope, traces.Filter{}, nil, 10)
		d.check(err)
		if len(all) != 2 {
			t.Fatalf("%d traces", len(all))
		}
		ignore := cmpopts.IgnoreFields(core.Trace{}, "ID", "SourceID", "CreatedAt", "UpdatedAt", "ExpiresAt")
		if diff := cmp.Diff(all[0].Trace, all[1].Trace, ignore); diff != "" {
			t.Error(diff)
		}
		c, err := st.Connection(ctx, scope, "c1")
		d.check(err)
		if c.Traces != 2 || c.LastReceivedAt == 0 || c.KeyPrefix != "eri_c1" || c.Capture.Fields[0] != "plate" {
			t.Errorf("%+v", c)
		}
	})
}

// A span that says more takes the place of one that said less, never the other
// way round.
func TestTraces_TheSpanThatSaysMoreStays(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		begun := core.Span{ID: "s", Kind: core.SpanAgent, Name: "n", Status: core.TraceRunning, Start: 5}
		ended := begun
		ended.End, ended.Status, ended.Output = 9, core.TraceOK, json.RawMessage(`"done"`)
		less := ended
		less.Output = nil
		for _, s := range []core.Span{begun, ended, less, begun} {
			d.write(st, arrival("a", s))
		}
		got := d.only(st)
		if got.Spans != 1 || got.Status != core.TraceOK || got.End != 9 || got.Outputs != 1 {
			t.Errorf("%+v", got)
		}
		back, err := st.Spans(ctx, scope, got.ID, nil, 10)
		d.check(err)
		if diff := cmp.Diff([]core.Span{ended}, back); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTraces_ListsByEveryFilter(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		d.connection(st, "c2", core.TraceSDK)
		for i := range 7 {
			s := core.Span{ID: "r", Kind: core.SpanModel, Name: fmt.Sprintf("Order 1%d%%_", i), Status: core.TraceOK, Start: int64(100 * (i / 2)), End: int64(100*(i/2) + 10*i), Model: fmt.Sprint("m", i)}
			switch i {
			case 3:
				s.Status = core.TraceError
			case 5:
				s.Name += " Öl"
			}
			d.write(st, arrival(fmt.Sprint("t", i), s))
		}
		other := arrival("t0", core.Span{ID: "r", Kind: core.SpanTool, Name: "buy", Status: core.TraceOK, Start: 1, End: 2})
		other.Connection = "c2"
		d.write(st, other)
		for _, c := range []struct {
			name string
			f    traces.Filter
			want string
		}{
			{"all, newest first", traces.Filter{}, "t6 t5 t4 t3 t2 t0 t1 t0"},
			{"a connection", traces.Filter{Connection: "c2"}, "t0"},
			{"a status", traces.Filter{Status: core.TraceError}, "t3"},
			{"a name", traces.Filter{Name: "buy"}, "t0"},
			{"a part of a name", traces.Filter{Query: "oRDER 14"}, "t4"},
			{"letters of other alphabets", traces.Filter{Query: "öL"}, "t5"},
			{"a part of a name, a status and a connection", traces.Filter{Query: "order", Status: core.TraceError, Connection: "c1"}, "t3"},
			{"a part that no name has", traces.Filter{Query: "nowhere"}, ""},
			{"a percent sign is itself", traces.Filter{Query: "1%_"}, "t1"},
			{"from and to", traces.Filter{From: 100, To: 200}, "t3 t2"},
			{"a model", traces.Filter{Model: "m5"}, "t5"},
			{"a tool", traces.Filter{Tool: "buy"}, "t0"},
			{"a duration", traces.Filter{LeastDurationNano: 50}, "t6 t5"},
			{"findings", traces.Filter{HasFindings: true}, ""},
		} {
			var ids []string
			var after *traces.Place
			for { // pages of two
				page, err := st.List(ctx, scope, c.f, after, 2)
				d.check(err)
				for _, r := range page {
					ids = append(ids, r.SourceID)
					after = &traces.Place{Start: r.Start, Num: r.Num}
				}
				if len(page) < 2 {
					break
				}
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
			strangers, err := st.List(ctx, foreign, c.f, nil, 10)
			d.check(err)
			if len(strangers) != 0 {
				t.Errorf("%s: another workspace sees %d", c.name, len(strangers))
			}
		}
	})
}

// A name in letters that SQLite does not fold is found also in a trace that was
// there before names were folded.
func TestTraces_NamesFoldedByTheMigration(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		st := d.agents()
		d.write(st, arrival("a", core.Span{ID: "r", Kind: core.SpanAgent, Name: "Öl", Status: core.TraceOK, Start: 1, End: 2}))
		d.must(d.raw.Exec(`UPDATE traces SET folded = lower(name)`))
		for _, name := range []string{"Öl", "öl"} {
			page, err := st.List(context.Background(), scope, traces.Filter{Name: name}, nil, 2)
			d.check(err)
			if found := len(page) == 1; found != (name == "Öl") {
				t.Errorf("%s: %d traces", name, len(page))
			}
		}
	})
}

func TestTraces_GoWithAllOfTheirContent(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		d.write(st, arrival("a", talk(3)...), arrival("b", talk(3)...))
		all, err := st.List(ctx, scope, traces.Filter{}, nil, 10)
		d.check(err)
		d.wants(st.Delete(ctx, foreign, all[0].ID, true), core.NotFound)
		d.must(d.raw.Exec(`UPDATE traces SET held = 2 WHERE num = $1`, all[0].Num))
		d.wants(st.Delete(ctx, scope, all[0].ID, false), core.TraceHeld)
		d.check(st.Delete(ctx, scope, all[0].ID, true))
		d.wants(st.Delete(ctx, scope, all[0].ID, true), core.NotFound)
		rest := d.only(st)
		if back, err := st.Spans(ctx, scope, rest.ID, nil, 10); err != nil || len(back) != 5 {
			t.Errorf("the other trace has %d spans, %v", len(back), err)
		}
		if n, err := st.Expire(ctx); n != 0 || err != nil {
			t.Errorf("expired %d before their time, %v", n, err)
		}
		d.time.Add(31 * 24 * 3600 * 1_000_000)
		if n, err := st.Expire(ctx); n != 1 || err != nil {
			t.Errorf("expired %d, %v", n, err)
		}
		for _, table := range []string{"traces", "spans", "trace_shares", "trace_contents"} {
			var n int
			d.check(d.raw.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n))
			if n != 0 {
				t.Errorf("%d rows of %s stayed", n, table)
			}
		}
		if c, err := st.Connection(ctx, scope, "c1"); err != nil || c.Traces != 0 {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// A trace that was imported is known by its digest: again is a duplicate, and
// another digest is the next revision in the place of the one before.
func TestTraces_Import(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		d.connection(st, "c3", core.TraceLangSmith)
		c, err := st.Connection(ctx, scope, "c3")
		d.check(err)
		one := core.ImportedTrace{TraceID: "x", Digest: "d1", Name: "n", Status: core.TraceOK, Start: 5, End: 9, SpanCount: 5, Spans: talk(3), Labels: []string{"l"}, Redacted: true}
		two := core.ImportedTrace{TraceID: "y", Digest: "d2", Name: "empty", Status: core.TraceError, Start: 5, End: 9}
		bring := func(want string, in ...core.ImportedTrace) {
			t.Helper()
			fates, err := st.Import(ctx, c, "langsmith", in)
			d.check(err)
			got := ""
			for _, f := range fates {
				got += fmt.Sprint(f.TraceID, " ", f.Accepted, f.Duplicate, f.Refused, ";")
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		bring("x true false;y true false;", two, one)
		bring("x false true;y false true;", one, two)
		again := one
		again.Digest, again.Spans, again.SpanCount, again.Partial, again.Reasons = "d3", talk(1), 3, true, []string{"runs_open"}
		bring("x true false;", again)
		all, err := st.List(ctx, scope, traces.Filter{Name: "n"}, nil, 10)
		d.check(err)
		if len(all) != 1 || all[0].Revision != 2 || all[0].Spans != 3 || !all[0].Partial || all[0].Reasons[0] != "runs_open" || all[0].Labels[0] != "l" || !all[0].Redacted || all[0].End != 9 || all[0].Source != "langsmith" {
			t.Errorf("%+v", all)
		}
		if back, err := st.Spans(ctx, scope, all[0].ID, nil, 10); err != nil || len(back) != 3 {
			t.Errorf("%d spans, %v", len(back), err)
		}
		if c, err := st.Connection(ctx, scope, "c3"); err != nil || c.Traces != 2 {
			t.Errorf("%+v, %v", c, err)
		}
		big := two
		big.TraceID, big.Spans = "z", make([]core.Span, core.MaxTraceSpans+1)
		bring("z false falsetrace_too_large;", big)
	})
}

func TestTraces_OneTraceDoesNotGrowForever(t *testing.T) {
	t.Parallel()
	d := newSQLite(t)
	ctx, st := context.Background(), d.agents()
	few := core.Span{ID: "r", Kind: core.SpanOther, Name: "n", Status: core.TraceOK, Start: 1, End: 2}
	d.write(st, arrival("a", few))
	d.must(d.raw.Exec(`UPDATE traces SET spans = $1`, core.MaxTraceSpans))
	more := few
	more.ID = "s"
	refused, err := st.Write(ctx, []core.Arrival{arrival("b", few), arrival("a", more, few)})
	if d.check(err); refused[0] != 0 || refused[1] != 2 {
		t.Errorf("refused %v", refused)
	}
}

// TestTraces_TooLargeBeginsNone: what never has room leaves no trace behind and
// counts as none, however often it is sent.
func TestTraces_TooLargeBeginsNone(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		var many []core.Span
		for i := range core.MaxTraceSpans + 1 {
			many = append(many, core.Span{ID: fmt.Sprint(i), Kind: core.SpanOther, Name: "n", Status: core.TraceOK, Start: 1, End: 2})
		}
		connection := arrival("a").Connection
		before, err := st.Connection(ctx, scope, connection)
		d.check(err)
		for range 2 {
			refused, err := st.Write(ctx, []core.Arrival{arrival("large", many...), arrival("a", many[0])})
			if d.check(err); refused[0] != len(many) || refused[1] != 0 {
				t.Errorf("refused %v", refused)
			}
		}
		after, err := st.Connection(ctx, scope, connection)
		d.check(err)
		if after.Traces-before.Traces != 1 {
			t.Errorf("the connection counts %d traces more, want 1", after.Traces-before.Traces)
		}
		all, err := st.List(ctx, scope, traces.Filter{}, nil, 10)
		d.check(err)
		for _, one := range all {
			if one.Spans == 0 {
				t.Errorf("a trace without spans: %+v", one)
			}
		}
	})
}

func TestTraceConnections(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		key := func(prefix string) (revoked bool) {
			t.Helper()
			k, ok, err := d.Access().KeyByPrefix(ctx, prefix)
			d.check(err)
			if !ok || k.Connection != "c1" || k.Workspace != "w1" || strings.Join(k.Scopes, " ") != "traces:ingest" {
				t.Errorf("%+v, %v", k, ok)
			}
			return k.RevokedAt != 0
		}
		rotate := func(n string) error {
			d.time.Add(1_000_000)
			return st.RotateKey(ctx, scope, "c1", core.APIKey{ID: "k" + n, Prefix: "eri_" + n, MAC: []byte{3}}, core.By{Entry: "log-" + n, Actor: "key-1"})
		}
		d.check(rotate("2"))
		if key("eri_c1") || key("eri_2") {
			t.Error("a rotation ended the key before it")
		}
		d.check(rotate("3"))
		if !key("eri_c1") || key("eri_2") || key("eri_3") {
			t.Error("two rotations later the first key is still good, or the second is not")
		}
		d.check(st.ChangeConnection(ctx, scope, "c1", func(c *core.TraceConnection) error {
			c.Name, c.Days, c.Capture.Inputs = "new", 7, false
			return nil
		}))
		d.wants(st.ChangeConnection(ctx, foreign, "c1", func(*core.TraceConnection) error { return nil }), core.NotFound)
		d.wants(st.DisableConnection(ctx, foreign, "c1", core.By{Entry: "x"}), core.NotFound)
		d.check(st.DisableConnection(ctx, scope, "c1", core.By{Entry: "log-5", Actor: "key-1"}))
		d.check(st.DisableConnection(ctx, scope, "c1", core.By{Entry: "log-6", Actor: "key-1"}))
		lines, err := d.Access().Log(ctx, "w1", nil, 9)
		d.check(err)
		var log []string
		for _, l := range lines {
			log = append(log, l.Action+" "+l.Subject+": "+l.Detail)
		}
		slices.Sort(log)
		if diff := cmp.Diff([]string{
			"key.made eri_c1: traces:ingest", "key.revoked eri_2 eri_3: trace connection c1", "key.rotated eri_2: eri_3; ended eri_c1", "key.rotated eri_c1: eri_2",
		}, log); diff != "" {
			t.Error(diff)
		}
		c, err := st.Connection(ctx, scope, "c1")
		d.check(err)
		if c.Name != "new" || c.Days != 7 || c.Capture.Inputs || c.DisabledAt == 0 || c.KeyID != "k3" || !key("eri_3") || !key("eri_2") {
			t.Errorf("%+v", c)
		}
		d.wants(rotate("4"), core.NotFound)
		_, err = st.Connection(ctx, foreign, "c1")
		d.wants(err, core.NotFound)
		d.time.Add(1)
		d.connection(st, "c2", core.TraceSDK)
		all, err := st.Connections(ctx, scope, nil, 1)
		d.check(err)
		next, err := st.Connections(ctx, scope, &core.Place{At: all[0].CreatedAt, ID: string(all[0].ID)}, 5)
		if d.check(err); all[0].ID != "c2" || len(next) != 1 || next[0].ID != "c1" {
			t.Errorf("%+v, then %+v", all, next)
		}
	})
}

// A finding is one for all traces that show it; looking again changes nothing,
// and one that was fixed comes back as itself.
func TestTraces_Findings(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		d.write(st, arrival("a", talk(1)...), arrival("b", talk(1)...), arrival("c", talk(1)...))
		all, err := st.List(ctx, scope, traces.Filter{}, nil, 10)
		d.check(err)
		e := core.Evaluator{ID: "e1", Workspace: "w1", Name: "tools", Rule: "tool_error", Config: json.RawMessage(`{}`), Severity: "warning", Revision: 1}
		d.check(st.AddEvaluator(ctx, e))
		d.wants(st.AddEvaluator(ctx, e), core.NameTaken)
		saw := func(fresh int, ids ...core.TraceID) {
			t.Helper()
			var hits []core.Occurrence
			for _, id := range ids {
				hits = append(hits, core.Occurrence{Hit: core.Hit{Span: "t", Signature: "s", Title: "it failed", Detail: string(id)}, Fingerprint: "f1", Trace: id})
			}
			if n, err := st.Found(ctx, scope, e, hits, uuid.NewString); n != fresh || err != nil {
				t.Errorf("%d new findings, %v", n, err)
			}
		}
		saw(1, all[0].ID, all[1].ID, all[0].ID)
		saw(0, all[0].ID, all[1].ID)
		list, err := st.FindingList(ctx, scope, traces.FindingFilter{Trace: all[0].ID, Evaluator: "e1", Status: "open", Severity: "warning"}, nil, 10)
		d.check(err)
		if len(list) != 1 || list[0].Seen != 2 || list[0].Trace != all[1].ID || list[0].Span != "t" || list[0].Recurred != 0 {
			t.Fatalf("%+v", list)
		}
		id := list[0].ID
		for _, f := range []traces.FindingFilter{{Trace: all[2].ID}, {Status: "fixed"}, {Severity: "error"}, {Evaluator: "e2"}} {
			if none, err := st.FindingList(ctx, scope, f, nil, 10); err != nil || len(none) != 0 {
				t.Errorf("%+v: %+v, %v", f, none, err)
			}
		}
		set := func(status string) {
			d.check(st.ChangeFinding(ctx, scope, id, func(f *core.Finding) error { f.Status, f.Note = status, "n"; return nil }))
		}
		set("fixed")
		saw(0, all[0].ID)
		if f, err := st.Finding(ctx, scope, id); err != nil || f.Status != "fixed" {
			t.Errorf("seen in a trace of before: %+v, %v", f, err)
		}
		saw(0, all[2].ID)
		if f, err := st.Finding(ctx, scope, id); err != nil || f.Status != "open" || f.Recurred != 1 || f.Seen != 3 || f.Note != "n" {
			t.Errorf("it came back: %+v, %v", f, err)
		}
		if with, err := st.List(ctx, scope, traces.Filter{HasFindings: true}, nil, 10); err != nil || len(with) != 3 || with[0].Findings != 1 {
			t.Errorf("%+v, %v", with, err)
		}
		d.wants(st.ChangeFinding(ctx, foreign, id, func(*core.Finding) error { return nil }), core.NotFound)
		d.wants(st.ChangeEvaluator(ctx, foreign, "e1", func(*core.Evaluator) error { return nil }), core.NotFound)
		seen := 0
		d.check(st.EachRecent(ctx, scope, 2, func(tr core.Trace, spans []core.Span) error {
			seen++
			if len(spans) != 3 || tr.Spans != 3 {
				t.Errorf("%d steps of %+v", len(spans), tr)
			}
			return nil
		}))
		if seen != 2 {
			t.Errorf("%d traces", seen)
		}
		d.check(st.Delete(ctx, scope, all[0].ID, true)) // findings stay
		if f, err := st.Finding(ctx, scope, id); err != nil || f.Seen != 3 {
			t.Errorf("%+v, %v", f, err)
		}
	})
}
