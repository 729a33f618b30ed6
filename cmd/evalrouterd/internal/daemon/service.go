package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/badge"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/changes"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/accounts"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/feedback"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/resume"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/allowance"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/group"
	agents "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/wake"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
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
	_ accounts.Money      = (*store.Store)(nil)
	_ httpapi.Connections = (*connection.Service)(nil)
	_ group.Runs          = (*store.Store)(nil)
	_ group.Groups        = (*kept.Store)(nil)
	_ admission.Groups    = (*kept.Store)(nil)
)

// gather is the longest pause between commits that calls share. It adds at most
// as much to each step of a call, where eighty others take one with it.
const gather = 4 * time.Millisecond

// requestTime is how long a request may take whose answer is no file. Clients
// give up after 30 s; this way they get an answer first.
const requestTime = 25 * time.Second

// What a workspace of a team may have at once. A service of one person has no
// such bounds: it keeps nothing from anybody else.
const (
	activeRuns = 8
	openQuotes = 1000
	followers  = 50
)

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
				"If it is lost for good, 'evalrouterd keys reset --data %s' makes a new one; every provider key and API key must then be given again, and everybody signs in again", path, o.dir)
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
	wake   *wake.Wake
	role   role
	server *httpapi.Server
	// pages is nil where browsers find nothing.
	pages   *web.Server
	pool    *netguard.Pool
	managed *managed
	// imports is nil where workspaces bring nothing.
	imports *byob.Importer
	traces  *agents.Store
	door    *traces.Door
	changes *changes.Changes
	log     *slog.Logger
	// answers keeps what was received until it is recorded; kept is what an
	// earlier process left in it.
	answers *spool.Spool
	kept    []core.Response
	// ending says that the end of the process has begun.
	ending atomic.Bool
	// figures is nil where nobody collects them.
	figures *figures
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
	bounds     allowance.Bounds
	followers  int // long polls of one workspace; 0 is any number
	figures    *figures
	signIn     signIn
	// pages is where browsers find pages that links open; "" for where people
	// sign in.
	pages string
}

// newService joins the parts. Nothing runs yet.
func newService(data *open, o options) (*service, error) {
	s := &service{open: data, role: o.shared.role, pool: netguard.NewPool(netguard.Dialer{Policy: o.policy}), managed: o.managed, changes: changes.New(changes.NewFollowers(o.followers)), log: o.log, figures: o.figures}
	s.store.Bound(o.bounds)
	adapters := adapters(o.managed, s.pool)
	var observe func(string, int, time.Duration)
	if s.figures != nil {
		adapters, observe = s.figures.watch(adapters), s.figures.answered
		s.figures.serve(s)
	}
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
	connections.Reached = s.endWaits(wake)
	chains := s.store.Continuation()
	admits := &admission.Service{Store: s.store, Chains: chains, Catalog: s.catalog, Adapters: adapters, Engine: wake, NewID: newID, Groups: s.store.Groups()}
	again := &resume.Handlers{Admission: admits, Chains: chains, Runs: s.store}
	who := s.accounts(o, s.people(o))
	shown, linking, err := s.evals(o)
	if err != nil {
		return nil, err
	}
	own := s.private(o, exports)
	spans, err := s.tracing(own.Service, adapters)
	if err != nil {
		return nil, err
	}
	sets := s.curation(own.Service)
	api := httpapi.Options{
		Catalog: s.catalog, Runs: s.store, Answers: s.store, Connections: connections, Keys: badge.Keys{Store: s.store.Access(), Master: s.master, Now: s.store.Now, Log: o.log}, Changes: s.changes, Waker: wake,
		Admission: admits, Chains: again,
		Adapters: adapters, Owner: o.owner, Admit: s.admit(o.hosts), Observe: observe, Within: requestTime, Now: s.now, After: time.After, Random: randomBytes, Version: o.version, SpoolDir: exports, DataDir: string(s.dir), Log: o.log,
		Discover: discovery(o.modelPorts), Ready: s.ready, WebOrigin: o.signIn.origin,
		Subjects: []httpapi.Subject{
			who,
			own,
			again,
			&group.Handlers{Admission: admits, Groups: s.store.Groups(), Runs: s.store, Connections: connections, Changes: s.changes, Waker: wake, Now: s.now, After: time.After, Version: o.version, Origin: o.signIn.origin},
			&feedback.Handlers{Keeper: s.store.Feedback(), NewID: newID},
			o.own.agents(spans, "traces", "traces of agents"),
			o.own.agents(sets, "datasets", "datasets"),
		},
	}
	if linking != nil {
		api.Subjects = append(api.Subjects, linking)
	}
	if who.SignIn != nil {
		api.Sessions = badge.Sessions{Store: s.store.Access(), Master: s.master}
	}
	if shown != nil {
		more, err := s.peoplePages(o, spans, sets)
		if err != nil {
			return nil, err
		}
		if s.pages, err = s.web(who, o.pageOrigin(), append([]web.Subject{shown}, more...)...); err != nil {
			return nil, err
		}
	}
	s.server, err = httpapi.New(api)
	return s, err
}

func (s *service) engineOptions(adapters provider.Set, keys engine.Keys, o options) engine.Options {
	options := engine.Options{
		Journal: s.store, Answers: s.store, Judging: s.store, Reuse: s.store.Continuation(), Spool: s.answers, Runs: s.store, Life: s.store, Tasks: s.catalog, Keys: keys, Adapters: adapters, Clock: clock{}, NewID: newID, NewCallID: newCallID,
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

// stop is the whole end of a service that answers nobody.
func (s *service) stop(ctx context.Context) error {
	return errors.Join(s.quiesce(ctx), s.finish(ctx))
}

// quiesce begins no more calls and waits for those in flight until ctx ends.
// Requests can still be answered.
func (s *service) quiesce(ctx context.Context) error {
	left := s.leave(ctx)
	if s.imports != nil {
		s.imports.Close()
	}
	err := s.engine.Stop(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("calls in flight were cut off; the next start marks them unknown")
		err = nil
	}
	return errors.Join(left, err)
}

// finish closes everything, the database last.
func (s *service) finish(ctx context.Context) error {
	s.door.Close()
	s.pool.Close()
	s.managed.pool.Close()
	s.part(ctx)
	return errors.Join(s.answers.Close(), s.close())
}
