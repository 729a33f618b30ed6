package httpapi

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/discover"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Catalog is what can be evaluated, and by which managed routes.
type Catalog interface {
	Profiles(context.Context, core.Scope) ([]core.Profile, error)
	Profile(context.Context, core.Scope, core.ProfileID) (core.Profile, error)
	TasksAt(context.Context, core.Profile, []int) (map[int]bundle.Task, error)
	Routes() []core.Target
	Route(core.RouteID) (core.Target, bool)
}

// Admission quotes and starts.
type Admission interface {
	Quote(context.Context, core.Scope, admission.QuoteRequest) (core.Quote, error)
	Start(context.Context, core.Scope, admission.RunRequest) (core.Admitted, error)
}

// Runs reads and stops runs.
type Runs interface {
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
	Runs(context.Context, core.Scope, store.RunFilter) ([]core.Run, error)
	Quote(context.Context, core.Scope, core.QuoteID) (core.QuoteState, error)
	Events(context.Context, core.Scope, core.RunID, history.EventQuery) ([]core.Event, error)
	Result(context.Context, core.Scope, core.RunID, int) (store.Result, error)
	RequestCancel(context.Context, core.Scope, core.RunID) error
	Recall(ctx context.Context, sc core.Scope, op, key, hash string) (core.Admitted, bool, error)
}

// Answers reads what was said in runs: by models, and by judges about it.
type Answers interface {
	export.Samples
	Replies(context.Context, core.Scope, core.RunID, int, int) ([]core.Reply, error)
	Parts(context.Context, core.Scope, core.RunID, int, int) ([]core.Reply, error)
	Billed(context.Context, core.Scope, core.RunID, int, int) ([]history.BilledCall, error)
}

// Chains knows the continuations of runs. Result is that of the chain that ends
// with a run, without samples, from the run's own export; withTasks says that it
// may name tasks.
type Chains interface {
	Newest(context.Context, core.Scope, core.RunID) (core.RunID, error)
	Result(ctx context.Context, sc core.Scope, newest api.Export, withTasks bool) (*api.ChainExport, error)
}

// Connections keeps users' own endpoints.
type Connections interface {
	Create(context.Context, core.Scope, connection.New) (core.ConnectionInfo, error)
	List(context.Context, core.Scope) ([]core.ConnectionInfo, error)
	Get(context.Context, core.Scope, core.ConnectionID) (core.ConnectionInfo, error)
	Update(context.Context, core.Scope, core.ConnectionID, connection.Change) (core.ConnectionInfo, error)
	Check(context.Context, core.Scope, core.ConnectionID) (core.ConnectionInfo, error)
	Disable(context.Context, core.Scope, core.ConnectionID) error
	Usable(context.Context, core.Scope, core.Target) error
}

// Keys finds API keys. ok is false for one that does not exist; a revoked or
// expired key is found.
type Keys interface {
	Identify(ctx context.Context, token string) (k core.APIKey, ok bool, err error)
}

// Sessions finds people by their access tokens, and their roles. ok is false
// for a token that does not exist; one that has ended is found.
type Sessions interface {
	SignedIn(ctx context.Context, token string) (v core.SignedIn, ok bool, err error)
	RoleIn(context.Context, core.UserID, core.WorkspaceID) (core.Role, error)
}

// Subject is a package of handlers: its routes, and the features that a client is
// told of.
type Subject interface {
	Routes() []Route
	Features() []string
}

// Changes wakes whoever waits for a run's log to grow. The channel is closed
// once anything about the run may have changed since the call.
type Changes interface {
	Watch(...core.RunID) (changed <-chan struct{}, stop func())
	// Follow counts one in that waits, or says that too many of the workspace do.
	Follow(core.WorkspaceID) (leave func(), ok bool)
}

// Waker is told when a run was asked to stop.
type Waker interface {
	Wake(core.WorkspaceID, core.RunID)
}

// Options of a Server. All fields are required unless they say otherwise.
type Options struct {
	Catalog     Catalog
	Admission   Admission
	Runs        Runs
	Answers     Answers
	Chains      Chains
	Connections Connections
	Keys        Keys
	// Sessions is nil where nobody signs in.
	Sessions Sessions
	Changes  Changes
	Waker    Waker
	Adapters provider.Set
	// Subjects are what other packages of handlers add.
	Subjects []Subject
	// Discover looks for model servers on this machine; nil where callers are
	// not its owner.
	Discover func(context.Context) (servers []discover.Server, ports []int)
	// Owner is the local owner's token; "" accepts API keys only.
	Owner string
	// Admit says no to a request of which only the head was read; nil to none.
	Admit func(*http.Request) error
	// Within is how long a handler may take that answers with records; 0 for as
	// long as it likes.
	Within time.Duration
	// Observe is told of each answer: its route, as "GET /v1/runs", or "/" for
	// what has none; nil for nobody.
	Observe func(route string, status int, took time.Duration)
	// Ready says whether requests can be served; nil for always.
	Ready func(context.Context) error
	Now   func() time.Time
	// After is a timer, as time.After is.
	After func(time.Duration) <-chan time.Time
	// Random fills b with random bytes.
	Random  func(b []byte)
	Version string
	// WebOrigin is where people's browsers find this service, "" for nowhere.
	WebOrigin string
	// SpoolDir holds exports while they are made; "" is the system's.
	SpoolDir string
	// DataDir is where the installation is, for the log and its owner.
	DataDir string
	Log     *slog.Logger
}

// Server answers the HTTP contract.
type Server struct {
	o        Options
	mux      *http.ServeMux
	api      huma.API
	owner    []byte // the owner's token; nil without one
	ownerSum []byte
	started  time.Time
	keyed    keyedLock
	log      *slog.Logger
	last     atomic.Int64 // unix microseconds of the newest request
	active   atomic.Int64
	// byAddress and byKey bound how often one caller may ask.
	byAddress, byKey *ratelimit.Limiter
	// fullLogged keeps full storage from filling the log.
	fullLogged seldom
	// description is the OpenAPI document, made once: it is the largest answer
	// that anybody may ask for.
	description func() ([]byte, error)
}

// New makes a server. It fails when a route does not say who may call it.
func New(o Options) (*Server, error) {
	s := &Server{o: o, mux: http.NewServeMux(), started: o.Now(), log: o.Log, keyed: keyedLock{held: map[string]*heldKey{}}}
	s.fullLogged.every = time.Minute
	s.byAddress, s.byKey = ratelimit.New(anonymousRate), ratelimit.New(keyRate)
	s.last.Store(s.started.UnixMicro())
	if o.Owner != "" {
		sum := sha256.Sum256([]byte(o.Owner))
		s.owner, s.ownerSum = []byte(o.Owner), sum[:]
	}
	s.api = humago.New(s.mux, s.config())
	for _, rt := range s.routes() {
		if err := rt.declared(); err != nil {
			return nil, err
		}
		rt.register(s, rt)
	}
	s.description = sync.OnceValues(func() ([]byte, error) { return marshal(s.api.OpenAPI()) })
	s.mux.HandleFunc("/", s.unmatched)
	return s, nil
}

func (s *Server) micros() core.Micros { return core.Micros(s.o.Now().UnixMicro()) }

func (s *Server) served(at time.Time) { s.last.Store(at.UnixMicro()) }

// LastRequest is when the newest request came, or the start. Health checks
// count too: whoever asks wants the service to be there.
func (s *Server) LastRequest() time.Time { return time.UnixMicro(s.last.Load()) }

// Pending is the number of handlers at work, long polls included.
func (s *Server) Pending() int { return int(s.active.Load()) }
