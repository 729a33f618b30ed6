package evalrouter

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Problem is the failure as the service or the client names it.
type Problem = api.Error

// Error is any failure of a call. Its code is the service's, or one of the
// client's own: invalid_configuration, invalid_input, network_error,
// request_timeout, wait_cancelled, redirect_rejected, response_too_large,
// invalid_response, destination_exists, export_write_failed and http_error
// (an answer without a readable code). errors.Is compares with codes:
//
//	if errors.Is(err, api.QuoteExpired) { ... }
type Error struct {
	// Problem holds Code, Message, Details and RequestID, cleaned for display.
	Problem
	// Op says what was attempted, such as "submit a run".
	Op string
	// Status is the HTTP status of the answer, 0 without one.
	Status int
	// RetryAfter is how long the service asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// IdempotencyKey is the key that was sent, for the next attempt.
	IdempotencyKey IdempotencyKey
	// Uncertain says that the service may have done what was asked. It is
	// never set for reads.
	Uncertain bool

	err error
}

// Error says what was attempted, what happened, and the code.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	b.WriteString(" (")
	b.WriteString(string(e.Code))
	b.WriteString(")")
	return b.String()
}

// Is compares with a code.
func (e *Error) Is(target error) bool { return e.Problem.Is(target) }

// Unwrap is what the network, the context or the file system said, if that is
// what failed.
func (e *Error) Unwrap() error { return e.err }

// Detail is one entry of Details as text; empty when it is absent or is not
// a text, a number or a truth value.
func (e *Error) Detail(name string) string {
	switch v := e.Details[name].(type) {
	case string:
		return v
	case interface{ String() string }: // a number as it was written
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}

// scrub drops the address from an error of net/http: it repeats the query.
func scrub(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
