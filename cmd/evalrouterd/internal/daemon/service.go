package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/wake"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
)

// The store keeps every interface that its users declare.
var (
	_ engine.Journal      = (*store.Store)(nil)
	_ engine.Judging      = (*store.Store)(nil)
	_ engine.Runs         = (*store.Store)(nil)
	_ admission.Store     = (*store.Store)(nil)
	_ connection.Store    = (*store.Store)(nil)
	_ catalog.Store       = (*store.Store)(nil)
	_ httpapi.Runs        = (*store.Store)(nil)
	_ httpapi.Answers     = (*store.Store)(nil)
	_ httpapi.Accounts    = (*store.Store)(nil)
	_ httpapi.Connections = (*connection.Service)(nil)
)

// gather is the least time between commits that calls share. It adds at most
// as much to each step of a call, which takes hundreds of times as long.
const gather = 2 * time.Millisecond

// open is the database of an installation with its catalog and secrets.
type open struct {
	dir dataDir
	// postgres is the database's address, "" when it is in the directory.
	postgres string
	now      func() time.Time
	store    *store.Store
	catalog  *catalog.Catalog
	master   *seal.Master
}

// openData opens the database of a data directory, or the PostgreSQL that
// stands in its place. It takes no lock, and it reads no secrets.
func openData(ctx context.Context, d dataDir, p place) (*open, error) {
	if p.postgres != "" {
		return openShared(ctx, d, p)
	}
	if err := d.private(databaseFile); err != nil {
		return nil, refuse("data_dir_unwritable", "the database in %s cannot be opened: %s", d, reason(err))
	}
	st, err := store.Open(ctx, store.Options{Path: d.path(databaseFile), Now: p.now, Gather: gather})
	if err != nil {
		return nil, d.explain(err)
	}
	return &open{dir: d, now: p.now, store: st, catalog: catalog.New(st, practice.Routes(), newID)}, nil
}

// unlock reads the master key. A new one is made only while nothing depends on
// an old one: it would open no stored key and know no API key.
func (o *open) unlock(ctx context.Context) error {
	if o.postgres != "" {
		return o.unlockShared(ctx)
	}
	path := o.dir.path(masterFile)
	m, err := seal.Load(path, rand.Reader)
	if errors.Is(err, fs.ErrNotExist) {
		var sealed bool
		if sealed, err = o.store.HasSealedKeys(ctx); err != nil {
			return o.dir.explain(err)
		}
		if sealed {
			return refuse("master_key_missing", "%s is missing, and the keys in the database depend on it; nothing was started. Put it back from a backup. "+
				"If it is lost for good, 'evalrouterd keys reset --data %s' makes a new one; every provider key and API key must then be given again", path, o.dir)
		}
		m, err = seal.LoadOrCreate(path, rand.Reader)
	}
	if err != nil {
		return refuse("master_key_unusable", "%s; nothing was started", err)
	}
	o.master = m
	return nil
}

func (o *open) close() error { return o.store.Close() }

// service is a running service without its listener.
type service struct {
	*open
	engine *engine.Engine
	// wake reaches the other processes of a shared database; nil without one.
	wake    *wake.Wake
	role    role
	server  *httpapi.Server
	pool    *netguard.Pool
	managed *managed
	// imports is nil where workspaces bring nothing.
	imports *byob.Importer
	traces  *kept.Store
	door    *traces.Door
	changes *changes
	log     *slog.Logger
	// answers keeps what was received until it is recorded; kept is what an
	// earlier process left in it.
	answers *spool.Spool
	kept    []core.Response
}

// options is what serve and local start alike.
type options struct {
	policy  netguard.Policy
	managed *managed
	own     ownData
	// modelPorts are where model servers are looked for; nil for nowhere.
	modelPorts []int
	owner      string
	hosts      func(string) bool
	version    string
	log        *slog.Logger
	shared     sharing
	calls      int // tasks of one workspace in flight; 0 is the usual
}

