package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/strictjson"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// failure is an answer that is not a success: the envelope with its status.
type failure struct {
	status int
	body   api.Envelope
	// retryAfter is in seconds; 0 sends no header.
	retryAfter int
	allow      string
}

// Error is the sentence.
func (f *failure) Error() string { return f.body.Error.Message }

// GetStatus makes the router answer with this status.
func (f *failure) GetStatus() int { return f.status }

// GetHeaders adds what the status asks for.
func (f *failure) GetHeaders() http.Header {
	h := http.Header{}
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	if f.allow != "" {
		h.Set("Allow", f.allow)
	}
	if f.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	return h
}

// MarshalJSON is the envelope alone.
func (f *failure) MarshalJSON() ([]byte, error) { return json.Marshal(f.body) }

// failureOf turns an error into an answer. What is not a refusal is a fault
// of the service: it is logged once, here, and the caller gets the request id.
func (s *Server) failureOf(ctx context.Context, err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		f.body.Error.RequestID = requestID(ctx)
		return f
	}
	var strict *strictjson.Error
	if errors.As(err, &strict) {
		return s.failureOf(ctx, refuseFields(strict.Fields))
	}
	var r *core.Refusal
	if !errors.As(err, &r) {
		r = s.fault(ctx, err)
	}
	f = &failure{status: statusOf(r.Code), body: api.Envelope{Error: api.Error{
		Code: api.Code(r.Code), Message: string(plain.Line(r.Message)), Details: r.Details, RequestID: requestID(ctx),
	}}}
	if f.status == http.StatusServiceUnavailable || f.status == http.StatusTooManyRequests || r.Code == operationInProgress {
		f.retryAfter = 1
	}
	return f
}

// fault is what a caller is told of an error that is no refusal.
func (s *Server) fault(ctx context.Context, err error) *core.Refusal {
	switch {
	case store.Full(err):
		if s.fullLogged.due(s.o.Now()) {
			s.log.Error("storage is full or cannot be written", "directory", s.o.DataDir, "request_id", requestID(ctx), "error", err.Error())
		}
		where := "the service's storage"
		if s.owner != nil && s.o.DataDir != "" { // its path is for the owner alone
			where = "the data directory " + s.o.DataDir
		}
		return core.Refuse(storageFull, "%s takes no more data: it is full or cannot be written. Nothing was recorded; make room, then repeat the request with the same idempotency key", where)
	case ctx.Err() != nil: // whatever failed, it failed because nobody waits
		return core.Refuse(unavailable, "the request was given up before it was answered")
	}
	s.log.Error("request failed", "request_id", requestID(ctx), "error", err.Error())
	return core.Refuse(internalError, "the service failed; its log says more under this request id")
}

// seldom lets through one event in an interval.
type seldom struct {
	every time.Duration
	last  atomic.Int64 // unix nanoseconds; 0 = never
}

func (d *seldom) due(now time.Time) bool {
	last := d.last.Load()
	if last != 0 && now.Sub(time.Unix(0, last)) < d.every {
		return false
	}
	return d.last.CompareAndSwap(last, now.UnixNano())
}

// Codes that only the HTTP layer gives.
const (
	budgetRequired       = core.Code(api.BudgetRequired)
	hostRefused          = core.Code(api.HostRefused)
	idempotencyRequired  = core.Code(api.IdempotencyKeyRequired)
	insufficientScope    = core.Code(api.InsufficientScope)
	internalError        = core.Code(api.InternalError)
	invalidCursor        = core.Code(api.InvalidCursor)
	keyRevoked           = core.Code(api.KeyRevoked)
	methodNotAllowed     = core.Code(api.MethodNotAllowed)
	namespaceNotFound    = core.Code(api.NamespaceNotFound)
	notAcceptable        = core.Code(api.NotAcceptable)
	operationInProgress  = core.Code(api.OperationInProgress)
	requestTooLarge      = core.Code(api.RequestTooLarge)
	sessionExpired       = core.Code(api.SessionExpired)
	storageFull          = core.Code(api.StorageFull)
	unauthenticated      = core.Code(api.Unauthenticated)
	unavailable          = core.Code(api.Unavailable)
	unsupportedMediaType = core.Code(api.UnsupportedMediaType)
	workspaceMismatch    = core.Code(api.WorkspaceMismatch)
)

// RefuseFields refuses a request with a code and the fields that are wrong.
func RefuseFields(code core.Code, message string, fields []api.FieldError) error {
	return core.Refuse(code, "%s", message).With("fields", fields)
}

// refuseField refuses one field of a request.
func refuseField(path, code, format string, args ...any) *core.Refusal {
	return core.Refuse(core.InvalidRequest, format, args...).With("fields", []api.FieldError{{Path: path, Code: code}})
}

func refuseFields(fields []strictjson.Field) *core.Refusal {
	out := make([]api.FieldError, len(fields))
	for i, f := range fields {
		out[i] = api.FieldError{Path: f.Path, Code: f.Code}
	}
	return core.Refuse(core.InvalidRequest, "the request is not valid; details.fields says where. Nothing was done").With("fields", out)
}

// feature refuses what this service does not have.
func feature(name, format string, args ...any) *core.Refusal {
	return core.Refuse(core.FeatureUnavailable, format, args...).With("feature", name)
}

