package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Submitter starts the run of an accepted quote.
type Submitter interface {
	Submit(ctx context.Context, in api.NewRun, key evalrouter.IdempotencyKey) (api.RunRecord, error)
}

// Sleeper waits, and returns the context's error when it ends first.
type Sleeper func(ctx context.Context, d time.Duration) error

// submitWaits are the pauses between submissions with the same key, each of
// which the client repeats a few times by itself. They outlast a restart of
// the service.
func submitWaits() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
}

// Submit sends the same quote and key until the service has answered, for
// about a quarter of a minute. If it never does, the error says that the run
// may exist and carries the key.
func Submit(ctx context.Context, runs Submitter, in api.NewRun, key string, sleep Sleeper) (api.RunRecord, error) {
	return patiently(ctx, key, sleep, func() (api.RunRecord, error) { return runs.Submit(ctx, in, evalrouter.IdempotencyKey(key)) })
}

// patiently sends the same submission until it has an answer.
func patiently[T any](ctx context.Context, key string, sleep Sleeper, send func() (T, error)) (T, error) {
	waits := submitWaits()
	for {
		got, err := send()
		if err == nil {
			return got, nil
		}
		if !repeatable(err) {
			return got, err
		}
		if len(waits) == 0 {
			return got, lost(err, key)
		}
		if sleep(ctx, max(waits[0], retryAfter(err))) != nil {
			return got, lost(err, key)
		}
		waits = waits[1:]
	}
}

// repeatable says that the same submission may be sent again: either its fate
// is unknown, or the service is still deciding about it.
func repeatable(err error) bool {
	var e *evalrouter.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Uncertain || e.Code == api.OperationInProgress || Outage(err)
}

// Outage says that an error tells of a service that is out of reach for now,
// rather than of an answer: no connection, a timeout, 429 or 5xx.
func Outage(err error) bool {
	var e *evalrouter.Error
	if !errors.As(err, &e) {
		var own *Error // a token could not be renewed for now
		return errors.As(err, &own) && (own.Code == api.NetworkError || own.Code == api.RequestTimeout || own.Code == api.Unavailable || own.Code == api.RateLimited)
	}
	switch e.Code {
	case api.NetworkError, api.RequestTimeout:
		return true
	}
	return e.Status == 429 && !e.Code.Full() || e.Status >= 500
}

func retryAfter(err error) time.Duration {
	var e *evalrouter.Error
	if errors.As(err, &e) {
		return min(e.RetryAfter, 30*time.Second)
	}
	return 0
}

func lost(err error, key string) *Error {
	code := api.NetworkError
	var e *evalrouter.Error
	if errors.As(err, &e) {
		code = e.Code
	}
	return &Error{
		Code:           code,
		Message:        "the answer to the submission did not arrive",
		Facts:          []string{"the run may have started, and under its cap if so", "submitting the same quote and key again starts nothing twice"},
		IdempotencyKey: key,
		Err:            err,
	}
}

// detail is a text from an error's details, "" if there is none.
func detail(err error, name string) string {
	var e *evalrouter.Error
	if errors.As(err, &e) {
		return e.Detail(name)
	}
	return ""
}

// nothingStarted lists the answers that prove that neither this submission nor
// an earlier one with the same key started anything: the service looks for the
// key first and decides about the quote only when it finds none. Answers about
// the caller (401, 403 insufficient_scope) prove nothing of the kind.
func nothingStarted(err error) bool {
	for _, c := range []api.Code{
		api.QuoteExpired, api.QuoteStale, api.CapBelowMinimum, api.BudgetLimit, api.ModelUnavailable,
		api.ConnectionUnverified, api.JudgeOnlyRoute, api.UnboundedModelCost,
	} {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}

func replaced(err error) bool {
	return errors.Is(err, api.QuoteExpired) || errors.Is(err, api.QuoteStale)
}

func orderError(q api.QuoteRecord) error {
	if q.MinimumCapMicrousd != nil && q.MaxChargeMicrousd != nil && *q.MinimumCapMicrousd > *q.MaxChargeMicrousd {
		return refuse(api.CapBelowMinimum, fmt.Sprintf("a cap of %s cannot pay for one task", *q.MaxChargeMicrousd),
			fmt.Sprintf("the smallest cap that can is %s", *q.MinimumCapMicrousd), "nothing was started or charged")
	}
	if !q.Compatibility.OK && len(q.Compatibility.Reasons) > 0 {
		r := q.Compatibility.Reasons[0]
		return refuse(api.Code(r.Code), r.Message, "nothing was started or charged")
	}
	return nil
}