// newService joins the parts. Nothing runs yet.
func newService(data *open, o options) (*service, error) {
	s := &service{open: data, role: o.shared.role, pool: netguard.NewPool(netguard.Dialer{Policy: o.policy}), managed: o.managed, changes: newChanges(), log: o.log}
	adapters := adapters(o.managed, s.pool)
	connections := &connection.Service{
		Store: s.store, Sealer: s.master, Adapters: adapters, Now: s.now, NewID: newID,
		CheckURL: func(base string) (*url.URL, error) { return o.policy.CheckURL(base) },
		Dropped:  func(id core.ConnectionID) { s.pool.Forget(core.Target{Kind: core.Connection, ConnectionID: id}.Name()) },
	}
	exports, err := s.dir.exports()
	if err != nil {
		return nil, err
	}
	if err := s.dir.private(answersFile, answersFile+spool.Second); err != nil {
		return nil, err
	}
	if s.answers, s.kept, err = spool.Open(s.dir.path(answersFile)); err != nil {
		return nil, err
	}
	s.engine = engine.New(s.engineOptions(adapters, credentials{connections, o.managed}, o))
	if err := s.join(o.shared); err != nil {
		return nil, err
	}
	wake := waker{s.engine, s.wake, s.changes}
	own := s.private(o, exports)
	agents, err := s.tracing()
	if err != nil {
		return nil, err
	}
	curation := s.curation(own.Service)
	s.server, err = httpapi.New(httpapi.Options{
		Catalog: s.catalog, Runs: s.store, Answers: s.store, Accounts: s.store, Connections: connections, Keys: keys{s.store, s.master}, Changes: s.changes, Waker: wake,
		Admission: &admission.Service{Store: s.store, Catalog: s.catalog, Adapters: adapters, Engine: wake, NewID: newID},
		Adapters:  adapters, Owner: o.owner, Hosts: o.hosts, Now: s.now, After: time.After, Random: randomBytes, Version: o.version, SpoolDir: exports, DataDir: string(s.dir), Log: o.log,
		Discover: discovery(o.modelPorts), More: slices.Concat(own.Routes(), agents.Routes(), curation.Routes()), Features: slices.Concat(own.Features(), agents.Features(), curation.Features()),
		Ready: func(ctx context.Context) error { _, err := s.store.Meta(ctx, "ready"); return err },
	})
	return s, err
}

func (s *service) engineOptions(adapters provider.Set, keys engine.Keys, o options) engine.Options {
	options := engine.Options{
		Journal: s.store, Answers: s.store, Judging: s.store, Spool: s.answers, Runs: s.store, Life: s.store, Tasks: s.catalog, Keys: keys, Adapters: adapters, Clock: clock{}, NewID: newID, NewCallID: newCallID,
		Jitter: jitter, NewNonce: newNonce, Log: s.log, Worker: workerName(), Changed: s.changed, WorkspaceCalls: o.calls,
	}
	if s.postgres != "" {
		options.Claims, options.Lease, options.Transient, options.Clock = claims{s.store}, o.shared.lease, store.Unreachable, clock{s.store}
	}
	return options
}

// start installs the built-in benchmarks and takes up live runs. The caller
// holds the directory's lock.
func (s *service) start(ctx context.Context) error {
	if err := s.install(ctx); err != nil {
		return fmt.Errorf("install the built-in benchmarks: %w", err)
	}
	kept := s.kept
	s.kept = nil
	if s.role != roleAPI {
		if err := s.engine.Start(ctx, kept); err != nil {
			return err
		}
	}
	if s.wake == nil {
		return nil
	}
	return s.wake.Start()
}

func (s *service) install(ctx context.Context) error {
	unlock, err := s.store.Alone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.catalog.Install(ctx)
}

// stop begins no more calls, waits for those in flight until ctx ends, and
// closes the database.
func (s *service) stop(ctx context.Context) error {
	left := s.leave(ctx)
	if s.imports != nil {
		s.imports.Close()
	}
	s.door.Close()
	err := s.engine.Stop(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("calls in flight were cut off; the next start marks them unknown")
		err = nil
	}
	s.pool.Close()
	s.managed.pool.Close()
	s.part(ctx)
	return errors.Join(left, err, s.answers.Close(), s.close())
}
