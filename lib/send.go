package evalrouter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

const inputCode = api.InvalidInput

const maxErrorBytes = 64 << 10

var (
	errOperationLimit = errors.New("the operation took too long")
	errAttemptLimit   = errors.New("the attempt took too long")
)

// receiver takes the body of a success. It is called at most once an attempt.
// again says that a failure of the body may be repeated.
type receiver func(res *http.Response) (again bool, err error)

// attempt is what one attempt came to. A nil err is a success.
type attempt struct {
	err       *Error
	again     bool // worth repeating, if the operation allows it
	uncertain bool // the service may have done it
	silent    bool // the service did not answer with an error
}

// do sends a call and reads its answer as a T.
func do[T any](ctx context.Context, c *core, in call) (T, error) {
	var out T
	err := c.send(ctx, in, func(res *http.Response) (bool, error) {
		b, err := readLimited(res.Body, c.cfg.MaxResponseBytes)
		if err != nil {
			return true, err
		}
		var fresh T
		if err := decodeObject(b, &fresh); err != nil {
			return false, err
		}
		out = fresh
		return false, nil
	})
	return out, err
}

// send makes up to 1+retries attempts within the deadline of the operation.
func (c *core) send(ctx context.Context, in call, take receiver) error {
	p, err := c.prepare(ctx, in)
	if err != nil {
		return err
	}
	outer := ctx
	ctx, done, err := c.enter(ctx, c.cfg.Timeout)
	if err != nil {
		return err
	}
	defer done()
	deadline := c.cfg.Now().Add(c.cfg.Timeout)
	doubt, renewed := false, false
	for n := 0; ; n++ {
		a := c.try(ctx, outer, p, take)
		if a.err == nil {
			return nil
		}
		if a.err.Code == api.SessionExpired && !renewed && c.renew(ctx, &p) {
			renewed = true // and nothing was done: who asks is looked at first
			continue
		}
		doubt = a.uncertain || doubt && !(p.keyed && definitive(a.err))
		p.mark(a, doubt)
		if !a.again || !p.retry || n >= c.retries || ctx.Err() != nil {
			return a.err
		}
		wait := backoff(n, c.cfg.Rand(), a.err.RetryAfter)
		if c.cfg.Now().Add(wait).After(deadline) {
			return c.tooLong(p, a.err, wait)
		}
		if err := c.cfg.Sleep(ctx, wait); err != nil {
			e := c.interrupted(ctx, outer, p, err)
			p.mark(attempt{err: e, silent: true}, doubt)
			return e
		}
	}
}

// renew puts another token in the place of one that was refused.
func (c *core) renew(ctx context.Context, p *prepared) bool {
	if c.cfg.Credential == nil || p.public {
		return false
	}
	token, err := c.cfg.Credential(ctx, p.bearer)
	if err != nil || token == p.bearer {
		return false // the service's own words say what is wrong
	}
	p.bearer, p.secrets = token, append(p.secrets, token)
	return true
}

// definitive says that the service answered and did not do it: with the same
// idempotency key it would have replayed an earlier success.
func definitive(e *Error) bool {
	return e.Status >= 400 && e.Status < 500 && (e.Status != http.StatusTooManyRequests || e.Code.Full()) &&
		e.Status != http.StatusRequestTimeout && e.Code != api.OperationInProgress
}

// patience bounds one attempt, or its time until the answer begins.
func (c *core) patience(p prepared) time.Duration {
	if p.raw {
		return c.files
	}
	return c.cfg.AttemptTimeout
}

func (c *core) try(ctx, outer context.Context, p prepared, take receiver) attempt {
	actx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(c.patience(p), func() { cancel(errAttemptLimit) })
	defer limit.Stop()

	var connected atomic.Bool
	traced := httptrace.WithClientTrace(actx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := c.request(traced, p)
	if err != nil {
		var e *Error
		errors.As(err, &e)
		return attempt{err: e}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return attempt{err: c.transportError(actx, outer, p, err, connected.Load()), again: outer.Err() == nil, uncertain: connected.Load(), silent: true}
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return c.refused(p, res)
	}
	if p.raw {
		limit.Stop()
	}
	again, err := take(res)
	if err == nil {
		return attempt{}
	}
	e := c.bodyError(actx, outer, p, res, err)
	return attempt{err: e, again: again && e.Code != api.ResponseTooLarge && e.Code != api.InvalidResponse && outer.Err() == nil, uncertain: true, silent: true}
}

// refused turns an answer that is not a success into an error.
func (c *core) refused(p prepared, res *http.Response) attempt {
	e := &Error{Op: p.op, Status: res.StatusCode, IdempotencyKey: p.key}
	e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), c.cfg.Now())
	if res.StatusCode >= 300 && res.StatusCode <= 399 {
		e.Code, e.Message = api.RedirectRejected, "the service answered with a redirect, which is never followed; check the base URL"
		return attempt{err: e}
	}
	b, err := readLimited(res.Body, maxErrorBytes)
	if errors.Is(err, errTooLarge) {
		e.Code, e.Message = api.ResponseTooLarge, fmt.Sprintf("the service answered with status %d and an error larger than 64 KiB", res.StatusCode)
	} else {
		// A broken body still has its status; the envelope then reads as none.
		e.Problem = readProblem(b, res.StatusCode, p.secrets)
	}
	e.RequestID = requestID(res.Header.Get("X-Request-Id"), p.secrets)
	return attempt{err: e, again: retryable(res.StatusCode) && !e.Code.Full(), uncertain: res.StatusCode >= 500 || res.StatusCode == http.StatusRequestTimeout}
}

