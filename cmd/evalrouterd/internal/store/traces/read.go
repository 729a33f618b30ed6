package traces

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Filter selects traces; the zero value of a field is any.
type Filter struct {
	Connection        core.TraceConnectionID
	Status, Name      string
	Query             string // part of the name, without regard to case
	From, To          int64  // of the start, unix nanoseconds; To is exclusive
	HasFindings       bool
	Model, Tool       string
	LeastDurationNano int64
}

// Place is where a page of traces begins: behind the trace that started then
// and has that number.
type Place struct{ Start, Num int64 }

// Row is a trace with its number, which a cursor needs.
type Row struct {
	core.Trace
	Num int64
}

const traceColumns = `num, id, workspace_id, connection_id, source, source_id, revision, digest, partial, reasons_doc, labels_doc, name, status, error_type, error_text, agent, conversation,
	start_ns, end_ns, root_ended, orphans, spans, model_calls, tool_calls, models_doc, tools_doc, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost,
	inputs, outputs, inputs_cut, outputs_cut, redacted, findings, held, created_at, updated_at, expires_at`

func scanTrace(rows *sql.Rows) (t Row, err error) {
	var reasons, labels, models, tools string
	var partial, rootEnded, redacted int
	var cost *int64
	err = rows.Scan(&t.Num, &t.ID, &t.Workspace, &t.Connection, &t.Source, &t.SourceID, &t.Revision, &t.Digest, &partial, &reasons, &labels, &t.Name, &t.Status, &t.ErrorType, &t.ErrorText, &t.Agent, &t.Conversation,
		&t.Start, &t.End, &rootEnded, &t.Orphans, &t.Spans, &t.Models, &t.Tools, &models, &tools, &t.Usage.Input, &t.Usage.Output, &t.Usage.Cached, &t.Usage.Reasoning, &cost,
		&t.Inputs, &t.Outputs, &t.InputsCut, &t.OutputsCut, &redacted, &t.Findings, &t.Held, &t.CreatedAt, &t.UpdatedAt, &t.ExpiresAt)
	if err != nil {
		return t, err
	}
	t.Partial, t.RootEnded, t.Redacted = partial == 1, rootEnded == 1, redacted == 1
	t.Cost = amount(cost)
	for _, d := range []struct {
		doc string
		to  *[]string
	}{{reasons, &t.Reasons}, {labels, &t.Labels}, {models, &t.ModelNames}, {tools, &t.ToolNames}} {
		if err := json.Unmarshal([]byte(d.doc), d.to); err != nil {
			return t, fmt.Errorf("read trace %s: %w", t.ID, err)
		}
	}
	return t, nil
}

func amount(n *int64) *usd.Micro {
	if n == nil {
		return nil
	}
	m := usd.Micro(*n)
	return &m
}

// List lists traces, those first that started last.
func (s *Store) List(ctx context.Context, sc core.Scope, f Filter, after *Place, limit int) ([]Row, error) {
	text, args := `SELECT `+traceColumns+` FROM traces WHERE workspace_id = $1 AND spans > 0`, []any{string(sc.Workspace)}
	add := func(condition string, v ...any) {
		for range v {
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)+1), 1)
			args = append(args, v[0])
			v = v[1:]
		}
		text += " AND " + condition
	}
	// What has an index of its own is not looked up there where the index of lists
	// answers more of the question.
	alone := ` = ?`
	if f.Name+f.Query+f.Model+f.Tool != "" || f.LeastDurationNano != 0 {
		alone = ` || '' = ?`
	}
	if f.Connection != "" {
		add(`connection_id`+alone, string(f.Connection))
	}
	if f.Status != "" {
		add(`status`+alone, f.Status)
	}
	switch {
	case f.Name == "":
	case strings.IndexFunc(f.Name, func(r rune) bool { return r > unicode.MaxASCII }) < 0:
		add(`folded = ? AND name = ?`, strings.ToLower(f.Name), f.Name)
	default: // names that were there before they were folded were folded by SQLite, which knows ASCII only
		add(`name = ?`, f.Name)
	}
	if f.Query != "" {
		add(`folded LIKE ? ESCAPE '!'`, "%"+like(strings.ToLower(f.Query))+"%")
	}
	if f.From != 0 {
		add(`start_ns >= ?`, f.From)
	}
	if f.To != 0 {
		add(`start_ns < ?`, f.To)
	}
	if f.HasFindings {
		add(`findings > 0`)
	}
	for _, n := range [][2]string{{"models_doc", f.Model}, {"tools_doc", f.Tool}} {
		if n[1] != "" {
			name, err := json.Marshal(n[1])
			if err != nil {
				return nil, err
			}
			add(n[0]+` LIKE ? ESCAPE '!'`, "%"+like(string(name))+"%")
		}
	}
	if f.LeastDurationNano != 0 {
		add(`end_ns - start_ns >= ?`, f.LeastDurationNano)
	}
	if after != nil {
		// The first half is where an index begins; the second one alone is read from
		// the newest trace on.
		add(`start_ns <= ? AND (start_ns < ? OR num < ?)`, after.Start, after.Start, after.Num)
	}
	args = append(args, limit)
	rows, err := s.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY start_ns DESC, num DESC LIMIT $%d`, len(args)), args...)
	return gather(rows, err, scanTrace)
}

// like keeps a text from meaning more than itself.
func like(s string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(s)
}

// Trace reads a trace by our id.
func (s *Store) Trace(ctx context.Context, sc core.Scope, id core.TraceID) (Row, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+traceColumns+` FROM traces WHERE workspace_id = $1 AND id = $2 AND spans > 0`, string(sc.Workspace), string(id))
	all, err := gather(rows, err, scanTrace)
	switch {
	case err != nil:
		return Row{}, fmt.Errorf("read trace: %w", err)
	case len(all) == 0:
		return Row{}, core.Missing("trace")
	}
	return all[0], nil
}

// SpanPlace is where a page of spans begins: behind the span that started then
// and has that id.
type SpanPlace struct {
	Start int64
	ID    string
}

// Spans lists the spans of a trace by their start, with their contents.
func (s *Store) Spans(ctx context.Context, sc core.Scope, id core.TraceID, after *SpanPlace, limit int) ([]core.Span, error) {
	t, err := s.Trace(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	text, args := `SELECT `+spanColumns+` FROM spans WHERE trace = $1`, []any{t.Num}
	if after != nil {
		text += ` AND (start_ns > $2 OR (start_ns = $3 AND id > $4))`
		args = append(args, after.Start, after.Start, after.ID)
	}
	args = append(args, limit)
	rows, err := s.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY start_ns, id LIMIT $%d`, len(args)), args...)
	raw, err := gather(rows, err, scanSpan)
	if err != nil {
		return nil, fmt.Errorf("read the spans of trace %s: %w", id, err)
	}
	return s.whole(ctx, t.Num, raw)
}

