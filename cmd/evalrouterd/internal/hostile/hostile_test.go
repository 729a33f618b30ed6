// Package hostile_test puts every fault of a network and of a provider
// between the engine and its provider, with the production engine, store,
// adapter and transport on this side and bytes of a scenario on the other.
// What counts is what the record says afterwards: what became of each call,
// what was charged, and whether anything was sent again.
//
// The table follows the rows of the outcome classification: not sent,
// rejected, definitive, refused, answered, malformed, server errors, broken
// and redirected.
package hostile_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// minScenarios is how many there are at least.
const minScenarios = 60

// scenario is what happens on the line, and what the record must say.
type scenario struct {
	name string
	// tasks of the run, one after the other; 0 means one.
	tasks int
	// answers are given to the requests in turn, and then to all others: a
	// good answer when nil.
	answers []act
	then    act
	// greet takes the place of reading a request, echo that of answers.
	greet act
	echo  func(asked []byte) act
	// secure lets the line speak TLS, with a certificate that nobody trusts;
	// base is another base URL, {addr} being the line's address.
	secure bool
	base   string
	// names answers the look-up of a name, counted from 1; nil finds nothing.
	names func(lookup int) (addr string, err error)
	// patience is the deadline of a call; 0 means ten seconds.
	patience time.Duration
	want     want
}

// want is what the record says at the end.
type want struct {
	// Calls are the states of all calls, in the order in which they began.
	Calls []core.CallState
	// Task is the state of the last task that was opened, with its code.
	Task string
	// Charged is the run's charge, Absorbed what the service pays itself, in
	// micro-dollars. Waived says that a reservation was given up as unknown.
	Charged, Absorbed int64
	Waived            bool
	// Requests is how many the provider read whole.
	Requests int
	Reason   core.Reason
	// Kept is how many bodies are kept as evidence.
	Kept int
	// Waited is the least time that the engine waited.
	Waited time.Duration
}

func TestHostile_Scenarios(t *testing.T) {
	t.Parallel()
	all := slices.Concat(notSent(), rejections(), definitive(), answers(), malformed(), serverErrors(), broken(), redirects())
	if len(all) < minScenarios {
		t.Fatalf("%d scenarios; at least %d are promised", len(all), minScenarios)
	}
	t.Logf("%d scenarios", len(all))
	b := newBooks(t)
	t.Run("all", func(t *testing.T) {
		for i, s := range all {
			if i%everyNth != 0 {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				play(t, b, s)
			})
		}
	})
	b.audit(t)
}

// Two answers to one request are one answer: the second is never taken for
// that of the next question on the same connection.
func TestHostile_AnswersDoNotSlip(t *testing.T) {
	t.Parallel()
	const tasks, limit = 200, 8
	s := scenario{echo: func(asked []byte) act {
		sum := sha256.Sum256(asked)
		one := respond(200, strings.Replace(body, "ANSWER: 1", hex.EncodeToString(sum[:]), 1))
		return keep(one + one)
	}}
	b := newBooks(t)
	w := newWorld(t, b, s, newLine(t, s))
	id := w.run(tasks, limit)
	b.audit(t)
	for _, c := range w.record(id).Calls {
		if c != core.CallResponded && c != core.CallVoided {
			t.Errorf("a call is %s; a connection with a second answer on it takes no request, which costs nothing", c)
		}
	}
	raw, err := sql.Open("sqlite", "file:"+w.path)
	w.check(err)
	defer raw.Close()
	rows, err := raw.QueryContext(t.Context(), `SELECT c.idx, c.state, c.request_hash, coalesce(b.data, '') FROM calls c LEFT JOIN blobs b ON b.call_id = c.id`)
	w.check(err)
	defer rows.Close()
	answered, slipped := 0, 0
	for rows.Next() {
		var idx int
		var state core.CallState
		var asked, got string
		w.check(rows.Scan(&idx, &state, &asked, &got))
		if state != core.CallResponded {
			continue
		}
		if answered++; !strings.Contains(got, asked) {
			slipped++
		}
	}
	w.check(rows.Err())
	if slipped > 0 || answered == 0 {
		t.Errorf("%d of %d answers are those of another question", slipped, answered)
	}
}

func (s scenario) after() act {
	if s.then != nil {
		return s.then
	}
	return keep(good)
}

