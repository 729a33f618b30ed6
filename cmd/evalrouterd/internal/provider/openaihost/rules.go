package openaihost

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/verdict"
)

// Classify decides an answer that is no success.
func (k Kind) Classify(status int, raw []byte) provider.Outcome {
	return verdict.Decide(rules(), string(k), status, raw)
}

// rules is the table of OpenAI's protocols.
func rules() []verdict.Rule {
	return slices.Concat(verdict.First(), accountRules(), requestRules(), overloadRules(), verdict.Last())
}

// accountRules are about money and speed. No wait heals a lack of money,
// whatever the status.
func accountRules() []verdict.Rule {
	return []verdict.Rule{
		{From: 400, To: 499, Words: []string{
			"insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
			"organization_usage_limit_exceeded", "billing_hard_limit_reached", "billing_not_active",
		}, Verdict: verdict.Broke()},
		{From: 402, To: 402, When: func(f body.Fault) bool { return f.LimitSource == "openrouter_in_flight_budget" }, Verdict: verdict.SlowDown()},
		{From: 402, To: 402, Verdict: verdict.Broke()},
		{From: 429, To: 429, When: beyondLimit, Verdict: verdict.OverLimit()},
		{From: 429, To: 429, Words: []string{"resource_unavailable"}, Verdict: verdict.Busy()},
		{From: 429, To: 429, Verdict: verdict.SlowDown()},
	}
}

// requestRules are about what was sent: first what is the same for every
// task, then what is about one task.
func requestRules() []verdict.Rule {
	azure := []string{string(Azure)}
	filtered := verdict.Refused("content_policy")
	billed := filtered // Azure documents that it bills what it filters, and sends no usage
	billed.Class, billed.Usage = provider.Answered, provider.UsageByDesign
	policy := []string{"invalid_prompt", "content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
	return []verdict.Rule{
		{From: 400, To: 422, Words: []string{"unsupported_parameter", "unsupported_value"}, Verdict: verdict.Parameter()},
		{From: 400, To: 422, When: aboutLimit, Verdict: verdict.Parameter()},

		// vLLM, Together and others have no code for it.
		{From: 400, To: 422, Words: []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length"}, Verdict: verdict.TooLong()},
		{From: 400, To: 422, Phrases: []string{"maximum context length", "context length of the model", "available context size", "prompt is too long"}, Verdict: verdict.TooLong()},
		{From: 413, To: 413, Verdict: verdict.TooLong()},

		{From: 400, To: 400, Hosts: azure, Words: policy, Verdict: billed},
		{From: 400, To: 403, Words: policy, Verdict: filtered},
		{From: 403, To: 403, When: func(f body.Fault) bool { return f.Moderated }, Verdict: verdict.Refused("moderation_flagged")},

		{From: 401, To: 401, Verdict: verdict.Auth()},
		{From: 400, To: 403, Words: []string{"invalid_api_key", "authentication_error"}, Verdict: verdict.Auth()},
		{From: 403, To: 403, Verdict: verdict.Forbidden()},

		{From: 400, To: 422, Words: []string{"model_not_found"}, Verdict: verdict.NoModel()},
		{From: 404, To: 404, Verdict: verdict.NoModel()},

		{From: 400, To: 400, When: aboutContent, Verdict: verdict.BadContent()},
		{From: 422, To: 422, When: aboutContent, Verdict: verdict.BadContent()},
		{From: 400, To: 400, Verdict: verdict.Parameter()},
		{From: 422, To: 422, Verdict: verdict.Parameter()},
	}
}

// overloadRules name the bodies that a provider documents for overload.
func overloadRules() []verdict.Rule {
	return []verdict.Rule{
		{From: 503, To: 529, Words: []string{"server_is_overloaded", "service_unavailable_error", "overloaded_error", "unavailable_error"}, Verdict: verdict.Busy()},
		{From: 503, To: 503, Hosts: []string{string(OpenRouter)}, Words: []string{"503"}, Verdict: verdict.Busy()},
		{From: 503, To: 503, Hosts: []string{string(Compatible)}, Phrases: []string{"maximum pending requests exceeded"}, Verdict: verdict.Busy()},
	}
}

// Unbilled is an upstream that failed at OpenRouter, which bills nothing then.
func Unbilled(o provider.Outcome) provider.Outcome {
	o.Class, o.Code, o.Reason, o.Usage, o.UsageState, o.Malformed = provider.Unknown, core.CodeTransientUnbilled, "server_error", nil, provider.UsageNone, false
	return o
}

// limitAndRequest finds both numbers in OpenAI's sentence. It is never written.
var limitAndRequest = regexp.MustCompile(`Limit:? (\d{1,15})\b.*Requested:? (\d{1,15})\b`)

// beyondLimit says that one request asks for more than a whole minute
// allows: no wait helps.
func beyondLimit(f body.Fault) bool {
	m := limitAndRequest.FindStringSubmatch(f.Message)
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

func aboutLimit(f body.Fault) bool {
	return f.Param == "max_tokens" || f.Param == "max_completion_tokens" || f.Param == "max_output_tokens"
}

// aboutContent says that the provider objects to a message, not to its role.
func aboutContent(f body.Fault) bool {
	about := strings.HasPrefix(f.Param, "messages") || strings.HasPrefix(f.Param, "prompt") || strings.HasPrefix(f.Param, "input")
	return about && !strings.HasSuffix(f.Param, "role")
}
