package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// route is one line of the table.
type route struct {
	method, path string
	id           string // operation id
	summary      string
	access       access
	scope        string
	body         bool
	upload       bool // the body is a file, which the handler reads
	form         bool // as OAuth's standards have it, outside the gate
	maxBody      int  // of a JSON body
	tag          string
	register     func(*Server, route)
}

// declared fails for a route that does not say who may call it.
func (rt route) declared() error {
	if rt.access == undeclared || (rt.access >= scoped) != (rt.scope != "") {
		return fmt.Errorf("route %s %s does not say who may call it", rt.method, rt.path)
	}
	return nil
}

// lengthy says that an answer may take as long as its file is.
func (rt route) lengthy() bool {
	return rt.scope == scopeBenchmarksSubmit || rt.id == "export-run" || rt.id == "export-dataset-version"
}

// on gives a line of the table its handler.
func (rt route) on(register func(*Server, route)) route {
	rt.register = register
	return rt
}

// handle binds a typed handler. Every error leaves through failureOf.
func handle[I, O any](fn func(*Server, context.Context, *I) (*O, error)) func(*Server, route) {
	return func(s *Server, rt route) {
		rt.maxBody = cmp.Or(rt.maxBody, maxBody)
		op := huma.Operation{
			OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary, Tags: []string{rt.tag},
			MaxBodyBytes: int64(rt.maxBody) + 1, BodyReadTimeout: -1, SkipValidateBody: true, DefaultStatus: http.StatusOK,
			Middlewares: huma.Middlewares{s.admit(rt)}, Responses: errorResponses(s.api.OpenAPI().Components.Schemas),
		}
		if rt.upload {
			file := &huma.Schema{Type: huma.TypeString, Format: "binary"}
			op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: file}}}
		}
		if rt.access != public {
			op.Security = []map[string][]string{{"bearer": {}}}
		}
		huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
			s.active.Add(1)
			defer s.active.Add(-1)
			if s.o.Within > 0 && !rt.lengthy() {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, s.o.Within)
				defer cancel()
			}
			if f, ok := any(in).(faulty); ok {
				if err := f.problem(); err != nil {
					return nil, s.failureOf(ctx, err)
				}
			}
			out, err := fn(s, ctx, in)
			if err != nil {
				return nil, s.failureOf(ctx, err)
			}
			return out, nil
		})
	}
}

func errorResponses(r huma.Registry) map[string]*huma.Response {
	return map[string]*huma.Response{"default": {
		Description: "Whatever is not a success",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: r.Schema(reflect.TypeFor[api.Envelope](), true, "")}},
	}}
}

// answer is a record as an answer.
type answer[T any] struct {
	Body T
}

func reply[T any](v T) *answer[T] { return &answer[T]{Body: v} }

// none is the input of a route without parameters.
type none struct{}

// config is the router without what this API does not use.
func (s *Server) config() huma.Config {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Concurrency](), reflect.TypeFor[concurrencySchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.EvaluationModel](), reflect.TypeFor[modelSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Model](), reflect.TypeFor[api.SelectedModel]())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "EvalRouter", Version: s.o.Version},
			Components: &huma.Components{Schemas: schemas, SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "An API key, or the owner's token of a local service."},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat(), "json": jsonFormat()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{s.ownErrors},
	}
}

// ownErrors keeps the router's error model off the wire.
func (s *Server) ownErrors(hc huma.Context, _ string, v any) (any, error) {
	if m, ok := v.(*huma.ErrorModel); ok {
		return s.fromRouter(hc.Context(), m), nil
	}
	return v, nil
}

// concurrencySchema describes api.Concurrency.
type concurrencySchema struct{}

// Schema is "auto", "max" or a number.
func (concurrencySchema) Schema(huma.Registry) *huma.Schema {
	low, high := 1.0, 100.0
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, Enum: []any{"auto", "max"}},
		{Type: huma.TypeInteger, Minimum: &low, Maximum: &high},
	}}
}

// modelSchema describes api.EvaluationModel.
type modelSchema struct{}

// Schema is a model's name or object.
func (modelSchema) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, Description: "A route id, or connection:<id>."},
		r.Schema(reflect.TypeFor[api.ModelRef](), true, ""),
	}}
}

