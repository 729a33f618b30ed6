package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/sse"
)

// Config is what an adapter needs from outside.
type Config struct {
	// Transport makes the requests to a target. Targets of different owners
	// must not share one.
	Transport func(core.Target) http.RoundTripper
	// Now is the clock, for hints that are dates without a Date beside them.
	Now func() time.Time
}

// Call is one call as an adapter lays it out.
type Call struct {
	URL    string
	Header http.Header
	Body   []byte
	Key    provider.Secret
	// Parse reads an answer, Classify anything that is no success.
	Parse    func(raw []byte) provider.Outcome
	Classify func(status int, raw []byte) provider.Outcome
	// IDHeaders carry the provider's id for the call; the first that is set
	// counts.
	IDHeaders []string
}

// Make makes the call and decides what its reply means. A status other than
// success counts even when its body broke off; a success counts when the part
// that came holds the whole answer.
func (c Config) Make(ctx context.Context, t core.Target, call Call) provider.Outcome {
	if !sendable(call.Key) {
		return Unsendable(provider.Connection, core.CodeCredentialRejected, "auth", "the key holds characters that no header can carry")
	}
	reply := Do(ctx, c.Transport(t), Post{URL: call.URL, Header: call.Header, Body: call.Body, Key: call.Key})
	var o provider.Outcome
	switch {
	case reply.Status == 0:
		return reply.Failure()
	case !reply.OK():
		o = call.Classify(reply.Status, reply.Raw)
	case reply.Err == nil:
		o = call.Parse(reply.Raw)
	default:
		if o = call.Parse(reply.Raw); o.Class != provider.Answered {
			o = reply.Failure()
			if o.Reason == cut && sse.Looks(reply.Raw) {
				o.Reason = StreamCut
			}
		}
	}
	o.Status, o.Raw = reply.Status, reply.Raw
	o.Message = Message(o.Message, call.Key)
	for _, name := range call.IDHeaders {
		if v := reply.Header.Get(name); v != "" {
			o.RequestID = ID(v)
			break
		}
	}
	if wait, ok := RetryAfter(reply.Header, c.Now()); ok {
		o.RetryAfter, o.HasRetryAfter = wait, true
	}
	return o
}

// Unsendable is a call that was not made.
func Unsendable(reach provider.Reach, code, reason, message string) provider.Outcome {
	return provider.Outcome{Class: provider.Rejected, Reach: reach, Code: code, Reason: reason, Message: message}
}

// Unaddressed is a call to a base URL that is none.
func Unaddressed(err error) provider.Outcome {
	return Unsendable(provider.Route, core.CodeProviderError, "invalid_base_url", err.Error())
}

// Unwritable is a call whose task cannot be rendered.
func Unwritable() provider.Outcome {
	return Unsendable(provider.ThisTask, core.CodeProviderError, "invalid_content", "the task cannot be written as JSON")
}

func sendable(key provider.Secret) bool {
	for _, c := range []byte(key.Reveal()) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Write renders a request body as compact JSON that keeps <, > and & as they
// are: the bytes are hashed, and what is hashed is what the task says.
func Write(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
