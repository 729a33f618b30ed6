package tracing

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/evalrouter/evalrouter/lib/redact"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
)

// Names of the environment variables that fill an empty Config.
const (
	EnvKey        = "EVALROUTER_TRACE_KEY"
	EnvConnection = "EVALROUTER_TRACE_CONNECTION_ID"
	EnvBaseURL    = "EVALROUTER_BASE_URL"
	EnvWorkspace  = "EVALROUTER_WORKSPACE_ID"
	// EnvContent is the variable by which the libraries of OpenTelemetry are told
	// whether to capture content. NO_CONTENT turns it off here as well.
	EnvContent = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
	// EnvService names the program where Config.Service does not.
	EnvService = "OTEL_SERVICE_NAME"
)

// DefaultBaseURL is the service where none is named.
const DefaultBaseURL = "https://api.evalrouter.ai"

// Content is what becomes of the values given to Input and Output.
type Content int

// Contents.
const (
	// ContentDefault is redacted content, or none where EnvContent says so.
	ContentDefault Content = iota
	// ContentRedacted is redacted and bounded.
	ContentRedacted
	// ContentNone is not captured: names, times and token counts remain.
	ContentNone
	// ContentRaw is bounded and not redacted. A line in the log says so.
	ContentRaw
)

// Config says where traces go and what they may hold. The zero value is
// configured by the environment. Fields win over variables.
type Config struct {
	// Key is the ingest key of the connection. It can do nothing but send traces
	// to it.
	Key string
	// ConnectionID and WorkspaceID say what the key belongs to.
	ConnectionID string
	WorkspaceID  string
	// BaseURL is the origin of the service, with or without /v1. Plain http is
	// for loopback addresses only.
	BaseURL string

	// Service names the program in the traces.
	Service string
	// Content and Redaction say what inputs and outputs may hold.
	Content   Content
	Redaction Redaction
	// SampleRatio is the share of traces that is captured, chosen by trace and
	// not by span. 0 means all.
	SampleRatio float64
	// Delivery bounds what waits and says how it is sent.
	Delivery Delivery

	// TracerProvider makes the spans instead of a private one. The caller owns
	// it, and registers SpanProcessor with it. Content is redacted before it
	// becomes an attribute, because other exporters of that provider see it.
	TracerProvider trace.TracerProvider
	// ExportAll makes SpanProcessor export the spans of other libraries too. They
	// are redacted and bounded as ours are.
	ExportAll bool

	// OnLoss hears how many spans were lost since it was last called, and why.
	// It is called in the goroutine that sends and must not wait.
	OnLoss func(reason string, spans uint64)
	// Logger hears that delivery fails or works again, and of losses, at most
	// once a minute each. Nil means slog.Default.
	Logger *slog.Logger

	// Env and Rand (in [0,1)) replace the environment and chance.
	Env  func(name string) string
	Rand func() float64
}

// Redaction configures what leaves the process. The zero value has the usual
// rules and bounds.
type Redaction struct {
	// Fields are further sensitive names, compared by their words: "customer name"
	// hides customerName and CUSTOMER_NAME.
	Fields []string
	// MaxValue bounds an input or output in bytes of JSON (65,536), MaxText one
	// text in it (16,384).
	MaxValue, MaxText int
	// Hook sees every input and output before the redaction, which still follows.
	// attribute says what it is, such as evalrouter.input; content is JSON, or
	// text in spans of other libraries. It is called by several goroutines at
	// once. An error or a panic costs the value: a mark is sent in its place.
	Hook func(attribute string, content []byte) ([]byte, error)
}

// Delivery configures the queue and the requests.
type Delivery struct {
	// QueueBytes bounds the spans that wait in memory (16 MiB).
	QueueBytes int
	// Interval is how long a span may wait for company (1 s).
	Interval time.Duration
	// RequestTimeout bounds one request (30 s).
	RequestTimeout time.Duration
	// SpoolDir is a folder in which spans wait for delivery, so that they survive
	// the process. Ending a span then redacts it and writes it to a file. Several
	// processes may share a folder. Unix systems only.
	SpoolDir string
	// SpoolBytes bounds the files of one process (64 MiB).
	SpoolBytes int64
	// Transport replaces the HTTP transport.
	Transport http.RoundTripper
}

// ErrNotConfigured says that a variable or field that is needed is empty. The
// nil capture that comes with it records nothing.
var ErrNotConfigured = errors.New("trace capture is not configured")

// fill takes what is missing from the environment and the defaults.
func (c *Config) fill() error {
	if c.Env == nil {
		c.Env = os.Getenv
	}
	for _, v := range []struct {
		field *string
		name  string
	}{{&c.Key, EnvKey}, {&c.ConnectionID, EnvConnection}, {&c.WorkspaceID, EnvWorkspace}} {
		if *v.field == "" {
			*v.field = c.Env(v.name)
		}
		if *v.field == "" {
			return fmt.Errorf("%w: %s is not set; nothing is captured", ErrNotConfigured, v.name)
		}
		if !graphic(*v.field) {
			return fmt.Errorf("trace capture is off: %s must be printable ASCII without spaces", v.name)
		}
	}
	or(&c.BaseURL, c.Env(EnvBaseURL), DefaultBaseURL)
	or(&c.Service, c.Env(EnvService), filepath.Base(os.Args[0]))
	if c.Content == ContentDefault {
		c.Content = contentOf(c.Env(EnvContent))
	}
	if c.Content < ContentDefault || c.Content > ContentRaw {
		return fmt.Errorf("trace capture is off: %d is no way to treat content", c.Content)
	}
	if !(c.SampleRatio >= 0 && c.SampleRatio <= 1) {
		return errors.New("trace capture is off: the sample ratio must be between 0 and 1")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	return c.Delivery.fill()
}

func (d *Delivery) fill() error {
	if d.QueueBytes < 0 || d.SpoolBytes < 0 || d.Interval < 0 || d.RequestTimeout < 0 {
		return errors.New("trace capture is off: a bound of its delivery is negative")
	}
	or(&d.QueueBytes, 16<<20)
	or(&d.SpoolBytes, 64<<20)
	or(&d.Interval, time.Second)
	or(&d.RequestTimeout, 30*time.Second)
	if d.Transport == nil {
		d.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return nil
}

// or fills an empty field with the first value that is not.
func or[T comparable](field *T, values ...T) {
	var zero T
	for _, v := range values {
		if *field == zero {
			*field = v
		}
	}
}

// contentOf reads the variable of OpenTelemetry. Calling Input is what asks for
// content here, so that only an explicit no turns it off. An unknown word is one
// too.
func contentOf(env string) Content {
	switch env {
	case "", "SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT", "true", "True", "TRUE", "1":
		return ContentRedacted
	}
	return ContentNone
}

func (c *Config) policy() outgoing.Policy {
	p := outgoing.Policy{Hook: c.Redaction.Hook, Redact: redact.Config{
		Fields: c.Redaction.Fields,
		Limits: redact.Limits{Value: c.Redaction.MaxValue, String: c.Redaction.MaxText},
	}}
	switch c.Content {
	case ContentNone:
		p.Content = outgoing.None
	case ContentRaw:
		p.Content = outgoing.Raw
	}
	return p
}

// graphic accepts what may stand in a header.
func graphic(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= 4096
}