// play runs a scenario and compares the record with what it must say.
func play(t *testing.T, b books, s scenario) {
	n := newLine(t, s)
	w := newWorld(t, b, s, n)
	id := w.run(max(s.tasks, 1), 1)
	got := w.record(id)
	got.Requests = n.count()
	if waited := w.clock.skipped(); waited >= s.want.Waited {
		got.Waited = s.want.Waited
	} else {
		got.Waited = waited
	}
	if d := gocmp.Diff(s.want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// books are one database for many scenarios, a workspace for each: making
// the tables takes longer than a scenario.
type books struct {
	store *store.Store
	path  string
}

func newBooks(t *testing.T) books {
	t.Helper()
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "hostile"); err == nil { // commits to memory
		t.Cleanup(func() { os.RemoveAll(shm) })
		dir = shm
	}
	b := books{path: filepath.Join(dir, "t.db")}
	var err error
	if b.store, err = store.Open(t.Context(), store.Options{Path: b.path, Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b books) audit(t *testing.T) {
	t.Helper()
	found, err := b.store.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("audit: %s %s: %s", f.Rule, f.Subject, f.Detail)
	}
}

// world is the service without its HTTP layer. It is not started: it would
// take up the runs of the other scenarios.
type world struct {
	books
	t       *testing.T
	scope   core.Scope
	catalog *catalog.Catalog
	engine  *engine.Engine
	admit   *admission.Service
	clock   *skipping
	changed chan struct{}
	target  core.Target
}

func newWorld(t *testing.T, b books, s scenario, n *line) *world {
	t.Helper()
	w := &world{books: b, t: t, scope: core.Scope{Workspace: core.WorkspaceID(uuid.NewString()), Actor: "owner"}, clock: &skipping{}, changed: make(chan struct{}, 1)}
	ws := string(w.scope.Workspace)
	_, err := w.store.CreateWorkspace(t.Context(), core.WorkspaceInfo{ID: w.scope.Workspace, Slug: ws, Name: "W"})
	w.check(err)
	w.check(w.store.Grant(t.Context(), "grant of "+ws, w.scope.Workspace, core.CreditBook, usd.Dollar, ""))
	w.target = core.Target{
		Kind: core.Managed, RouteID: "r", ModelID: "m", DisplayName: "M", Provider: "p", Protocol: core.OpenAIChat, Revision: 1, BaseURL: s.address(n),
		ContextWindow: 32768, MaxOutputTokens: 100, Priced: true, Ceiling: 8, Auto: 1, Status: "active",
		Prices: core.Prices{Version: "1", Input: usd.PerMillion(usd.Dollar), Output: usd.PerMillion(2 * usd.Dollar), Reasoning: usd.PerMillion(2 * usd.Dollar)},
	}
	w.wire(s)
	return w
}

func (s scenario) address(n *line) string {
	addr := n.l.Addr().String()
	switch {
	case s.base != "":
		_, port, _ := strings.Cut(addr, ":")
		return strings.NewReplacer("{addr}", addr, "{port}", port).Replace(s.base)
	case s.secure:
		return "https://" + addr
	}
	return "http://" + addr
}

// wire joins the parts as the daemon does, with the scenario's name server.
func (w *world) wire(s scenario) {
	w.t.Helper()
	var lookups sync.Mutex
	asked := 0
	pool := netguard.NewPool(netguard.Dialer{Policy: netguard.Policy{AllowLoopback: true}, Resolver: resolver(w.t, func() (string, error) {
		lookups.Lock()
		defer lookups.Unlock()
		asked++
		if s.names == nil {
			return "", nil
		}
		return s.names(asked)
	})})
	w.t.Cleanup(pool.Close)
	calls := openai.Config{Transport: func(t core.Target) http.RoundTripper { return pool.For(t.Name()) }, Now: w.clock.Now}
	adapters := provider.Set{core.OpenAIChat: openai.Chat(calls)}
	answers, _, err := spool.Open(filepath.Join(w.t.TempDir(), "answers"))
	w.check(err)
	w.catalog = catalog.New(w.store, []core.Target{w.target}, uuid.NewString)
	w.engine = engine.New(engine.Options{
		Journal: w.store, Answers: w.store, Spool: answers, Runs: w.store, Life: impatient{w.store, w}, Tasks: w.catalog, Keys: noKey{}, Adapters: adapters, Clock: w.clock,
		NewID: uuid.NewString, NewCallID: func() string { return uuid.Must(uuid.NewV7()).String() }, Jitter: func() float64 { return 0.5 },
		Log: slog.New(slog.DiscardHandler), Worker: "w", CallTimeout: cmp.Or(s.patience, 10*time.Second), Changed: w.tell,
	})
	w.admit = &admission.Service{Store: w.store, Chains: w.store.Continuation(), Catalog: w.catalog, Adapters: adapters, Engine: w.engine, NewID: uuid.NewString}
	w.t.Cleanup(func() { w.check(w.engine.Stop(context.Background())) })
}

// impatient cancels a run that waits for its endpoint to be reached again: that
// wait ends only when the network comes back.
type impatient struct {
	*store.Store
	w *world
}

// Park implements engine.Life.
func (i impatient) Park(ctx context.Context, id core.RunID, until core.Micros, why string) error {
	err := i.Store.Park(ctx, id, until, why)
	if err == nil && why == "endpoint_unreachable" {
		err = i.RequestCancel(ctx, i.w.scope, id)
		i.w.engine.Nudge(id)
	}
	return err
}

func (w *world) tell(core.RunID) {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// run admits a run of so many tasks, with at most limit calls at a time, and
// waits for its end.
func (w *world) run(tasks, limit int) core.RunID {
	w.t.Helper()
	ctx := w.t.Context()
	b, err := w.catalog.Generate(ctx, "arithmetic", 7, tasks)
	w.check(err)
	most := usd.Dollar / 2
	q, err := w.admit.Quote(ctx, w.scope, admission.QuoteRequest{Profile: b.ID, Route: w.target.RouteID, Full: true, Cap: &most, Concurrency: core.Concurrency{N: limit}})
	w.check(err)
	out, err := w.admit.Start(ctx, w.scope, admission.RunRequest{
		Quote: q.ID, Name: "r", Op: "POST /runs", Key: "k", RequestHash: "h",
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	})
	w.check(err)
	patience := time.After(time.Minute)
	for {
		r, err := w.store.Run(ctx, w.scope, out.Run)
		w.check(err)
		if r.State.Terminal() {
			return out.Run
		}
		select {
		case <-w.changed:
		case <-patience:
			w.t.Fatalf("the run is still %s", r.State)
		}
	}
}

// record reads what is known at the end.
func (w *world) record(id core.RunID) (got want) {
	w.t.Helper()
	ctx := w.t.Context()
	r, err := w.store.Run(ctx, w.scope, id)
	w.check(err)
	if r.Reserved != 0 || !r.HoldReleased {
		w.t.Errorf("%s is reserved at the end, hold released %v", r.Reserved, r.HoldReleased)
	}
	got.Charged, got.Absorbed, got.Waived, got.Reason = int64(r.Charged), int64(r.Absorbed), r.Waived > 0, r.Reason
	for row, err := range w.store.Samples(ctx, w.scope, id, 0) {
		w.check(err)
		got.Task = strings.TrimSpace(string(row.State) + " " + row.Code)
	}
	raw, err := sql.Open("sqlite", "file:"+w.path)
	w.check(err)
	defer raw.Close()
	rows, err := raw.QueryContext(ctx, `SELECT state FROM calls WHERE run = (SELECT num FROM runs WHERE id = $1) ORDER BY id`, string(id))
	w.check(err)
	defer rows.Close()
	for rows.Next() {
		var s core.CallState
		w.check(rows.Scan(&s))
		got.Calls = append(got.Calls, s)
	}
	w.check(rows.Err())
	w.check(raw.QueryRowContext(ctx, `SELECT count(*) FROM blobs b JOIN calls c ON c.id = b.call_id WHERE c.run = (SELECT num FROM runs WHERE id = $1) AND b.size > 0`, string(id)).Scan(&got.Kept))
	return got
}

type noKey struct{}

func (noKey) Key(context.Context, core.Scope, core.Target) (provider.Secret, error) {
	return provider.Secret{}, nil
}

// skipping is real time on which every wait is over at once.
type skipping struct {
	mu  sync.Mutex
	sum time.Duration
}

// Now implements engine.Clock.
func (c *skipping) Now() time.Time { return time.Now().Add(c.skipped()) }

// Sleep implements engine.Clock.
func (c *skipping) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum += max(d, 0)
	return ctx.Err()
}

func (c *skipping) skipped() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}

// resolver asks names for every address of the older family. An error is a
// name server that does not answer.
func resolver(t *testing.T, names func() (string, error)) *net.Resolver {
	t.Helper()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			answerName(theirs, names)
		}()
		return ours, nil
	}}
}

