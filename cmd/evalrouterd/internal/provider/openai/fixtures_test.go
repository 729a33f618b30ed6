package openai_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// fixture is one line of the shared provider answers.
type fixture struct {
	Name     string            `json:"name"`
	Provider string            `json:"provider"`
	API      string            `json:"api"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     json.RawMessage   `json:"body"`
	Stream   json.RawMessage   `json:"stream"`
	End      string            `json:"end"`
	Request  struct {
		Reservation string `json:"reservation_uusd"`
	} `json:"request"`
	Prices map[string]int64 `json:"prices_pico_usd_per_token"`
	Expect expectation      `json:"expect"`
}

type expectation struct {
	Class      string           `json:"class"`
	Outcome    string           `json:"outcome"`
	Code       string           `json:"code"`
	Reason     string           `json:"reason"`
	Scope      string           `json:"scope"`
	Finish     *string          `json:"finish"`
	Text       *string          `json:"text"`
	Refusal    string           `json:"refusal_text"`
	Model      string           `json:"model"`
	RequestID  string           `json:"provider_request_id"`
	Usage      map[string]int64 `json:"usage"`
	UsageState string           `json:"usage_state"`
	Cost       string           `json:"usage_cost_uusd"`
	Charge     string           `json:"charge_uusd"`
	RetryAfter *int64           `json:"retry_after_ms"`
}

// elsewhere names what these adapters do not decide yet, and why. The rest of
// such a line is still checked.
var elsewhere = map[string]struct {
	fields []string
	why    string
}{
	"openrouter_ok_cost_authoritative":   {[]string{"charge"}, "the provider's own cost replaces the token price; outcomes carry tokens only"},
	"azure_400_content_filter_billed":    {[]string{"class"}, "Azure bills this rejection; an outcome cannot say that usage is missing by design, so it is a rejection"},
	"openai_completions_echo_logprobs":   {[]string{"outcome"}, "likelihood requests expect finish length; generation requests read it as truncated"},
	"completions_echo_ignored_by_server": {[]string{"outcome", "code", "reason", "scope"}, "likelihood requests are not made yet"},
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "..", "..", "shared", "vectors", "provider-fixtures.jsonl")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no shared data: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []fixture
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var x fixture
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatalf("line %d: %v", len(list)+1, err)
		}
		if x.Stream == nil && (x.API == "chat" || x.API == "completions") {
			list = append(list, x)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// Every recorded answer of the chat and completions protocols comes through a
// real server and connection, and means what the line says; what was recorded
// reads the same again.
func TestFixtures(t *testing.T) {
	t.Parallel()
	list := fixtures(t)
	if len(list) < 70 {
		t.Fatalf("only %d lines", len(list))
	}
	for _, x := range list {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			replay(t, x)
		})
	}
}

func replay(t *testing.T, x fixture) {
	origin := map[string]string{
		"openai": "http://api.openai.com", "azure": "http://unit.openai.azure.com/openai/v1", "openrouter": "http://openrouter.ai/api/v1",
	}[x.Provider]
	if origin == "" {
		origin = "http://model.example"
	}
	if x.End == providertest.TLSError {
		origin = "https://model.example"
	}
	body := []byte(x.Body)
	var text string
	if json.Unmarshal(body, &text) == nil {
		body = []byte(text)
	}
	stage := providertest.Stage(t, providertest.Script{Status: x.Status, Header: x.Headers, Body: body, End: x.End})
	a := openai.Chat(openai.Config{Transport: stage.Transport, Now: time.Now})
	if x.API == "completions" {
		a = openai.Completions(openai.Config{Transport: stage.Transport, Now: time.Now})
	}
	o := a.Call(stage.Context(t), provider.Request{
		Target: core.Target{BaseURL: origin, ModelID: "gpt-x"}, Key: provider.NewSecret("sk-fixture-0123456789abcdef"),
		Messages: []bundle.Message{{Role: bundle.User, Text: "question"}}, MaxOutput: 512,
	})
	if n := stage.Requests(); n > 1 {
		t.Errorf("%d requests for one call", n)
	}
	skip, ok := elsewhere[x.Name]
	if ok {
		t.Logf("not checked here: %v: %s", skip.fields, skip.why)
	}
	for _, c := range compare(x, o) {
		switch excused := slices.Contains(skip.fields, c.name); {
		case excused && c.got == c.want:
			t.Errorf("%s agrees now: take it off the list", c.name)
		case !excused && c.got != c.want:
			t.Errorf("%s = %q, want %q (%+v)", c.name, c.got, c.want, o)
		}
	}
	if o.Raw != nil && o.Class == provider.Answered {
		again := a.Parse(o.Raw)
		if again.Text != o.Text || again.Finish != o.Finish || again.Class != o.Class {
			t.Errorf("recorded answer reads %+v, came as %+v", again, o)
		}
	}
}

type field struct{ name, got, want string }

func compare(x fixture, o provider.Outcome) []field {
	e := x.Expect
	fields := []field{
		{"class", classOf(o), e.Class},
		{"usage", usageOf(o), usageWanted(e)},
	}
	if e.Code != "" && e.Code != "output_truncated" { // that one is the grader's
		fields = append(fields, field{"code", o.Code, e.Code})
	}
	if e.Outcome != "" {
		fields = append(fields, field{"outcome", labelOf(o), e.Outcome})
	}
	if e.Scope != "" {
		fields = append(fields, field{"scope", scopeOf(o), e.Scope})
	}
	if e.Reason != "" {
		fields = append(fields, field{"reason", o.Reason, ourReason(e.Reason, o)})
	}
	if e.Finish != nil {
		fields = append(fields, field{"finish", string(o.Finish), ourFinish(*e.Finish)})
	}
	if e.Text != nil {
		fields = append(fields, field{"text", o.Text, *e.Text})
	}
	if e.Refusal != "" {
		fields = append(fields, field{"refusal", o.Message, e.Refusal})
	}
	if e.Model != "" {
		fields = append(fields, field{"model", o.Model, e.Model})
	}
	if e.RequestID != "" {
		fields = append(fields, field{"request id", o.RequestID, e.RequestID})
	}
	hint, want := "none", "none"
	if o.HasRetryAfter {
		hint = o.RetryAfter.String()
	}
	if e.RetryAfter != nil {
		want = (time.Duration(*e.RetryAfter) * time.Millisecond).String()
	}
	fields = append(fields, field{"retry after", hint, want})
	if x.Prices != nil && e.Charge != "" {
		fields = append(fields, field{"charge", chargeOf(x, o), e.Charge})
	}
	return fields
}

func classOf(o provider.Outcome) string {
	switch {
	case o.Malformed: // the fixtures have no class of their own for it
		return "unknown"
	case o.Class == provider.Answered:
		return "responded"
	case o.Class == provider.Rejected && o.Reach == provider.Overload:
		return "rejected_retry"
	case o.Class == provider.Rejected:
		return "rejected_final"
	case o.Code == core.CodeTransientUnbilled:
		return "transient_unbilled"
	}
	return string(o.Class)
}

// labelOf is what becomes of the task before a grader sees the text.
func labelOf(o provider.Outcome) string {
	switch {
	case o.Refused:
		return "refused"
	case o.Class == provider.Rejected && o.Reach == provider.ThisTask, o.Class == provider.Unknown, o.Malformed:
		return "provider_error"
	case o.Class == provider.Rejected:
		return "pending"
	case o.Finish == bundle.FinishLength:
		return "truncated"
	case o.Text == "":
		return "empty"
	}
	return "graded"
}

func scopeOf(o provider.Outcome) string {
	if o.Reach == provider.Overload || o.Class == provider.NotSent {
		return "transient"
	}
	return string(o.Reach)
}

// ourReason translates a reason of the fixtures, which also cover streams.
func ourReason(want string, o provider.Outcome) string {
	switch {
	case want == "stream_error":
		return "error_in_answer"
	case want == "stream_cut":
		return "cut"
	case want == "malformed" && o.Raw != nil && o.Status == 200 && o.Reason == "cut":
		return "cut" // the body broke off: the connection's fault, not the text's
	}
	return want
}

func ourFinish(raw string) string {
	switch raw {
	case "stop", "length", "content_filter":
		return raw
	case "repetition":
		return "length"
	}
	return "other:" + raw
}

func usageOf(o provider.Outcome) string {
	if o.Usage == nil {
		return "none"
	}
	b, err := json.Marshal(o.Usage)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func usageWanted(e expectation) string {
	if e.UsageState != "reported" {
		return "none"
	}
	return usageOf(provider.Outcome{Usage: &core.Usage{
		Input: e.Usage["input_uncached"], CacheRead: e.Usage["cache_read"], CacheWrite: e.Usage["cache_write_5m"],
		Output: e.Usage["output_visible"], Reasoning: e.Usage["output_reasoning"],
	}})
}

func chargeOf(x fixture, o provider.Outcome) string {
	reserved := usd.Max
	if x.Request.Reservation != "" {
		var err error
		if reserved, err = usd.ParseWire(x.Request.Reservation); err != nil {
			return err.Error()
		}
	}
	p := core.Prices{
		Input: usd.PerMillion(x.Prices["in"]), CacheRead: usd.PerMillion(x.Prices["read"]), CacheWrite: usd.PerMillion(x.Prices["w5m"]),
		Output: usd.PerMillion(x.Prices["out"]), Reasoning: usd.PerMillion(x.Prices["reason"]),
	}
	return strings.TrimPrefix(p.Settle(reserved, o.Usage).Spend.Wire(), "+")
}