// spanRow is a span whose content was not looked for yet.
type spanRow struct {
	core.Span
	body         []byte
	share        int64
	flags, place int
}

func scanSpan(rows *sql.Rows) (x spanRow, err error) {
	var trace int64
	var weight int
	var cost *int64
	err = rows.Scan(&trace, &x.ID, &x.ParentID, &x.Kind, &x.Name, &x.Status, &x.ErrorType, &x.ErrorText, &x.Start, &x.End, &x.Provider, &x.Model,
		&x.Usage.Input, &x.Usage.Output, &x.Usage.Cached, &x.Usage.Reasoning, &cost, &x.body, &x.flags, &weight, &x.share, &x.place)
	if err != nil {
		return x, err
	}
	x.Cost = amount(cost)
	x.InputCut, x.OutputCut = x.flags&flagInputCut != 0, x.flags&flagOutputCut != 0
	return x, nil
}

// contentsAtOnce is how many contents or shares are read at a time.
const contentsAtOnce = 64

// whole puts spans and their contents together again.
func (s *Store) whole(ctx context.Context, trace int64, rows []spanRow) ([]core.Span, error) {
	spans, err := s.opened(ctx, trace, rows)
	if err != nil {
		return nil, err
	}
	held, err := s.contents(ctx, trace, spans)
	if err != nil {
		return nil, err
	}
	fetch := func(hash [hashLen]byte) ([]byte, bool) { data, ok := held[hash]; return data, ok }
	for i := range spans {
		x := &spans[i]
		for _, side := range []*json.RawMessage{&x.Input, &x.Output} {
			joined, err := join(*side, fetch)
			if err != nil {
				return nil, fmt.Errorf("read the content of span %s: %w", x.ID, err)
			}
			*side = joined
		}
	}
	return spans, nil
}

// opened gives each span its content, still in pieces.
func (s *Store) opened(ctx context.Context, trace int64, rows []spanRow) ([]core.Span, error) {
	shares, err := s.shares(ctx, trace, rows)
	if err != nil {
		return nil, err
	}
	out := make([]core.Span, 0, len(rows))
	for _, r := range rows {
		body, err := []byte(nil), errPieces
		if of := shares[r.share]; r.share == 0 {
			body, err = s.unpack(r.body)
		} else if r.place < len(of) {
			body, err = of[r.place], nil
		}
		var three [3][]byte
		if err == nil {
			three, err = parts(body)
		}
		if err != nil {
			return nil, fmt.Errorf("read span %s: %w", r.ID, err)
		}
		x := r.Span
		if r.flags&flagInput != 0 {
			x.Input = three[0]
		}
		if r.flags&flagOutput != 0 {
			x.Output = three[1]
		}
		if len(three[2]) > 0 {
			x.Attributes = three[2]
		}
		out = append(out, x)
	}
	return out, nil
}

