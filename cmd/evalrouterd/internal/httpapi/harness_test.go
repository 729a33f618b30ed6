package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	news "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/changes"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/discover"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/accounts"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/feedback"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/links"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/private"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/resume"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// The two workspaces of the harness and the owner's token of the local one.
const (
	owner  = "local_owner_token_of_the_harness"
	other  = core.WorkspaceID("other")
	profil = "arithmetic@1"
	solver = "practice.solver-0.8"
)

// began is when the harness's clock stands at first.
var began = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// harness is a whole service on a temporary database, with a clock that only
// tests move and ids that are the same each time.
type harness struct {
	*httptest.Server
	t        testing.TB
	path     string
	api      *httpapi.Server
	store    *store.Store
	catalog  *catalog.Catalog
	engine   *engine.Engine
	changes  *changes
	keys     *tokens
	mine     *private.Handlers
	who      *accounts.Handlers
	master   *seal.Master
	adapters provider.Set
	log      *syncBuffer
	now      atomic.Int64
	ids      atomic.Int64
	after    atomic.Pointer[chan time.Time] // the timer that After gives; nil never fires
}

type option func(*httpapi.Options)

// arithmetic has the one benchmark that a harness begins with.
var arithmetic = &storetest.Template{
	Now: func() time.Time { return began },
	Fill: func(s *store.Store) error {
		_, err := catalog.New(s, nil, numbered("d")).Generate(context.Background(), "arithmetic", builtin.DefaultSeed, builtin.DefaultSize)
		return err
	},
}