// Route is a route of a package beside this one. It passes the same gate as the
// others, and its errors leave the same way.
type Route struct {
	Method, Path, ID, Summary, Tag string
	// Scope is what a caller needs; without one, Access says who may call.
	Scope  string
	Access Access
	// Body says that there is a JSON body, Upload that the body is a file
	// (UploadOf).
	Body, Upload bool
	// Ingest says that ingest keys call the route, and nobody else. Its bodies may
	// be encoded, and how much may come is the handler's affair.
	Ingest bool
	// MaxBody bounds a JSON body, 256 KiB when it is 0.
	MaxBody int
	made    route
}

// Access says who may call a route without a scope.
type Access int

// Who may call a route without a scope.
const (
	AccessAny    = Access(anyCaller)
	AccessPublic = Access(public)
)

func (r Route) line() route {
	a := access(r.Access)
	if r.Scope != "" {
		a = scoped
	}
	if r.Ingest {
		a = ingest
	}
	return route{method: r.Method, path: r.Path, id: r.ID, summary: r.Summary, access: a, scope: r.Scope, body: r.Body, upload: r.Upload, maxBody: r.MaxBody, tag: r.Tag}
}

// On gives a route its handler.
func On[I, O any](r Route, fn func(*Server, context.Context, *I) (*O, error)) Route {
	r.made = r.line().on(handle(fn))
	return r
}

// Form gives a public route a handler of its own. Such routes follow the
// standards of OAuth instead of this API: forms, and their own kind of error.
func Form(r Route, h http.HandlerFunc) Route {
	r.made = r.line()
	r.made.form = true
	r.made = r.made.on(func(s *Server, rt route) {
		s.api.OpenAPI().AddOperation(&huma.Operation{OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary, Tags: []string{rt.tag},
			Responses: map[string]*huma.Response{"default": {Description: "As RFC 6749, 7009 and 8628 say"}}})
		s.mux.HandleFunc(rt.method+" "+rt.path, h)
	})
	return r
}

// Answer is a record as an answer.
type Answer[T any] = answer[T]

// Reply answers with a record.
func Reply[T any](v T) *Answer[T] { return reply(v) }

// Replayable is the answer of a request that is carried out once.
type Replayable[T any] = replayable[T]

// Once carries out a request with an idempotency key, or answers as the one
// before did. do is given what identifies it.
func Once[T any](s *Server, ctx context.Context, k Keyed, op string, body []byte, do func(core.Once) (core.Admitted, error)) (*Replayable[T], error) {
	o, err := k.once(op, body)
	if err != nil {
		return nil, err
	}
	return exactlyOnce[T](s, ctx, o, func() (core.Admitted, error) { return do(core.Once{Op: o.op, Key: o.key, Hash: o.hash}) })
}

// QuoteOf is a quote as the wire shows it.
func (s *Server) QuoteOf(q core.Quote) api.QuoteRecord {
	return quoteRecord(core.QuoteState{Quote: q}, s.micros())
}

// RunStatus is the state of a run in the words of the wire.
func RunStatus(r core.Run) api.RunStatus { return runStatus(r) }

// Record is a record as it is written on the wire.
func Record(v any) ([]byte, error) { return marshal(v) }

// LinksOf are the pages of a run or a group, of a service that browsers find at an
// origin; none where they find it nowhere. report is the page of the result.
func LinksOf(origin, live, report string) api.RunLinks {
	if origin == "" {
		return api.RunLinks{}
	}
	return api.RunLinks{Live: new(origin + live), Report: new(origin + report)}
}

// linked is the record of a run with its pages.
func (s *Server) linked(r api.RunRecord) api.RunRecord {
	r.Links = LinksOf(s.o.WebOrigin, "/runs/"+r.ID, "/runs/"+r.ID)
	return r
}

// RunRecord and QuoteRecord are the records of a run and of a quote.
func RunRecord(r core.Run, q core.Quote, now core.Micros) api.RunRecord { return runRecord(r, q, now) }
func QuoteRecord(q core.QuoteState, now core.Micros) api.QuoteRecord    { return quoteRecord(q, now) }

// QuoteRequest reads what a quote is asked for.
func (s *Server) QuoteRequest(ctx context.Context, n api.NewQuote) (admission.QuoteRequest, error) {
	return s.quoteRequest(ctx, n)
}

// RunText refuses a name or metadata that a run cannot have.
func RunText(name string, metadata map[string]string) error {
	return cmp.Or(runName(name), runMetadata(metadata))
}