// answerName serves one query over a stream: a length, and the message.
func answerName(c net.Conn, names func() (string, error)) {
	buf := make([]byte, 1500)
	size, err := c.Read(buf)
	if err != nil {
		return
	}
	q := buf[2:size]
	if size == 2 { // the length came by itself
		if size, err = c.Read(buf); err != nil {
			return
		}
		q = buf[:size]
	}
	end := 12
	for end < len(q) && q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5
	out := append([]byte{}, q[:end]...)
	out[2], out[3], out[6], out[7], out[10], out[11] = 0x81, 0x80, 0, 0, 0, 0
	out[8], out[9] = 0, 0
	if q[end-3] == 1 { // an address of the older family
		addr, err := names()
		if err != nil {
			return
		}
		if addr != "" {
			a := netip.MustParseAddr(addr).As4()
			out[7] = 1
			out = append(append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), a[:]...)
		} else {
			out[3] |= 3 // no such name
		}
	}
	_, _ = c.Write(append([]byte{byte(len(out) >> 8), byte(len(out))}, out...)) // whoever asked may have gone
}

// states is a list of call states.
func states(s ...core.CallState) []core.CallState { return s }

func times(n int, s core.CallState) []core.CallState { return slices.Repeat([]core.CallState{s}, n) }

func jsonError(code, message string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"error","code":%q}}`, message, code)
}