func retryable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// transportError describes an attempt that got no answer.
func (c *core) transportError(ctx, outer context.Context, p prepared, err error, connected bool) *Error {
	if ctx.Err() != nil || isTimeout(err) {
		return c.interrupted(ctx, outer, p, err)
	}
	e := &Error{Op: p.op, IdempotencyKey: p.key, err: scrub(err)}
	e.Code = api.NetworkError
	e.Message = "the connection to the service failed"
	if !connected {
		e.Message = "the service at " + c.origin.Host + " cannot be reached"
	}
	return e
}

// mark writes into an attempt's error whether the call may have been done. A
// person is told too, where the service has not answered with an error.
func (p prepared) mark(a attempt, doubt bool) {
	a.err.Uncertain = doubt && p.writes()
	if a.err.Uncertain && a.silent {
		a.err.Message += mayHave(p)
	}
}

// mayHave is the warning of a call whose outcome is not known.
func mayHave(p prepared) string {
	switch {
	case !p.writes():
		return ""
	case p.keyed:
		return "; it may have been done, so repeat it with the same idempotency key"
	}
	return "; it may have been done, so look before you repeat it"
}

// interrupted describes a call that ended before its answer: by a deadline,
// by the caller or by Close.
func (c *core) interrupted(ctx, outer context.Context, p prepared, err error) *Error {
	e := &Error{Op: p.op, IdempotencyKey: p.key, err: scrub(err)}
	cause := context.Cause(ctx)
	switch {
	case outer.Err() != nil:
		e.err = context.Cause(outer)
		if errors.Is(outer.Err(), context.DeadlineExceeded) {
			e.Code, e.Message = api.RequestTimeout, "no answer before the deadline"
			break
		}
		e.Code, e.Message = api.WaitCancelled, "cancelled before the service answered"
	case c.closing.Err() != nil:
		e.Code, e.Message = api.WaitCancelled, "the client was closed before the service answered"
	case errors.Is(cause, errOperationLimit):
		e.Code, e.Message = api.RequestTimeout, fmt.Sprintf("no answer within %s", c.cfg.Timeout)
	default:
		e.Code, e.Message = api.RequestTimeout, fmt.Sprintf("no answer within %s", c.patience(p))
	}
	return e
}

// bodyError describes a success whose content could not be used.
func (c *core) bodyError(ctx, outer context.Context, p prepared, res *http.Response, err error) *Error {
	e := &Error{Op: p.op, Status: res.StatusCode, IdempotencyKey: p.key, err: scrub(err)}
	e.RequestID = requestID(res.Header.Get("X-Request-Id"), p.secrets)
	var own *Error
	switch {
	case errors.As(err, &own):
		own.Op, own.Status, own.IdempotencyKey, own.RequestID = e.Op, e.Status, e.IdempotencyKey, e.RequestID
		return own
	case errors.Is(err, errTooLarge):
		e.Code, e.Message = api.ResponseTooLarge, "the answer is larger than the configured limit"
	case errors.Is(err, errNotObject) && webPage(res.Header):
		e.Code, e.Message = api.InvalidResponse, "a web page answered and not the service; the base URL leads elsewhere, or a network asks to be signed in to"
	case errors.Is(err, errNotObject):
		e.Code, e.Message = api.InvalidResponse, "the service answered with something that is not the expected JSON object"
	default:
		t := c.transportError(ctx, outer, p, err, true)
		t.Status, t.RequestID = e.Status, e.RequestID
		return t
	}
	return e
}

// webPage says that an answer is for people to look at.
func webPage(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// tooLong is a wait that would pass the deadline of the operation.
func (c *core) tooLong(p prepared, last *Error, wait time.Duration) *Error {
	e := &Error{Op: p.op, Status: last.Status, RetryAfter: last.RetryAfter, IdempotencyKey: p.key, err: last}
	e.Code, e.RequestID = api.RequestTimeout, last.RequestID
	e.Message = fmt.Sprintf("the next attempt would be in %s, after the %s that the operation may take", wait.Round(time.Millisecond), c.cfg.Timeout)
	p.mark(attempt{err: e, silent: true}, last.Uncertain)
	return e
}

func readLimited(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, err
}
