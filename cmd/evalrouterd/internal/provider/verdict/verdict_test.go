package verdict_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/verdict"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	table := append(verdict.First(), []verdict.Rule{
		{From: 400, To: 499, Words: []string{"no_money", "spent"}, Verdict: verdict.Broke()},
		{From: 400, To: 400, Hosts: []string{"here"}, Verdict: verdict.Parameter()},
		{From: 400, To: 400, Phrases: []string{"too long"}, Verdict: verdict.TooLong()},
		{From: 429, To: 429, When: func(f body.Fault) bool { return f.HasDelay }, Verdict: verdict.SlowDown()},
	}...)
	table = append(table, verdict.Last()...)
	for _, c := range []struct {
		name, host string
		status     int
		body       string
		class      provider.Class
		reason     string
		message    string
	}{
		{"the first line that holds", "here", 400, `{"error":{"code":"spent","message":"m"}}`, provider.Rejected, "quota_exhausted", "m"},
		{"a host", "here", 400, `{"error":{"message":"Too long"}}`, provider.Rejected, "unsupported_parameter", "Too long"},
		{"another host, and wording", "there", 400, `{"error":{"message":"Too Long"}}`, provider.Rejected, "context_too_long", "Too Long"},
		{"no line", "there", 400, `{}`, provider.Unknown, "unexpected_status", "the endpoint answered with status 400"},
		{"a condition", "", 429, `{"error":{"details":[{"retryDelay":"1s"}]}}`, provider.Rejected, "rate_limited", "the endpoint answered with status 429"},
		{"and not", "", 429, `{"error":"x"}`, provider.Unknown, "unexpected_status", "x"},
		{"a status of 302", "", 302, `{"error":"secret"}`, provider.Rejected, "provider_redirect", "the endpoint redirects (status 302); redirects are never followed. Give the address that it leads to as the base URL"},
		{"a status that is none", "", 999, ``, provider.Unknown, "unexpected_status", "the endpoint answered with status 999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := verdict.Decide(table, c.host, c.status, []byte(c.body))
			if o.Class != c.class || o.Reason != c.reason || o.Message != c.message {
				t.Errorf("got %s, %s, %q", o.Class, o.Reason, o.Message)
			}
			if o.HasRetryAfter != (c.reason == "rate_limited") {
				t.Errorf("a wait %v", o.RetryAfter)
			}
		})
	}
}
