package apitest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest/exercise"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Scopes of the service.
var allScopes = []string{"eval:read", "eval:write", "billing:read", "connections:read", "connections:write", "benchmarks:submit", "feedback:write"}

// Options shape a Fake. Zero values mean the defaults.
type Options struct {
	Token       string           // a token with every scope; erk_fake_owner
	WorkspaceID string           // a fixed UUID
	Now         func() time.Time // time.Now; see Stepping
	TaskTime    time.Duration    // how long one task takes on that clock; 5 ms
	Credits     usd.Micro        // balance at the start; $100
	Tasks       int              // tasks of each benchmark; 40
	// Reasoning is what routes let a caller choose, by route id; none.
	Reasoning map[string]api.ReasoningControls
	// Routes is how many models there are; three.
	Routes int
	// Unfit names a route that can run no benchmark.
	Unfit string
	// InReview adds a benchmark that cannot be quoted yet, "riddles".
	InReview bool
}

// Fake is a service in memory, listening on a loopback port. Its methods may
// be used while requests are in flight.
type Fake struct {
	URL         string
	Token       string
	WorkspaceID string

	opt    Options
	server *httptest.Server
	mux    *http.ServeMux

	mu        sync.Mutex
	started   time.Time
	faults    []*fault
	counts    map[string]int
	mutations []Mutation
	tokens    map[string][]string // token to scopes
	replays   map[string]replay   // route and key to the stored answer
	balance   usd.Micro
	held      usd.Micro
	ledger    []api.LedgerEntry
	quotes    map[string]*fakeQuote
	runs      []*fakeRun
	groups    []*fakeGroup
	conns     []*api.ConnectionRecord
	caching   string                  // of public catalog reads
	rates     map[string][2]usd.Micro // by route, where Reprice changed them
	mine      ownData
	said      []fakeFeedback
	addresses []string // of every request
	auth      auth
	planShape string
}

// Mutation is one request that asked for a change, as it arrived.
type Mutation struct {
	Method, Path   string
	IdempotencyKey string
	Body           string
	Status         int // of the answer, also when it was lost
}

type fault struct {
	route  string
	left   int
	status int
	code   api.Code
	after  string // Retry-After
	drop   bool
}

type replay struct {
	body   string
	status int
	answer []byte
}

// NewFake starts a service. Close ends it.
func NewFake(o Options) *Fake {
	if o.Token == "" {
		o.Token = "erk_fake_owner"
	}
	if o.WorkspaceID == "" {
		o.WorkspaceID = "6f1d2c3b-4a5e-4f60-8b7c-9d0e1f2a3b4c"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.TaskTime == 0 {
		o.TaskTime = 5 * time.Millisecond
	}
	if o.Credits == 0 {
		o.Credits = 100 * usd.Dollar
	}
	if o.Tasks == 0 {
		o.Tasks = 40
	}
	f := &Fake{
		Token: o.Token, WorkspaceID: o.WorkspaceID, opt: o, mux: http.NewServeMux(),
		counts: map[string]int{}, tokens: map[string][]string{o.Token: allScopes},
		replays: map[string]replay{}, quotes: map[string]*fakeQuote{}, caching: "public, max-age=120", mine: ownData{content: map[string][]byte{}},
	}
	f.started = f.now()
	f.move("grant", o.Credits, nil, "start")
	for _, r := range slices.Concat(f.routes(), f.privateRoutes(), f.groupRoutes()) {
		f.mux.Handle(r.pattern, f.handle(r))
	}
	f.signInPages()
	f.mux.Handle("/", http.HandlerFunc(f.unmatched))
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.addresses = append(f.addresses, r.RequestURI)
		f.mu.Unlock()
		f.mux.ServeHTTP(w, r)
	}))
	f.mu.Lock() // a request may come before this function returns
	f.URL = f.server.URL
	f.auth.workspaces[0].WebURL = f.URL
	f.mu.Unlock()
	return f
}

// Close ends the service and its connections.
func (f *Fake) Close() {
	f.server.CloseClientConnections()
	f.server.Close()
}

// Stepping is a clock that starts at a moment and moves on by step with every
// look at it, so that runs progress by being polled.
func Stepping(start time.Time, step time.Duration) func() time.Time {
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		start = start.Add(step)
		return start
	}
}

// Fail makes the next n requests of a route fail before they have any effect.
// A route is written like "POST /v1/runs" or "GET /v1/runs/{id}".
func (f *Fake) Fail(route string, n, status int, code api.Code) {
	f.add(&fault{route: route, left: n, status: status, code: code})
}

// FailAfter is Fail with a Retry-After header.
func (f *Fake) FailAfter(route string, n, status int, code api.Code, retryAfter string) {
	f.add(&fault{route: route, left: n, status: status, code: code, after: retryAfter})
}

// Drop makes the answers to the next n requests of a route get lost after
// they took effect: the connection closes without a byte.
func (f *Fake) Drop(route string, n int) { f.add(&fault{route: route, left: n, drop: true}) }

func (f *Fake) add(x *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, x)
}

// Count is how many requests of a route arrived, failed ones included.
func (f *Fake) Count(route string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[route]
}

// Mutations are the requests that asked for a change, oldest first.
func (f *Fake) Mutations() []Mutation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.mutations)
}

// Runs is how many runs were started.
func (f *Fake) Runs() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.runs)
}

// NewToken is a token that has these scopes only.
func (f *Fake) NewToken(scopes ...string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	token := "erk_fake_" + uuid.NewString()
	f.tokens[token] = scopes
	return token
}

// Grant adds credit, or takes it away.
func (f *Fake) Grant(m usd.Micro) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.move("grant", m, nil, "granted")
}

// Caching is the Cache-Control of public catalog reads from now on.
func (f *Fake) Caching(header string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.caching = header
}

// Target is this service for exercise.Run.
func (f *Fake) Target() exercise.Target {
	return exercise.Target{
		BaseURL: f.URL, Token: f.Token, WorkspaceID: f.WorkspaceID, AllowHTTP: true,
		ProfileID: "arithmetic@1", RouteID: "practice.solver-80",
		Restricted: func(scopes ...string) (string, error) { return f.NewToken(scopes...), nil },
	}
}

func (f *Fake) now() time.Time { return f.opt.Now().UTC().Truncate(time.Microsecond) }

// move books an amount. Holds and releases do not change the balance.
func (f *Fake) move(kind string, amount usd.Micro, runID *string, note string) {
	if kind == "grant" || kind == "charge" {
		f.balance += amount
	}
	f.ledger = append(f.ledger, api.LedgerEntry{
		ID: uuid.NewString(), Kind: kind, AmountMicrousd: amount, BalanceAfterMicrousd: f.balance,
		RunID: runID, Note: note, CreatedAt: f.now(),
	})
}

// takeFault finds the fault of a route that is due.
func (f *Fake) takeFault(route string, drop bool) *fault {
	for _, x := range f.faults {
		if x.route == route && x.drop == drop && x.left > 0 {
			x.left--
			return x
		}
	}
	return nil
}

// routeName is a pattern as hooks and counts name it.
func routeName(pattern string) string { return strings.TrimSuffix(pattern, "{$}") }

func digest(parts ...any) string { return sha256Hex(fmt.Sprint(parts...)) }
