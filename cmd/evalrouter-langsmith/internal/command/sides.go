package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/source"
	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/profile"
)

// maxKey bounds what is read of a key file.
const maxKey = 4096

// sourceKey reads the LangSmith key from stdin, a file or the environment.
func (a *App) sourceKey() (string, error) {
	refuse := func(message string, err error) (string, error) {
		return "", &refusal{code: api.InvalidConfiguration, message: message, err: err, facts: []string{"nothing was read or sent"}}
	}
	var key string
	switch {
	case a.opts.keyStdin && a.opts.keyFile != "":
		return refuse("--key-stdin and --key-file exclude each other", nil)
	case a.opts.keyStdin:
		b, err := io.ReadAll(io.LimitReader(a.In, maxKey))
		if err != nil {
			return refuse("the LangSmith key cannot be read from stdin", err)
		}
		key = string(b)
	case a.opts.keyFile != "":
		f, err := os.Open(a.opts.keyFile)
		if err != nil {
			return refuse("the key file cannot be opened", err)
		}
		b, err := io.ReadAll(io.LimitReader(f, maxKey))
		if err = errors.Join(err, f.Close()); err != nil {
			return refuse("the key file cannot be read", err)
		}
		key = string(b)
	default:
		key = a.env("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
	}
	if key = strings.TrimSpace(key); key == "" {
		return refuse("there is no LangSmith key; set LANGSMITH_API_KEY, or use --key-file or --key-stdin", nil)
	}
	return key, nil
}

func (a *App) source(project string) (*source.Client, string, error) {
	key, err := a.sourceKey()
	if err != nil {
		return nil, "", err
	}
	c, err := source.New(source.Config{
		Origin: a.env("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT", "LANGCHAIN_BASE_URL"), AllowHTTP: a.opts.allowHTTP,
		Key: key, Workspace: a.sourceWorkspace(), Project: project, UserAgent: a.userAgent(), Now: a.Now, Sleep: a.Sleep, Unpaced: a.Unpaced,
	})
	return c, key, err
}

func (a *App) sourceWorkspace() string { return a.env("LANGSMITH_WORKSPACE_ID", "LANGSMITH_TENANT_ID") }

// destination is EvalRouter as a langsmith.Destination.
type destination struct {
	client     *evalrouter.Client
	connection string
	workspace  string
	project    string
	progress   func(api.TraceImportResult)
}

// destination is made from the EVALROUTER settings alone. sourceKey is known
// here only to refuse it.
func (a *App) destination(sourceKey string) (*destination, error) {
	d := &destination{connection: a.env("EVALROUTER_TRACE_CONNECTION_ID"), workspace: a.opts.workspace, project: a.opts.project}
	if d.workspace == "" {
		d.workspace = a.env(profile.EnvWorkspace)
	}
	key := a.env("EVALROUTER_TRACE_KEY")
	base := a.opts.baseURL
	if base == "" {
		base = a.env(profile.EnvBaseURL)
	}
	if base == "" {
		base = profile.Production
	}
	var missing []string
	for _, x := range [][2]string{{key, "EVALROUTER_TRACE_KEY"}, {d.connection, "EVALROUTER_TRACE_CONNECTION_ID"}, {d.workspace, profile.EnvWorkspace}} {
		if x[0] == "" {
			missing = append(missing, x[1])
		}
	}
	switch {
	case len(missing) > 0:
		return nil, &refusal{
			code: api.InvalidConfiguration, message: "the trace connection is not configured; set " + strings.Join(missing, ", "),
			facts: []string{"nothing was read or sent", "Traces, Connect agent in the workspace makes a LangSmith connection and shows its variables"},
		}
	case key == sourceKey, strings.Contains(key, sourceKey), strings.HasPrefix(key, "lsv2_"):
		return nil, &refusal{
			code: api.InvalidConfiguration, message: "EVALROUTER_TRACE_KEY holds a LangSmith key, which must not go to EvalRouter",
			facts: []string{"nothing was read or sent; give it the ingest key of the trace connection"},
		}
	}
	c, err := evalrouter.New(evalrouter.Config{
		BaseURL: base, APIKey: key, WorkspaceID: d.workspace, AllowHTTP: a.opts.allowHTTP, UserAgent: a.userAgent(),
		Retries: new(0), Now: a.Now, Sleep: a.Sleep, Rand: a.Chance,
	})
	d.client = c
	return d, err
}

// Import sends one batch.
func (d *destination) Import(ctx context.Context, key string, traces []api.ImportedTrace) (api.TraceImportResult, error) {
	res, err := d.client.Traces.Import(ctx, d.connection, evalrouter.IdempotencyKey(key), api.TraceImport{
		Source: api.SourceLangSmith, ProjectID: d.project, Traces: traces,
	})
	var e *evalrouter.Error
	switch {
	case err == nil:
		if d.progress != nil {
			d.progress(res)
		}
		return res, nil
	case ctx.Err() != nil:
		return res, ctx.Err()
	case errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge:
		return res, fmt.Errorf("%w: %w", langsmith.ErrTooLarge, err)
	}
	return res, &importError{err}
}

// importError says whether a failure of the destination may pass.
type importError struct{ error }

func (e *importError) Unwrap() error { return e.error }

// RetryAfter: what has no answer, or an answer that speaks of the service and
// not of the request, may pass.
func (e *importError) RetryAfter() (time.Duration, bool) {
	var call *evalrouter.Error
	if !errors.As(e.error, &call) {
		return 0, false
	}
	switch {
	case call.Status == http.StatusTooManyRequests, call.Status == http.StatusRequestTimeout, call.Status >= 500,
		call.Code == api.OperationInProgress, call.Code == api.NetworkError, call.Code == api.RequestTimeout:
		return call.RetryAfter, true
	}
	return 0, false
}

var (
	_ langsmith.Destination = (*destination)(nil)
	_ langsmith.Retryable   = (*importError)(nil)
)
