package evalrouter

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/process"
)

// Defaults of a Config.
const (
	DefaultTimeout          = 120 * time.Second
	DefaultAttemptTimeout   = 30 * time.Second
	DefaultRetries          = 2
	MaxRetries              = 5
	DefaultMaxResponseBytes = 64 << 20
	DefaultMaxExportBytes   = 256 << 20
)

// Config says where the service is and who is asking. Only BaseURL is
// required; zero values mean the documented defaults.
type Config struct {
	// BaseURL is an https origin, with or without a trailing /v1.
	BaseURL string
	// APIKey is sent as a bearer token. Empty sends none.
	APIKey string
	// Credential gives the token to send, for callers whose token changes; it is
	// asked before each operation and replaces APIKey. refused is the token that
	// the service has just called expired, "" otherwise: then it is asked once
	// more, and another token is tried. An error of it ends the operation before
	// anything is sent.
	Credential func(ctx context.Context, refused string) (string, error)
	// WorkspaceID is sent with every request that carries credentials.
	WorkspaceID string
	// AllowHTTP permits plain http to localhost, 127.0.0.0/8 and ::1.
	AllowHTTP bool

	// HTTPClient replaces the built-in one. Its transport is used; its cookie
	// jar and redirect policy are not, and Close leaves its connections alone.
	HTTPClient *http.Client
	// Dial makes the connections of the built-in client, nil for the usual way.
	// One that fails counts as a service that cannot be reached.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// UserAgent replaces the default.
	UserAgent string

	// Timeout bounds a whole operation, waits between attempts included.
	Timeout time.Duration
	// AttemptTimeout bounds one attempt. For exports it bounds the time until
	// the answer begins, and is as long as Timeout where it is not set: a file is
	// made before its first byte is sent, and asking again would have it made
	// again. Its content is bounded by Timeout alone.
	AttemptTimeout time.Duration
	// Retries is the number of extra attempts, 0 to MaxRetries. Nil means
	// DefaultRetries.
	Retries *int

	MaxResponseBytes int64
	MaxExportBytes   int64

	// Now, Sleep and Rand (in [0,1)) replace the clock, waiting and chance.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	Rand  func() float64
}

// Client talks to one service as one caller. It is safe for concurrent use.
type Client struct {
	Catalog     *Catalog
	Evals       *Evals
	Connections *Connections
	Quotes      *Quotes
	Runs        *Runs
	Groups      *Groups
	Evaluations *Evaluations
	Sources     *Sources
	Benchmarks  *Benchmarks
	Feedback    *Feedback
	Credits     *Credits
	Traces      *Traces
	Workspaces  *Workspaces
	Datasets    *Datasets
	Meta        *Meta

	c *core
}

// core is what all services share.
type core struct {
	cfg     Config
	origin  *url.URL // without path
	http    *http.Client
	retries int
	files   time.Duration   // bounds an attempt to get a file
	owned   *http.Transport // nil when the caller brought a client

	closing context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex
	closed  bool
	active  sync.WaitGroup
}