func newHarness(t testing.TB, opts ...option) *harness {
	t.Helper()
	h := &harness{t: t, changes: &changes{Changes: news.New(news.NewFollowers(2))}, keys: &tokens{byToken: map[string]core.APIKey{}, ingest: map[string]string{}}, log: &syncBuffer{}}
	h.now.Store(began.UnixMicro())
	ctx := t.Context()
	var err error
	h.path = filepath.Join(t.TempDir(), "test.db")
	arithmetic.Copy(t, h.path)
	h.store, err = store.Open(ctx, store.Options{Path: h.path, Now: h.clock})
	if err != nil {
		t.Fatal(err)
	}
	ids := h.id("d")
	ids() // that of the benchmark
	h.catalog = catalog.New(h.store, practice.Routes(), ids)
	h.workspace(core.WorkspaceInfo{ID: core.Local, Slug: "local", Name: "Local", Practice: true})
	h.workspace(core.WorkspaceInfo{ID: other, Slug: "other", Name: "Other"})
	if err := h.store.Grant(ctx, "practice", core.Local, core.PracticeBook, 100*usd.Dollar, "practice credit"); err != nil {
		t.Fatal(err)
	}
	h.build(opts)
	t.Cleanup(func() {
		h.Server.Close()
		if err := h.engine.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *harness) build(opts []option) {
	log := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	policy := netguard.Policy{AllowLoopback: true}
	pool := netguard.NewPool(netguard.Dialer{Policy: policy})
	h.t.Cleanup(pool.Close)
	calls := openai.Config{Transport: func(t core.Target) http.RoundTripper { return pool.For(t.Name()) }, Now: h.clock}
	h.adapters = provider.Set{
		core.OpenAIChat: openai.Chat(calls), core.OpenAICompletions: openai.Completions(calls),
		core.PracticeProtocol: practice.New(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }),
	}
	master, err := seal.LoadOrCreate(filepath.Join(h.t.TempDir(), "master.key"), bytes.NewReader(bytes.Repeat([]byte("seed"), 1<<16)))
	if err != nil {
		h.t.Fatal(err)
	}
	conns := &connection.Service{Store: h.store, Sealer: master, Adapters: h.adapters, CheckURL: policy.CheckURL, Now: h.clock, NewID: h.id("c")}
	kept, _, err := spool.Open(filepath.Join(h.t.TempDir(), "answers.spool"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.engine = engine.New(engine.Options{
		Journal: h.store, Answers: h.store, Judging: h.store, Reuse: h.store.Continuation(), Spool: kept, Runs: h.store, Life: h.store, Tasks: h.catalog, Keys: conns, Adapters: h.adapters, Clock: still{h}, NewID: h.id("e"), NewCallID: h.id("f"),
		NewNonce: func() string { return "5ca1ab1e0ddba115" }, Jitter: func() float64 { return 0 }, Log: log, Worker: "test", Changed: h.changes.Publish,
	})
	chains := h.store.Continuation()
	admits := &admission.Service{Store: h.store, Chains: chains, Catalog: h.catalog, Adapters: h.adapters, Engine: h.engine, NewID: h.id("a"), Groups: h.store.Groups()}
	again := &resume.Handlers{Admission: admits, Chains: chains, Runs: h.store}
	o := httpapi.Options{
		Discover: func(context.Context) ([]discover.Server, []int) {
			return []discover.Server{
				{Kind: discover.Ollama, BaseURL: "http://127.0.0.1:11434/v1", Version: "0.34.0", Models: []discover.Model{{ID: "m:1b", Context: 8192}, {ID: "m:cloud", Remote: true}}},
				{Kind: discover.VLLM, BaseURL: "http://127.0.0.1:8000/v1", NeedsKey: true},
			}, discover.Ports()
		},
		Catalog: h.catalog, Runs: h.store, Answers: h.store, Connections: conns, Keys: h.keys, Changes: h.changes, Waker: h.engine, Adapters: h.adapters,
		Admission: admits, Chains: again,
		Owner: owner, Now: h.clock, After: h.timer, Random: func(b []byte) { clear(b) }, Version: "0.0.0-test", SpoolDir: h.t.TempDir(), Log: log,
	}
	own := h.store.Private()
	h.mine = &private.Handlers{Service: &byob.Service{Sources: own, Bytes: own, Benchmarks: own, Catalog: h.catalog, NewID: h.id("b"), SpoolDir: h.t.TempDir()}}
	h.accounts(&o, master)
	o.Subjects = []httpapi.Subject{
		h.who,
		h.mine,
		again,
		&group.Handlers{
			Admission: admits, Groups: h.store.Groups(), Runs: h.store, Connections: conns, Changes: h.changes, Waker: h.engine, Now: h.clock, After: h.timer, Version: "0.0.0-test", Origin: origin,
		},
		&feedback.Handlers{Keeper: h.store.Feedback(), NewID: h.id("f")},
		h.agents(),
		h.curation(),
		&links.Handlers{Runs: h.store, Groups: h.store.Groups(), Keeper: pass.Keeper{Master: master, Now: h.store.Now}, Origin: origin},
	}
	for _, opt := range opts {
		opt(&o)
	}
	if h.api, err = httpapi.New(o); err != nil {
		h.t.Fatal(err)
	}
	h.Server = httptest.NewServer(h.api)
}

func (h *harness) clock() time.Time { return time.UnixMicro(h.now.Load()).UTC() }

func (h *harness) timer(time.Duration) <-chan time.Time {
	if c := h.after.Load(); c != nil {
		return *c
	}
	return nil
}

// id gives UUIDs of a family, counted: the same calls give the same ids.
func (h *harness) id(family string) func() string { return numbered(family) }

// numbered gives ids of a family in order.
func numbered(family string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("%s0000000-0000-4000-8000-%012d", family, n.Add(1)) }
}

func (h *harness) workspace(w core.WorkspaceInfo) {
	h.t.Helper()
	if _, err := h.store.CreateWorkspace(h.t.Context(), w); err != nil {
		h.t.Fatal(err)
	}
}

// key makes a token with scopes for a workspace.
func (h *harness) key(w core.WorkspaceID, change func(*core.APIKey), scopes ...string) string {
	token := fmt.Sprintf("erk_%d", h.ids.Add(1))
	k := core.APIKey{ID: "key-" + token, Workspace: w, Name: "test", Prefix: token, Scopes: scopes, CreatedAt: core.Micros(h.now.Load())}
	if change != nil {
		change(&k)
	}
	h.keys.mu.Lock()
	defer h.keys.mu.Unlock()
	h.keys.byToken[token] = k
	return token
}

// still is the harness's clock for the engine; waiting takes no time.
type still struct{ h *harness }

func (s still) Now() time.Time { return s.h.clock() }

func (s still) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// tokens are API keys by what callers send.
type tokens struct {
	mu      sync.Mutex
	byToken map[string]core.APIKey
	// ingest is the public part of each ingest key, which the store knows.
	ingest map[string]string
	store  *store.Store
}

func (k *tokens) Identify(ctx context.Context, token string) (core.APIKey, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if prefix, ok := k.ingest[token]; ok {
		return k.store.Access().KeyByPrefix(ctx, prefix)
	}
	key, ok := k.byToken[token]
	return key, ok, nil
}

// changes wakes followers, and tells tests when one began to wait.
type changes struct {
	*news.Changes
	mu    sync.Mutex
	began func()
}

func (c *changes) Watch(runs ...core.RunID) (<-chan struct{}, func()) {
	changed, stop := c.Changes.Watch(runs...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began != nil {
		c.began()
	}
	return changed, stop
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
}

type tweak func(*http.Request)

func header(k, v string) tweak { return func(r *http.Request) { r.Header.Set(k, v) } }

func as(token string) tweak { return header("Authorization", "Bearer "+token) }

func anonymous(r *http.Request) { r.Header.Del("Authorization") }

func keyed(k string) tweak { return header("Idempotency-Key", k) }

// send asks as the owner unless a tweak says otherwise. A string body goes as
// it is, anything else as JSON.
func (h *harness) send(method, path string, body any, tweaks ...tweak) reply {
	h.t.Helper()
	r, err := h.try(method, path, body, tweaks...)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *harness) try(method, path string, body any, tweaks ...tweak) (reply, error) {
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			return reply{}, err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, h.URL+path, in)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+owner)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, t := range tweaks {
		t(req)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, b}, err
}

func (r reply) want(t testing.TB, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %.600s", r.status, status, r.body)
	}
	return r
}

