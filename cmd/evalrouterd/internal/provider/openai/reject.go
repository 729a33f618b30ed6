package openai

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// verdict is what an error answer means.
type verdict struct {
	class   provider.Class
	reach   provider.Reach
	code    string
	reason  string
	refused bool
}

// rule is one line of the table. Conditions that are not set hold.
type rule struct {
	from, to int    // statuses
	hosts    []host // any of them
	words    []string
	phrases  []string // in the message, lower case: only where no code exists
	when     func(fault) bool
	verdict  verdict
}

func rejected(reach provider.Reach, code, reason string) verdict {
	return verdict{class: provider.Rejected, reach: reach, code: code, reason: reason}
}

func refused(reason string) verdict {
	v := rejected(provider.ThisTask, core.CodeRefused, reason)
	v.refused = true
	return v
}

func unsure(code, reason string) verdict {
	return verdict{class: provider.Unknown, code: code, reason: reason}
}

// redirected is the reason of an answer that points elsewhere.
const redirected = "provider_redirect"

// rules is read from the top; the first line that holds decides. A status
// that no line names is unknown.
func rules() []rule {
	var (
		tooLong   = rejected(provider.ThisTask, core.CodeProviderError, "context_too_long")
		broke     = rejected(provider.Account, core.CodeProviderError, "quota_exhausted")
		slowDown  = rejected(provider.Overload, core.CodeRateLimited, "rate_limited")
		busy      = rejected(provider.Overload, core.CodeRateLimited, "overloaded")
		parameter = rejected(provider.Route, core.CodeProviderError, "unsupported_parameter")
		auth      = rejected(provider.Connection, core.CodeCredentialRejected, "auth")
		forbidden = rejected(provider.Connection, core.CodeCredentialRejected, "permission")
		noModel   = rejected(provider.Route, core.CodeProviderError, "model_not_found")
		wrongURL  = rejected(provider.Route, core.CodeProviderError, "not_this_api")
		badTask   = rejected(provider.ThisTask, core.CodeProviderError, "invalid_content")
		lateOrNot = unsure(core.CodeProviderTimeout, "timeout")
	)
	return []rule{
		{from: 300, to: 399, verdict: rejected(provider.Connection, core.CodeProviderError, redirected)},

		// Money: no wait heals it, whatever the status.
		{from: 400, to: 499, words: []string{
			"insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
			"organization_usage_limit_exceeded", "billing_hard_limit_reached", "billing_not_active",
		}, verdict: broke},
		{from: 402, to: 402, when: func(f fault) bool { return f.limitSource == "openrouter_in_flight_budget" }, verdict: slowDown},
		{from: 402, to: 402, verdict: broke},

		{from: 429, to: 429, when: beyondLimit, verdict: rejected(provider.ThisTask, core.CodeProviderError, "request_over_limit")},
		{from: 429, to: 429, words: []string{"resource_unavailable"}, verdict: busy},
		{from: 429, to: 429, verdict: slowDown},

		// The same for every task, before what is about one task.
		{from: 400, to: 422, words: []string{"unsupported_parameter", "unsupported_value"}, verdict: parameter},
		{from: 400, to: 422, when: aboutLimit, verdict: parameter},

		// Too long. vLLM, Together and others have no code for it.
		{from: 400, to: 422, words: []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length"}, verdict: tooLong},
		{from: 400, to: 422, phrases: []string{"maximum context length", "context length of the model", "available context size", "prompt is too long"}, verdict: tooLong},
		{from: 413, to: 413, verdict: tooLong},

		// Policy: about this prompt, and no fault of the credential.
		{from: 400, to: 403, words: []string{"invalid_prompt", "content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}, verdict: refused("content_policy")},
		{from: 403, to: 403, when: func(f fault) bool { return f.moderated }, verdict: refused("moderation_flagged")},

		{from: 401, to: 401, verdict: auth},
		{from: 400, to: 403, words: []string{"invalid_api_key", "authentication_error"}, verdict: auth},
		{from: 403, to: 403, verdict: forbidden},

		{from: 400, to: 422, words: []string{"model_not_found"}, verdict: noModel},
		{from: 404, to: 404, verdict: noModel},
		{from: 405, to: 406, verdict: wrongURL},
		{from: 410, to: 410, verdict: wrongURL},
		{from: 415, to: 415, verdict: wrongURL},

		{from: 400, to: 400, when: aboutContent, verdict: badTask},
		{from: 422, to: 422, when: aboutContent, verdict: badTask},
		{from: 400, to: 400, verdict: parameter},
		{from: 422, to: 422, verdict: parameter},

		// May have been processed, and billed.
		{from: 408, to: 408, verdict: lateOrNot},
		{from: 499, to: 499, verdict: lateOrNot},
		{from: 504, to: 504, verdict: lateOrNot},

		// Overload only with a body that the provider documents for it: a
		// bare 503 can come from a proxy after the model has worked.
		{from: 503, to: 529, words: []string{"server_is_overloaded", "service_unavailable_error", "overloaded_error", "unavailable_error"}, verdict: busy},
		{from: 503, to: 503, hosts: []host{openRouter}, words: []string{"503"}, verdict: busy},
		{from: 503, to: 503, hosts: []host{compatible}, phrases: []string{"maximum pending requests exceeded"}, verdict: busy},
		{from: 500, to: 599, verdict: unsure(core.CodeOutcomeUnknown, "server_error")},
	}
}

// classify decides an answer that is no success.
func classify(h host, status int, raw []byte) provider.Outcome {
	f := readFault(raw)
	v := unsure(core.CodeOutcomeUnknown, "unexpected_status")
	for _, r := range rules() {
		if r.holds(h, status, f) {
			v = r.verdict
			break
		}
	}
	message := f.message
	switch {
	case v.reason == redirected: // what the body says is about another place
		message = "the endpoint redirects (status " + strconv.Itoa(status) + "); redirects are never followed. Give the address that it leads to as the base URL"
	case message == "":
		message = "the endpoint answered with status " + strconv.Itoa(status)
	}
	return provider.Outcome{Class: v.class, Reach: v.reach, Code: v.code, Reason: v.reason, Refused: v.refused, Message: message}
}

func (r rule) holds(h host, status int, f fault) bool {
	if status < r.from || status > r.to || r.hosts != nil && !slices.Contains(r.hosts, h) || r.when != nil && !r.when(f) {
		return false
	}
	if r.words != nil && !slices.ContainsFunc(r.words, f.says) {
		return false
	}
	message := strings.ToLower(f.message)
	return r.phrases == nil || slices.ContainsFunc(r.phrases, func(p string) bool { return strings.Contains(message, p) })
}

var limitAndRequest = regexp.MustCompile(`Limit:? (\d{1,15})\b.*Requested:? (\d{1,15})\b`)

// beyondLimit says that one request asks for more than a whole minute
// allows: no wait helps.
func beyondLimit(f fault) bool {
	m := limitAndRequest.FindStringSubmatch(f.message)
	if m == nil {
		return false
	}
	limit, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return false
	}
	requested, err := strconv.ParseInt(m[2], 10, 64)
	return err == nil && requested > limit
}

func aboutLimit(f fault) bool {
	return f.param == "max_tokens" || f.param == "max_completion_tokens"
}

// aboutContent says that the provider objects to a message, not to its role.
func aboutContent(f fault) bool {
	about := strings.HasPrefix(f.param, "messages") || strings.HasPrefix(f.param, "prompt")
	return about && !strings.HasSuffix(f.param, "role")
}