// fromRouter translates the router's own error model, which it writes when
// parameters do not bind. Its messages and values are dropped: they repeat
// what was sent.
func (s *Server) fromRouter(ctx context.Context, m *huma.ErrorModel) *failure {
	switch m.Status {
	case http.StatusRequestEntityTooLarge:
		return s.failureOf(ctx, tooLarge(maxBody))
	case http.StatusUnsupportedMediaType:
		return s.failureOf(ctx, notJSONBody())
	case http.StatusNotAcceptable:
		return s.failureOf(ctx, core.Refuse(notAcceptable, "this route answers with JSON"))
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestTimeout:
		var fields []strictjson.Field
		for _, e := range m.Errors {
			fields = append(fields, strictjson.Field{Path: e.Location, Code: strictjson.InvalidValue})
		}
		return s.failureOf(ctx, refuseFields(fields))
	}
	return s.failureOf(ctx, errors.New("the router answered "+strconv.Itoa(m.Status)+": "+m.Detail))
}

func tooLarge(most int64) *core.Refusal {
	return core.Refuse(requestTooLarge, "the body is larger than %d KiB; nothing was done", most>>10).With("limit_bytes", most)
}

func encodedBody() *core.Refusal {
	return core.Refuse(unsupportedMediaType, "requests are read without a Content-Encoding; send the body as it is. Nothing was done")
}

func notJSONBody() *core.Refusal {
	return core.Refuse(unsupportedMediaType, "a body must have the content type application/json; nothing was done")
}

// statuses is the HTTP status of every code that the service can give.
func statuses() map[api.Code]int {
	return map[api.Code]int{
		api.AmbiguousModel:          http.StatusConflict,
		api.BudgetLimit:             http.StatusUnprocessableEntity,
		api.BudgetRequired:          http.StatusUnprocessableEntity,
		api.CapBelowMinimum:         http.StatusUnprocessableEntity,
		api.ClientOutdated:          http.StatusUpgradeRequired,
		api.ConcurrencyUnsupported:  http.StatusUnprocessableEntity,
		api.DatasetArchived:         http.StatusConflict,
		api.ConnectionUnverified:    http.StatusConflict,
		api.ContinuationExists:      http.StatusConflict,
		api.DuplicateItem:           http.StatusConflict,
		api.EndpointRefused:         http.StatusUnprocessableEntity,
		api.EvaluatorPaused:         http.StatusConflict,
		api.FeatureUnavailable:      http.StatusNotFound,
		api.HostRefused:             http.StatusForbidden,
		api.IdempotencyConflict:     http.StatusConflict,
		api.IdempotencyKeyRequired:  http.StatusBadRequest,
		api.IngestOnly:              http.StatusForbidden,
		api.InsufficientCredit:      http.StatusPaymentRequired,
		api.InsufficientScope:       http.StatusForbidden,
		api.InternalError:           http.StatusInternalServerError,
		api.InvalidCursor:           http.StatusUnprocessableEntity,
		api.InvalidRequest:          http.StatusUnprocessableEntity,
		api.ItemChanged:             http.StatusConflict,
		api.JudgeOnlyRoute:          http.StatusUnprocessableEntity,
		api.KeyRevoked:              http.StatusUnauthorized,
		api.KeyUnopenable:           http.StatusConflict,
		api.MalformedExport:         http.StatusBadRequest,
		api.ManifestInvalid:         http.StatusUnprocessableEntity,
		api.MethodNotAllowed:        http.StatusMethodNotAllowed,
		api.ModelUnavailable:        http.StatusConflict,
		api.NamespaceNotFound:       http.StatusNotFound,
		api.NameTaken:               http.StatusConflict,
		api.NotAcceptable:           http.StatusNotAcceptable,
		api.NotFound:                http.StatusNotFound,
		api.NothingApproved:         http.StatusUnprocessableEntity,
		api.NothingChanged:          http.StatusConflict,
		api.OperationInProgress:     http.StatusConflict,
		api.OutputFormatUnsupported: http.StatusUnprocessableEntity,
		api.QuoteAlreadyAccepted:    http.StatusConflict,
		api.QuoteExpired:            http.StatusGone,
		api.QuoteStale:              http.StatusConflict,
		api.RateLimited:             http.StatusTooManyRequests,
		api.ReasoningUnsupported:    http.StatusUnprocessableEntity,
		api.RequestTooLarge:         http.StatusRequestEntityTooLarge,
		api.ResultExpired:           http.StatusGone,
		api.RunNotFinished:          http.StatusConflict,
		api.SelfReview:              http.StatusForbidden,
		api.SessionExpired:          http.StatusUnauthorized,
		api.SourceNotReady:          http.StatusConflict,
		api.SourceOffset:            http.StatusConflict,
		api.SourceQuota:             http.StatusConflict,
		api.SourceTooLarge:          http.StatusRequestEntityTooLarge,
		api.SpendCeilingReached:     http.StatusForbidden,
		api.StorageFull:             http.StatusInsufficientStorage,
		api.StorageLow:              http.StatusServiceUnavailable,
		api.TraceHeld:               http.StatusConflict,
		api.Unauthenticated:         http.StatusUnauthorized,
		api.UnboundedModelCost:      http.StatusUnprocessableEntity,
		api.Unavailable:             http.StatusServiceUnavailable,
		api.UnsupportedMediaType:    http.StatusUnsupportedMediaType,
		api.VersionRetracted:        http.StatusConflict,
		api.WorkspaceMismatch:       http.StatusForbidden,
		api.WorkspaceRequired:       http.StatusBadRequest,
	}
}

// statusOf is the status of a code; one that is not in the table is a fault
// of the service.
func statusOf(code core.Code) int {
	if s, ok := statuses()[api.Code(code)]; ok {
		return s
	}
	return http.StatusInternalServerError
}