func (r reply) into(t testing.TB, v any) reply {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v: %.600s", err, r.body)
	}
	return r
}

type problem struct {
	Error struct {
		Code      string         `json:"code"`
		Message   string         `json:"message"`
		Details   map[string]any `json:"details"`
		RequestID string         `json:"request_id"`
	} `json:"error"`
}

// refused demands a failure with a code.
func (r reply) refused(t testing.TB, status int, code string) problem {
	t.Helper()
	var p problem
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		t.Fatalf("status %d without the envelope: %v: %.600s", r.status, err, r.body)
	}
	if r.status != status || p.Error.Code != code || p.Error.Message == "" || p.Error.RequestID == "" {
		t.Errorf("status %d and code %q, want %d and %q: %.600s", r.status, p.Error.Code, status, code, r.body)
	}
	if ct := r.header.Get("Content-Type"); ct != "application/json; charset=utf-8" {
		t.Errorf("the error has the content type %q", ct)
	}
	return p
}

type object = map[string]any

func newQuote(more object) object {
	o := object{
		"selection": object{"profile_ids": []string{profil}}, "model": object{"kind": "managed", "route_id": solver},
		"coverage": object{"mode": "sample", "sample_count": 3, "seed": 7}, "max_charge_microusd": "1000000", "concurrency": 1,
	}
	for k, v := range more {
		o[k] = v
	}
	return o
}

// quote makes an open quote and gives its id.
func (h *harness) quote(more object, tweaks ...tweak) string {
	h.t.Helper()
	var q struct{ ID string }
	h.send("POST", "/v1/quotes", newQuote(more), tweaks...).want(h.t, 200).into(h.t, &q)
	return q.ID
}

// finished starts a run and waits for its end.
func (h *harness) finished(more object) string {
	h.t.Helper()
	id := h.started(h.quote(more), "run-"+fmt.Sprint(h.ids.Add(1)))
	h.await(id)
	return id
}

func (h *harness) started(quote, key string) string {
	h.t.Helper()
	var r struct{ ID string }
	h.send("POST", "/v1/runs", object{"quote_id": quote, "name": "Evaluation"}, keyed(key)).want(h.t, 200).into(h.t, &r)
	return r.ID
}

// await waits for the end of a run, woken by each change.
func (h *harness) await(id string) {
	h.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		changed, _ := h.changes.Watch(core.RunID(id))
		r, err := h.store.Run(h.t.Context(), core.Scope{Workspace: core.Local}, core.RunID(id))
		if err != nil {
			h.t.Fatal(err)
		}
		if r.State.Terminal() {
			return
		}
		select {
		case <-changed:
		case <-limit:
			h.t.Fatalf("run %s is %s after half a minute", id, r.State)
		}
	}
}
