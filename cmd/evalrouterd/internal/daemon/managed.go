package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/discover"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/anthropic"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/google"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/responses"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/routefile"
)

// providersFile is where routes are read from when no flag names a file.
const providersFile = "providers.yaml"

// managed is what the operator offers beside practice routes, and how it is
// reached. The operator names its addresses, private ones too; users' own
// connections are judged by another policy and share no transport with it.
type managed struct {
	routes []routefile.Route
	keys   map[core.RouteID]provider.Secret
	pool   *netguard.Pool
}

// loadManaged reads the operator's file. One that a flag names must exist.
// private lists what the operator lets the service reach beside public hosts;
// the file itself adds the private addresses that it names.
func loadManaged(d dataDir, named string, private []string, getenv func(string) string) (*managed, error) {
	m := &managed{keys: map[core.RouteID]provider.Secret{}, pool: netguard.NewPool(netguard.Dialer{})}
	path := named
	if named == "" {
		path = d.path(providersFile)
	}
	raw, err := os.ReadFile(path)
	switch {
	case named == "" && errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, refuse("providers_unreadable", "the file of routes %s cannot be read: %s; nothing was started", path, reason(err))
	}
	policy := netguard.Policy{AllowLoopback: true, AllowPrivate: slices.Clone(private)}
	m.routes, err = routefile.Parse(path, raw, func(base string) (string, error) {
		return policy.Mean(base)
	})
	if err != nil {
		return nil, refuse("providers_invalid", "the file of routes is not valid; nothing was started\n%s", err)
	}
	m.pool = netguard.NewPool(netguard.Dialer{Policy: policy})
	for _, r := range m.routes {
		key, err := r.Key.Read(getenv, os.ReadFile)
		if err != nil {
			return nil, refuse("providers_key_missing", "the key of route %s is not there: %s; nothing was started", r.Target.RouteID, reason(err))
		}
		m.keys[r.Target.RouteID] = key
	}
	return m, nil
}

// offer puts the routes into the catalog and keeps their price books.
func (m *managed) offer(ctx context.Context, data *open) error {
	routes := practice.Routes()
	for _, r := range m.routes {
		if err := data.store.PutPriceBook(ctx, r.Target.RouteID, r.Target.Prices); err != nil {
			return data.dir.explain(err)
		}
		routes = append(routes, r.Target)
	}
	data.catalog = catalog.New(data.store, routes, newID)
	return nil
}

// credentials opens the key of whatever a run calls.
type credentials struct {
	connections *connection.Service
	managed     *managed
}

// Key is the credential of a target. A managed route's key goes to the address
// that stands beside it in the operator's file, and to no other: a quote can
// be older than the file.
func (c credentials) Key(ctx context.Context, sc core.Scope, t core.Target) (provider.Secret, error) {
	if t.Kind != core.Managed || t.Simulated {
		return c.connections.Key(ctx, sc, t)
	}
	for _, r := range c.managed.routes {
		if r.Target.RouteID == t.RouteID && r.Target.BaseURL == t.BaseURL {
			return c.managed.keys[t.RouteID], nil
		}
	}
	return provider.Secret{}, core.Refuse(core.ModelUnavailable, "the operator no longer offers %s at the address of this run", t.RouteID)
}

// adapters are all protocols over two kinds of transport: the operator's
// routes and users' own connections.
func adapters(m *managed, own *netguard.Pool) provider.Set {
	c := exchange.Config{Now: time.Now, Transport: func(t core.Target) http.RoundTripper {
		if t.Kind == core.Managed {
			return m.pool.For(t.Name())
		}
		return own.For(t.Name())
	}}
	return provider.Set{
		core.OpenAIChat: openai.Chat(c), core.OpenAICompletions: openai.Completions(c), core.OpenAIResponses: responses.New(c),
		core.AnthropicMessages: anthropic.New(c), core.GoogleGenerate: google.New(c), core.PracticeProtocol: practice.New(practice.Wait),
	}
}

// discovery looks for model servers at some ports; nil for none.
func discovery(ports []int) func(context.Context) ([]discover.Server, []int) {
	if ports == nil {
		return nil
	}
	return func(ctx context.Context) ([]discover.Server, []int) {
		return discover.Finder{Ports: ports}.Find(ctx), ports
	}
}