// shares reads every share that the rows name.
func (s *Store) shares(ctx context.Context, trace int64, spans []spanRow) (map[int64][][]byte, error) {
	out := map[int64][][]byte{}
	var wanted []int64
	for _, x := range spans {
		if _, there := out[x.share]; x.share != 0 && !there {
			out[x.share] = nil
			wanted = append(wanted, x.share)
		}
	}
	err := inChunks(len(wanted), contentsAtOnce, func(from, to int) error {
		args := []any{trace}
		for _, n := range wanted[from:to] {
			args = append(args, n)
		}
		rows, err := s.db.QueryContext(ctx, `SELECT share, data FROM trace_shares WHERE trace = $1 AND share IN `+marks(2, 1, to-from), args...)
		_, err = gather(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
			var share int64
			var data []byte
			if err = rows.Scan(&share, &data); err == nil {
				out[share], err = s.bodies(data)
			}
			return none, err
		})
		return err
	})
	return out, err
}

// contents reads every content that the spans name.
func (s *Store) contents(ctx context.Context, trace int64, spans []core.Span) (map[[hashLen]byte][]byte, error) {
	held := map[[hashLen]byte][]byte{}
	var wanted [][hashLen]byte
	for _, x := range spans {
		for _, side := range [][]byte{x.Input, x.Output} {
			// What cannot be read fails where it is put together.
			_, _ = join(side, func(hash [hashLen]byte) ([]byte, bool) {
				if _, there := held[hash]; !there {
					held[hash] = nil
					wanted = append(wanted, hash)
				}
				return nil, true
			})
		}
	}
	clear(held)
	err := inChunks(len(wanted), contentsAtOnce, func(from, to int) error {
		args := []any{trace}
		for _, h := range wanted[from:to] {
			args = append(args, h[:])
		}
		rows, err := s.db.QueryContext(ctx, `SELECT hash, data FROM trace_contents WHERE trace = $1 AND hash IN `+marks(2, 1, to-from), args...)
		_, err = gather(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
			var hash, stored []byte
			if err := rows.Scan(&hash, &stored); err != nil {
				return none, err
			}
			data, err := s.unpack(stored)
			held[[hashLen]byte(hash)] = data
			return none, err
		})
		return err
	})
	return held, err
}

const lightColumns = `id, parent_id, kind, name, status, error_type, error_text, start_ns, end_ns, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost, flags`

// scanLight reads a span without its contents. One that is there is empty.
func scanLight(rows *sql.Rows) (x core.Span, err error) {
	var flags int
	var cost *int64
	err = rows.Scan(&x.ID, &x.ParentID, &x.Kind, &x.Name, &x.Status, &x.ErrorType, &x.ErrorText, &x.Start, &x.End, &x.Model, &x.Usage.Input, &x.Usage.Output, &x.Usage.Cached, &x.Usage.Reasoning, &cost, &flags)
	if flags&flagInput != 0 {
		x.Input = json.RawMessage{}
	}
	if flags&flagOutput != 0 {
		x.Output = json.RawMessage{}
	}
	x.Cost = amount(cost)
	x.InputCut, x.OutputCut = flags&flagInputCut != 0, flags&flagOutputCut != 0
	return x, err
}

// lightSpans reads of a trace's spans what its sum needs.
func lightSpans(t Tx, trace int64) ([]core.Span, error) {
	rows, err := t.Rows(`SELECT `+lightColumns+` FROM spans WHERE trace = $1`, trace)
	return gather(rows, err, scanLight)
}

// Outline lists the spans of a trace by their start as a drawing needs them:
// without attributes, and whatever has a content only says so.
func (s *Store) Outline(ctx context.Context, sc core.Scope, id core.TraceID, limit int) ([]core.Span, error) {
	t, err := s.Trace(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+lightColumns+` FROM spans WHERE trace = $1 ORDER BY start_ns, id LIMIT $2`, t.Num, limit)
	out, err := gather(rows, err, scanLight)
	if err != nil {
		return nil, fmt.Errorf("read the spans of trace %s: %w", id, err)
	}
	return out, nil
}

// Step reads one step of a trace with its contents; span "" is the root that
// started first.
func (s *Store) Step(ctx context.Context, sc core.Scope, id core.TraceID, span string) (core.Trace, core.Span, error) {
	t, err := s.Trace(ctx, sc, id)
	if err != nil {
		return core.Trace{}, core.Span{}, err
	}
	condition, args := ` AND id = $2`, []any{t.Num, span}
	if span == "" {
		condition, args = ` AND parent_id = ''`, args[:1]
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+spanColumns+` FROM spans WHERE trace = $1`+condition+` ORDER BY start_ns, id LIMIT 1`, args...)
	found, err := gather(rows, err, scanSpan)
	if err == nil && len(found) == 0 {
		err = core.Missing("step of the trace")
	}
	var all []core.Span
	if err == nil {
		all, err = s.whole(ctx, t.Num, found)
	}
	if err != nil {
		return core.Trace{}, core.Span{}, err
	}
	return t.Trace, all[0], nil
}
