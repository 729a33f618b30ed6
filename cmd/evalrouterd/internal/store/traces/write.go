package traces

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/sum"
)

// rowsAtOnce is how many rows of a batch share an INSERT.
const rowsAtOnce = 32

// day is in microseconds.
const day = 24 * 3600 * 1_000_000

// key is what a trace is found by.
type key struct {
	connection core.TraceConnectionID
	trace      string
}

// group is what a transaction brings of one trace.
type group struct {
	key
	of       core.Arrival // without its spans
	redacted bool
	spans    map[string]core.Span
	from     []int // the arrivals that it came from
	num      int64
	had      int64 // spans that it had before
	shares   int64 // shares that it has
	conv     string
	agent    string
}

// Write keeps what arrived, all of it in one transaction, and gives how many
// spans of each arrival were refused because their trace has too many.
func (s *Store) Write(ctx context.Context, arrivals []core.Arrival) (refused []int, err error) {
	groups := grouped(arrivals)
	err = s.do(ctx, func(t Tx) error {
		refused = make([]int, len(arrivals))
		// fits keeps the groups that a trace has room for. What never has it begins
		// no trace.
		fits := func(groups []*group) (kept []*group) {
			for _, g := range groups {
				if g.had+int64(len(g.spans)) <= core.MaxTraceSpans {
					kept = append(kept, g)
					continue
				}
				for _, i := range g.from {
					refused[i] = len(arrivals[i].Spans)
				}
			}
			return kept
		}
		for _, g := range groups {
			g.had = 0 // a transaction that is tried again knows nothing of the last try
		}
		kept := fits(groups)
		if err := s.find(t, kept); err != nil {
			return fmt.Errorf("find traces: %w", err)
		}
		fresh := map[core.TraceConnectionID]int64{}
		for _, g := range kept {
			if g.had == 0 {
				fresh[g.connection]++
			}
		}
		kept = fits(kept)
		if err := s.add(t, kept); err != nil {
			return err
		}
		return received(t, groups, fresh)
	})
	return refused, err
}

// grouped sorts what arrived by trace, so that two processes take the rows of
// traces in one order, and keeps of each span what says most.
func grouped(arrivals []core.Arrival) []*group {
	by := map[key]*group{}
	var out []*group
	for i, a := range arrivals {
		k := key{a.Connection, a.TraceID}
		g := by[k]
		if g == nil {
			g = &group{key: k, of: a, spans: make(map[string]core.Span, len(a.Spans))}
			by[k] = g
			out = append(out, g)
		}
		g.from = append(g.from, i)
		g.redacted = g.redacted || a.Redacted
		for _, sp := range a.Spans {
			if old, there := g.spans[sp.ID]; !there || says(sp, old) {
				g.spans[sp.ID] = sp
			}
		}
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.connection, b.connection), cmp.Compare(a.trace, b.trace))
	})
	return out
}

// says is the rule of the statement in addSpans: a says more than b.
func says(a, b core.Span) bool {
	return a.End > b.End || a.End == b.End && weight(a) > weight(b)
}

// find finds the traces, or begins them.
func (s *Store) find(t Tx, groups []*group) error {
	return inChunks(len(groups), rowsAtOnce, func(from, to int) error {
		part := groups[from:to]
		args := make([]any, 0, len(part)*8)
		at := map[key]*group{}
		for _, g := range part {
			at[g.key] = g
			args = append(args, s.newID(), string(g.of.Workspace), string(g.connection), g.of.Source, g.trace, int64(t.Now()), int64(t.Now()), int64(t.Now())+int64(g.of.Days)*day)
		}
		rows, err := t.Rows(`INSERT INTO traces (id, workspace_id, connection_id, source, source_id, created_at, updated_at, expires_at) VALUES `+marks(1, len(part), 8)+`
			ON CONFLICT (connection_id, source_id) DO UPDATE SET updated_at = excluded.updated_at RETURNING num, connection_id, source_id, spans, shares, conversation, agent`, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n, had, shares int64
			var k key
			var conv, agent string
			if err := rows.Scan(&n, &k.connection, &k.trace, &had, &shares, &conv, &agent); err != nil {
				return err
			}
			g := at[k]
			g.num, g.had, g.shares, g.conv, g.agent = n, had, shares, conv, agent
		}
		return rows.Err()
	})
}

