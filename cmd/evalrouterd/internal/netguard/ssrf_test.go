package netguard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
)

// minVectors is how many ways to reach somewhere else are tried at least.
const minVectors = 150

// vector is one line of testdata/ssrf.jsonl: an address as an attacker may
// give it, and where a connection may lead at most. {port} is the port of the
// trap, which the policy also allows in public, so that only the address
// decides. Expectations are written by hand; no code of the guard makes them.
type vector struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Early are the modes in which the URL is accepted before it is resolved.
	Early []string `json:"early"`
	// Serve and Local are the connections allowed in each mode. At least one
	// of them must be made.
	Serve []string `json:"serve"`
	Local []string `json:"local"`
	// Zone are the addresses of names. Alias is a chain of aliases that starts
	// at start.example, Flips what flips.example gives, query by query.
	Zone  map[string][]string `json:"zone"`
	Alias []string            `json:"alias"`
	Flips [][]string          `json:"flips"`
	// Answer is what the trap says to whoever connects.
	Answer *answer           `json:"answer"`
	Allow  []string          `json:"allow"`
	Own    bool              `json:"own"`
	Proxy  map[string]string `json:"proxy"`
}

type answer struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
}

// modes are the two ways in which the service runs.
var modes = []string{"serve", "local"}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	f, err := os.Open("testdata/ssrf.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("line %d: %v", len(all)+1, err)
		}
		all = append(all, v)
	}
	if len(all) < minVectors {
		t.Fatalf("%d vectors; at least %d are promised", len(all), minVectors)
	}
	return all
}

// Proxies of the environment are never asked: they resolve names themselves.
func TestSSRF_ProxyOfTheEnvironment(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Proxy == nil {
			continue
		}
		for _, mode := range modes {
			t.Run(v.Name+" "+mode, func(t *testing.T) {
				a := newAttack(t, v, mode)
				for name, value := range v.Proxy {
					t.Setenv(name, a.snare.fill(value))
				}
				a.run()
			})
		}
	}
}

// Every vector goes through the early check, through the real transport, and
// through the check of a connection whose row already holds the address. What
// is connected to is seen where the kernel is asked, and by listeners.
func TestSSRF_Corpus(t *testing.T) {
	t.Parallel()
	all := vectors(t)
	t.Logf("%d vectors", len(all))
	for _, v := range all {
		if v.Proxy != nil {
			continue
		}
		for _, mode := range modes {
			t.Run(v.Name+" "+mode, func(t *testing.T) {
				t.Parallel()
				newAttack(t, v, mode).run()
			})
		}
	}
}

// attack is one vector in one mode.
type attack struct {
	t      *testing.T
	v      vector
	mode   string
	snare  *snare
	policy netguard.Policy

	mu    sync.Mutex
	tried []netip.AddrPort
}

func newAttack(t *testing.T, v vector, mode string) *attack {
	t.Helper()
	a := &attack{t: t, v: v, mode: mode, snare: newSnare(t, v.Answer)}
	a.policy = netguard.Policy{AllowLoopback: mode == "local", AllowPorts: []uint16{a.snare.port}}
	for _, s := range v.Allow {
		a.policy.AllowPrivate = append(a.policy.AllowPrivate, a.snare.fill(s))
	}
	if v.Own {
		a.policy.Own = []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), a.snare.port)}
	}
	return a
}

// errInside keeps a connection that the policy allows from leaving the test.
var errInside = errors.New("allowed, and not made by this test")

func (a *attack) attempt(to netip.AddrPort) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tried = append(a.tried, to)
	if !a.snare.listens(to) {
		return errInside
	}
	return nil
}

func (a *attack) run() {
	a.t.Helper()
	target := a.snare.fill(a.v.URL)
	_, err := a.policy.CheckURL(target)
	if accepted := !refused(a.t, err); accepted != slices.Contains(a.v.Early, a.mode) {
		a.t.Errorf("accepted early: %v (%v)", accepted, err)
	}
	d := netguard.Dialer{Policy: a.policy, Resolver: newZone(a.t, a.v), Attempt: a.attempt}
	pool := netguard.NewPool(d)
	defer pool.Close()
	rounds := 1
	if a.v.Flips != nil || a.v.Answer != nil {
		rounds = 4
	}
	for range rounds {
		a.request(pool.For("route"), target)
		a.check(pool, target)
	}
	a.judge()
}

func (a *attack) request(rt http.RoundTripper, target string) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader("secret"))
	if err != nil {
		return // no request can be made of it
	}
	if res, err := rt.RoundTrip(req); err == nil {
		res.Body.Close()
	}
}

// check asks for the check of a connection, as if its row had come past the
// early check.
func (a *attack) check(pool *netguard.Pool, target string) {
	a.t.Helper()
	calls := openai.Config{Transport: func(t core.Target) http.RoundTripper { return pool.For(t.Name()) }, Now: time.Now}
	rows := &oneConnection{row: core.ConnectionInfo{ID: "c", Workspace: "w", Name: "n", BaseURL: target, ModelID: "m", Protocol: core.OpenAIChat, MaxOutputTokens: 9, ContextWindow: 99}}
	s := connection.Service{
		Store: rows, Adapters: provider.Set{core.OpenAIChat: openai.Chat(calls)}, Now: time.Now,
		CheckURL: func(base string) (*url.URL, error) { return a.policy.CheckURL(base) }, NewID: func() string { return "c" },
	}
	c, err := s.Check(a.t.Context(), core.Scope{Workspace: "w"}, "c")
	if err != nil {
		a.t.Fatalf("check: %v", err)
	}
	if c.Check.Status != "failed" {
		a.t.Errorf("an endpoint that never answers was checked as %+v", c.Check)
	}
}

// judge compares what was connected to with what may be.
func (a *attack) judge() {
	a.t.Helper()
	allowed := a.v.Serve
	if a.mode == "local" {
		allowed = a.v.Local
	}
	var may []string
	for _, s := range allowed {
		may = append(may, a.snare.fill(s))
	}
	trapped := 0
	for _, to := range a.tried {
		if !slices.Contains(may, to.String()) {
			a.t.Errorf("connected to %s; at most %v may be", to, may)
		}
		if a.snare.listens(to) {
			trapped++
		}
	}
	if len(may) > 0 && len(a.tried) == 0 {
		a.t.Errorf("nothing was connected to; %v is allowed", may)
	}
	if n := a.snare.caught(); n > trapped || trapped > 0 && n == 0 {
		a.t.Errorf("the listeners saw %d connections, %d were allowed", n, trapped)
	}
}

// oneConnection is a store with one row.
type oneConnection struct {
	connection.Store
	row core.ConnectionInfo
}

func (o *oneConnection) Connection(context.Context, core.Scope, core.ConnectionID) (core.ConnectionInfo, error) {
	return o.row, nil
}

func (o *oneConnection) RecordCheck(_ context.Context, _ core.ConnectionInfo, r core.CheckResult) error {
	o.row.Check = r
	return nil
}

func (o *oneConnection) Now() core.Micros { return 1 }
