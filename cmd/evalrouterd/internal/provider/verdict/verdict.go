// Package verdict decides what an error answer means, from tables.
//
// The same status means different things at different providers, and
// different things at one provider with different codes: a 400 can be a bad
// key, an empty account, a parameter or one task that is too long. So each
// protocol has its table, read from the top by host, status, code and, where
// a provider has no code, wording. What no line names is unknown: the
// provider may have done the work.
package verdict

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
)

// Verdict is what an error answer means.
type Verdict struct {
	Class   provider.Class
	Reach   provider.Reach
	Code    string
	Reason  string
	Refused bool
	// Usage is UsageByDesign where an error is documented to be billed.
	Usage provider.UsageState
}

// Rule is one line of a table. Conditions that are not set hold.
type Rule struct {
	From, To int      // statuses
	Hosts    []string // any of them
	Words    []string // any of them among the fault's
	Phrases  []string // any of them in the message, lower case: only where no code exists
	When     func(body.Fault) bool
	Verdict  Verdict
}

// Rejected is a no that proves that no work was done.
func Rejected(reach provider.Reach, code, reason string) Verdict {
	return Verdict{Class: provider.Rejected, Reach: reach, Code: code, Reason: reason}
}

// Refused is a no to the content of one task.
func Refused(reason string) Verdict {
	v := Rejected(provider.ThisTask, core.CodeRefused, reason)
	v.Refused = true
	return v
}

// Unsure is an answer after which the work may have been done.
func Unsure(code, reason string) Verdict {
	return Verdict{Class: provider.Unknown, Code: code, Reason: reason}
}

// TooLong is a prompt that, with its answer, does not fit into the model's
// window.
func TooLong() Verdict {
	return Rejected(provider.ThisTask, core.CodeProviderError, "context_too_long")
}

// OverLimit is one request that is larger than what is ever accepted.
func OverLimit() Verdict {
	return Rejected(provider.ThisTask, core.CodeProviderError, "request_over_limit")
}

// BadContent is an objection to the text of one task.
func BadContent() Verdict {
	return Rejected(provider.ThisTask, core.CodeProviderError, "invalid_content")
}

// Broke is an account without money or quota: no wait of a run heals it.
func Broke() Verdict {
	return Rejected(provider.Account, core.CodeProviderError, "quota_exhausted")
}

// SlowDown is a rate limit.
func SlowDown() Verdict {
	return Rejected(provider.Overload, core.CodeRateLimited, "rate_limited")
}

// Busy is a provider without capacity, documented to have done no work.
func Busy() Verdict { return Rejected(provider.Overload, core.CodeRateLimited, "overloaded") }

// Parameter is a request that the route does not take, whatever the task.
func Parameter() Verdict {
	return Rejected(provider.Route, core.CodeProviderError, "unsupported_parameter")
}

// NoModel is a model that is not there.
func NoModel() Verdict {
	return Rejected(provider.Route, core.CodeProviderError, "model_not_found")
}

// WrongURL is an endpoint that does not speak this protocol.
func WrongURL() Verdict { return Rejected(provider.Route, core.CodeProviderError, "not_this_api") }

// Auth is a credential that is not accepted.
func Auth() Verdict {
	return Rejected(provider.Connection, core.CodeCredentialRejected, "auth")
}

// Forbidden is a credential that may not do this.
func Forbidden() Verdict {
	return Rejected(provider.Connection, core.CodeCredentialRejected, "permission")
}

// redirected is the reason of an answer that points elsewhere.
const redirected = "provider_redirect"

// First are the lines that every table begins with.
func First() []Rule {
	return []Rule{{From: 300, To: 399, Verdict: Rejected(provider.Connection, core.CodeProviderError, redirected)}}
}

// Last are the lines that every table ends with: a wrong address, and what may
// have been processed and billed. A bare 503 is among those: a proxy says it
// when it gives up on a call that the model has finished.
func Last() []Rule {
	late := Unsure(core.CodeProviderTimeout, "timeout")
	return []Rule{
		{From: 405, To: 406, Verdict: WrongURL()},
		{From: 410, To: 410, Verdict: WrongURL()},
		{From: 415, To: 415, Verdict: WrongURL()},
		{From: 408, To: 408, Verdict: late},
		{From: 499, To: 499, Verdict: late},
		{From: 504, To: 504, Verdict: late},
		{From: 500, To: 599, Verdict: Unsure(core.CodeOutcomeUnknown, "server_error")},
	}
}

// Decide reads a table for an answer that is no success.
func Decide(table []Rule, host string, status int, raw []byte) provider.Outcome {
	f := body.ReadFault(raw)
	v := Unsure(core.CodeOutcomeUnknown, "unexpected_status")
	for _, r := range table {
		if r.holds(host, status, f) {
			v = r.Verdict
			break
		}
	}
	o := provider.Outcome{
		Class: v.Class, Reach: v.Reach, Code: v.Code, Reason: v.Reason, Refused: v.Refused, UsageState: v.Usage, Message: sentence(v, status, f.Message),
	}
	if v.Class == provider.Unknown {
		o.UsageState = provider.UsageMissing
	}
	if v.Reach == provider.Overload {
		o.RetryAfter, o.HasRetryAfter = f.Delay, f.HasDelay
	}
	return o
}

func sentence(v Verdict, status int, said string) string {
	switch {
	case v.Reason == redirected: // what the body says is about another place
		return "the endpoint redirects (status " + strconv.Itoa(status) + "); redirects are never followed. Give the address that it leads to as the base URL"
	case said == "":
		return "the endpoint answered with status " + strconv.Itoa(status)
	}
	return said
}

func (r Rule) holds(host string, status int, f body.Fault) bool {
	if status < r.From || status > r.To || r.Hosts != nil && !slices.Contains(r.Hosts, host) || r.When != nil && !r.When(f) {
		return false
	}
	if r.Words != nil && !slices.ContainsFunc(r.Words, f.Says) {
		return false
	}
	message := strings.ToLower(f.Message)
	return r.Phrases == nil || slices.ContainsFunc(r.Phrases, func(p string) bool { return strings.Contains(message, p) })
}