// add keeps the spans of traces: those of the ones that nothing came before
// together, each other one with what it has, because a span may have come
// before.
func (s *Store) add(t Tx, groups []*group) error {
	var fresh []*held
	for _, g := range groups {
		one := &held{g.num, g.shares, ordered(g.spans)}
		if g.had == 0 {
			fresh = append(fresh, one)
			continue
		}
		if err := s.addSpans(t, []*held{one}, true); err != nil {
			return fmt.Errorf("keep spans: %w", err)
		}
		g.shares = one.shares
	}
	if err := s.addSpans(t, fresh, false); err != nil {
		return fmt.Errorf("keep spans: %w", err)
	}
	for _, g := range groups {
		var spans []core.Span
		if g.had == 0 {
			spans, g.shares, fresh = fresh[0].spans, fresh[0].shares, fresh[1:]
		} else {
			var err error
			if spans, err = lightSpans(t, g.num); err != nil {
				return fmt.Errorf("read spans: %w", err)
			}
		}
		if err := s.summarise(t, g, spans); err != nil {
			return err
		}
	}
	return nil
}

// summarise sums a trace up again.
func (s *Store) summarise(t Tx, g *group, spans []core.Span) error {
	total := sum.Of(spans)
	for _, sp := range g.spans { // what rows do not hold
		total.Conversation = cmp.Or(total.Conversation, sp.Conversation)
		total.Agent = cmp.Or(total.Agent, sp.Agent)
	}
	total.Conversation, total.Agent = cmp.Or(g.conv, total.Conversation), cmp.Or(total.Agent, g.agent)
	return keepSum(t, g.num, g.shares, total, g.redacted)
}