// New checks the configuration. It makes no request. Its errors have the code
// invalid_configuration and never contain the key.
func New(cfg Config) (*Client, error) {
	origin, err := parseOrigin(cfg.BaseURL, cfg.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey != "" && !graphic(cfg.APIKey, 4096) {
		return nil, configError("the API key must be 1 to 4,096 printable ASCII characters without spaces")
	}
	if cfg.WorkspaceID != "" && !graphic(cfg.WorkspaceID, 4096) {
		return nil, configError("the workspace id must be 1 to 4,096 printable ASCII characters without spaces")
	}
	files := cfg.AttemptTimeout
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	orElse(&files, cfg.Timeout)
	c := &core{cfg: cfg, origin: origin, retries: *cfg.Retries, files: files}
	c.http, c.owned = httpClient(cfg)
	c.closing, c.cancel = context.WithCancel(context.Background())
	return &Client{
		Catalog:     &Catalog{c: c},
		Evals:       &Evals{c: c},
		Connections: &Connections{c: c},
		Quotes:      &Quotes{c: c},
		Runs:        &Runs{c: c},
		Groups:      &Groups{c: c},
		Evaluations: &Evaluations{c: c},
		Sources:     &Sources{c: c},
		Benchmarks:  &Benchmarks{c: c},
		Feedback:    &Feedback{c: c},
		Credits:     &Credits{c: c},
		Workspaces:  &Workspaces{c: c},
		Datasets:    &Datasets{c: c},
		Traces:      &Traces{c: c, Connections: &TraceConnections{c}, Evaluators: &TraceEvaluators{c}, Findings: &TraceFindings{c}},
		Meta:        &Meta{c: c},
		c:           c,
	}, nil
}

func (cfg *Config) fill() error {
	if cfg.Retries == nil {
		cfg.Retries = new(DefaultRetries)
	}
	if *cfg.Retries < 0 || *cfg.Retries > MaxRetries {
		return configError("retries must be between 0 and 5")
	}
	if cfg.Timeout < 0 || cfg.AttemptTimeout < 0 || cfg.MaxResponseBytes < 0 || cfg.MaxExportBytes < 0 {
		return configError("timeouts and size limits must not be negative")
	}
	orElse(&cfg.Timeout, DefaultTimeout)
	orElse(&cfg.AttemptTimeout, DefaultAttemptTimeout)
	orElse(&cfg.MaxResponseBytes, DefaultMaxResponseBytes)
	orElse(&cfg.MaxExportBytes, DefaultMaxExportBytes)
	orElse(&cfg.UserAgent, "evalrouter-go/0.0.0 ("+runtime.GOOS+"/"+runtime.GOARCH+")")
	if !printable(cfg.UserAgent, 400) {
		return configError("the user agent must be 1 to 400 printable ASCII characters")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = process.Sleep
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	return nil
}

// Close ends the calls in flight, waits for them and closes idle connections.
// Later calls fail. Work that the service has accepted goes on. Close may be
// called more than once.
func (c *Client) Close() error {
	c.c.mu.Lock()
	c.c.closed = true
	c.c.mu.Unlock()
	c.c.cancel()
	c.c.active.Wait()
	if c.c.owned != nil {
		c.c.owned.CloseIdleConnections()
	}
	return nil
}

// BaseURL is the origin in use, without a path.
func (c *Client) BaseURL() string { return c.c.origin.String() }

// Whoami says as whom the service sees the caller.
func (c *Client) Whoami(ctx context.Context) (api.WhoamiRecord, error) {
	return do[api.WhoamiRecord](ctx, c.c, call{op: "read the signed-in identity", method: http.MethodGet, path: path("auth", "whoami"), retry: true})
}

// enter registers a call. The context it returns ends with Close.
func (c *core) enter(ctx context.Context, limit time.Duration) (context.Context, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, configError("the client is closed")
	}
	c.active.Add(1)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errOperationLimit)
	unhook := context.AfterFunc(c.closing, cancel)
	return ctx, func() { unhook(); cancel(); c.active.Done() }, nil
}

func httpClient(cfg Config) (*http.Client, *http.Transport) {
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if given := cfg.HTTPClient; given != nil {
		return &http.Client{Transport: given.Transport, Timeout: given.Timeout, CheckRedirect: refuse}, nil
	}
	t := NewTransport()
	t.DialContext = cfg.Dial
	return &http.Client{Transport: t, CheckRedirect: refuse}, t
}

// NewTransport is the transport of a client that brings none, for callers that
// put something in front of it. Whoever makes it closes its connections.
func NewTransport() *http.Transport {
	return &http.Transport{
		// ProxyFromEnvironment never proxies loopback addresses, and an origin
		// is https everywhere else.
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          16,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

func orElse[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}
