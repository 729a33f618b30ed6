package source

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Codes of failures. The first ones mean the same as the service's own.
const (
	InvalidConfiguration = api.InvalidConfiguration
	InvalidResponse      = api.InvalidResponse
	NetworkError         = api.NetworkError
	RequestTimeout       = api.RequestTimeout
	RedirectRejected     = api.RedirectRejected
	RateLimited          = api.RateLimited
	Unavailable          = api.Unavailable

	KeyRefused        = api.LangSmithKeyRefused
	WorkspaceNeeded   = api.LangSmithWorkspace
	ProjectUnknown    = api.LangSmithProject
	RequestNotAllowed = api.LangSmithRefused
)

// Error is a request that LangSmith did not answer as wished.
type Error struct {
	Code    api.Code
	Message string
	// Status is the HTTP status, 0 without an answer.
	Status int
	// Temporary says that the same request may succeed later, and After how
	// long LangSmith asked to wait.
	Temporary bool
	After     time.Duration

	err error
}

// Error is the message, with what LangSmith said.
func (e *Error) Error() string { return e.Message }

// Unwrap is what the network said.
func (e *Error) Unwrap() error { return e.err }

// Is compares with a code.
func (e *Error) Is(target error) bool {
	c, ok := target.(api.Code)
	return ok && c == e.Code
}

// RetryAfter makes the error one that may pass.
func (e *Error) RetryAfter() (time.Duration, bool) { return e.After, e.Temporary }

// refusal turns an answer that is no success into an error.
func (c *Client) refusal(res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // whatever came of it
	said := c.said(body)
	e := &Error{Status: res.StatusCode, After: retryAfter(res.Header, c.Now())}
	switch s := res.StatusCode; {
	case s >= 300 && s < 400:
		e.Code, e.Message = RedirectRejected, "LangSmith answered with a redirect, which is not followed: the key goes to "+c.origin+" only"
		return e
	case s == http.StatusUnauthorized:
		e.Code, e.Message = KeyRefused, "LangSmith refuses the key: it is wrong, expired or revoked"
	case s == http.StatusForbidden && strings.Contains(string(body), "org_scoped_key_requires_workspace"):
		e.Code, e.Message = WorkspaceNeeded, "the LangSmith key belongs to an organisation and needs a workspace; set LANGSMITH_WORKSPACE_ID"
		return e
	case s == http.StatusForbidden:
		e.Code, e.Message = KeyRefused, "the LangSmith key may not read this workspace or project"
	case s == http.StatusNotFound:
		e.Code, e.Message = ProjectUnknown, "LangSmith does not know this project, or the key cannot see it"
	case s == http.StatusTooManyRequests:
		e.Code, e.Message, e.Temporary = RateLimited, "LangSmith asks for a pause (429)", true
	case s == http.StatusRequestTimeout || s >= 500 && s != http.StatusNotImplemented:
		e.Code, e.Message, e.Temporary = Unavailable, "LangSmith is not available ("+strconv.Itoa(s)+")", true
	default:
		e.Code, e.Message = RequestNotAllowed, "LangSmith refuses the request ("+strconv.Itoa(s)+")"
	}
	if said != "" {
		e.Message += ": " + said
	}
	return e
}

// said is LangSmith's own sentence, short and without the key.
func (c *Client) said(body []byte) string {
	var in map[string]any
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	for _, name := range []string{"detail", "message", "error", "title"} {
		s, ok := in[name].(string)
		if !ok || s == "" {
			continue
		}
		s = string(plain.Line(strings.ReplaceAll(s, c.cfg.Key, "[key]")))
		if r := []rune(s); len(r) > 200 {
			s = string(r[:200])
		}
		return s
	}
	return ""
}

// retryAfter reads retry-after-ms, or Retry-After as seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, float64(most.Milliseconds())) * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return min(at.Sub(now), most)
	}
	return 0
}