func ordered(spans map[string]core.Span) []core.Span {
	out := make([]core.Span, 0, len(spans))
	for _, s := range spans {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b core.Span) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

const spanColumns = `trace, id, parent_id, kind, name, status, error_type, error_text, start_ns, end_ns, provider, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost, body, flags, weight, share, place`

const spanWidth = 22

// Flags of a span.
const (
	flagInputCut  = 1
	flagOutputCut = 2
	flagInput     = 4 // it has one
	flagOutput    = 8
)

// held are spans of the trace with that number, which has so many shares.
type held struct {
	trace, shares int64
	spans         []core.Span
}

// addSpans keeps spans and their contents, and counts shares. again says that a
// trace may have some of them.
func (s *Store) addSpans(t Tx, all []*held, again bool) error {
	n := 0
	for _, h := range all {
		s.packSpans(h.spans)
		n += len(h.spans)
	}
	rows, parts, shares := make([]any, 0, n*spanWidth), []any{}, []any{}
	for _, h := range all {
		seen := map[[hashLen]byte]bool{}
		at := map[*core.PackedShare]int64{nil: 0}
		for _, x := range h.spans {
			var cost any
			if x.Cost != nil {
				cost = int64(*x.Cost)
			}
			share, known := at[x.Packed.Share]
			if !known {
				h.shares++
				share = h.shares
				at[x.Packed.Share] = share
				shares = append(shares, h.trace, share, x.Packed.Share.Data)
			}
			rows = append(rows, h.trace, x.ID, x.ParentID, x.Kind, x.Name, x.Status, x.ErrorType, x.ErrorText, x.Start, x.End, x.Provider, x.Model,
				number(x.Usage.Input), number(x.Usage.Output), number(x.Usage.Cached), number(x.Usage.Reasoning), cost, body(x), flagsOf(x), x.Packed.Weight, share, x.Packed.Place)
			for _, c := range x.Packed.Parts {
				if !seen[c.Hash] {
					seen[c.Hash] = true
					parts = append(parts, h.trace, c.Hash[:], c.Data)
				}
			}
		}
	}
	conflict := ``
	if again {
		conflict = ` ON CONFLICT (trace, id) DO UPDATE SET parent_id = excluded.parent_id, kind = excluded.kind, name = excluded.name, status = excluded.status,
			error_type = excluded.error_type, error_text = excluded.error_text, start_ns = excluded.start_ns, end_ns = excluded.end_ns, provider = excluded.provider, model = excluded.model,
			input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cached_tokens = excluded.cached_tokens, reasoning_tokens = excluded.reasoning_tokens,
			cost = excluded.cost, body = excluded.body, flags = excluded.flags, weight = excluded.weight, share = excluded.share, place = excluded.place
			WHERE excluded.end_ns > spans.end_ns OR (excluded.end_ns = spans.end_ns AND excluded.weight > spans.weight)`
	}
	err := inChunks(n, rowsAtOnce, func(from, to int) error {
		_, err := t.Exec(`INSERT INTO spans (`+spanColumns+`) VALUES `+marks(1, to-from, spanWidth)+conflict, rows[from*spanWidth:to*spanWidth]...)
		return err
	})
	if err != nil {
		return err
	}
	err = inChunks(len(shares)/3, rowsAtOnce, func(from, to int) error {
		_, err := t.Exec(`INSERT INTO trace_shares (trace, share, data) VALUES `+marks(1, to-from, 3), shares[from*3:to*3]...)
		return err
	})
	if err != nil {
		return err
	}
	return inChunks(len(parts)/3, rowsAtOnce, func(from, to int) error {
		_, err := t.Exec(`INSERT INTO trace_contents (trace, hash, data) VALUES `+marks(1, to-from, 3)+` ON CONFLICT (trace, hash) DO NOTHING`, parts[from*3:to*3]...)
		return err
	})
}

// body is the content of a span that has it to itself. It is never empty: the
// driver of SQLite reads nothing as NULL, which no move to another database
// survives.
func body(x core.Span) []byte {
	if x.Packed.Share != nil {
		return []byte{asIs}
	}
	return x.Packed.Body
}

// number is a number or nil, which no driver has to look behind a pointer for.
func number(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

func flagsOf(x core.Span) (flags int) {
	for _, f := range []struct {
		set  bool
		flag int
	}{{x.InputCut, flagInputCut}, {x.OutputCut, flagOutputCut}, {x.Input != nil, flagInput}, {x.Output != nil, flagOutput}} {
		if f.set {
			flags |= f.flag
		}
	}
	return flags
}

// keepSum writes what a trace's spans say together.
func keepSum(t Tx, num, shares int64, v core.TraceSummary, redacted bool) error {
	models, tools := list(v.ModelNames), list(v.ToolNames)
	var cost any
	if v.Cost != nil {
		cost = int64(*v.Cost)
	}
	return t.One(`UPDATE traces SET name = $1, status = $2, error_type = $3, error_text = $4, agent = $5, conversation = $6, start_ns = $7, end_ns = $8, root_ended = $9, orphans = $10,
		spans = $11, model_calls = $12, tool_calls = $13, models_doc = $14, tools_doc = $15, input_tokens = $16, output_tokens = $17, cached_tokens = $18, reasoning_tokens = $19, cost = $20,
		inputs = $21, outputs = $22, inputs_cut = $23, outputs_cut = $24, redacted = CASE WHEN redacted > $25 THEN redacted ELSE $26 END, shares = $27, folded = $28 WHERE num = $29`,
		v.Name, v.Status, v.ErrorType, v.ErrorText, v.Agent, v.Conversation, v.Start, v.End, flag(v.RootEnded), v.Orphans,
		v.Spans, v.Models, v.Tools, models, tools, v.Usage.Input, v.Usage.Output, v.Usage.Cached, v.Usage.Reasoning, cost,
		v.Inputs, v.Outputs, v.InputsCut, v.OutputsCut, flag(redacted), flag(redacted), shares, strings.ToLower(v.Name), num)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// list is texts as JSON; texts always encode.
func list(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	b, _ := json.Marshal(texts)
	return string(b)
}

// received notes on each connection that something came.
func received(t Tx, groups []*group, fresh map[core.TraceConnectionID]int64) error {
	last := core.TraceConnectionID("")
	for _, g := range groups { // in the order of connections
		if g.connection == last {
			continue
		}
		last = g.connection
		if err := t.One(`UPDATE trace_connections SET received_at = $1, traces = traces + $2 WHERE id = $3`, int64(t.Now()), fresh[last], string(last)); err != nil {
			return fmt.Errorf("note what connection %s received: %w", last, err)
		}
	}
	return nil
}
