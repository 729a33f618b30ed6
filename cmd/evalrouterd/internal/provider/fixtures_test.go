package provider_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/anthropic"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/google"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/responses"
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
	Stream   []string          `json:"stream"`
	End      string            `json:"end"`
	Request  struct {
		Reservation string `json:"reservation_uusd"`
		Echo        bool   `json:"echo"`
	} `json:"request"`
	Note   string           `json:"note"`
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
	Retry      bool             `json:"retry"`
	RetryAfter *int64           `json:"retry_after_ms"`
	OverBound  bool             `json:"usage_over_bound"`
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "..", "shared", "vectors", "provider-fixtures.jsonl")
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
		list = append(list, x)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// Every recorded answer comes through a real server and connection, whole and
// one byte a read, and means what its line says: class, outcome, usage, delay
// and charge. What was recorded reads the same again.
func TestFixtures(t *testing.T) {
	t.Parallel()
	list := fixtures(t)
	if len(list) != 165 {
		t.Fatalf("%d lines; the shared file has 165", len(list))
	}
	for _, x := range list {
		for _, way := range []struct {
			name string
			wrap func(http.RoundTripper) http.RoundTripper
		}{
			{"whole", func(rt http.RoundTripper) http.RoundTripper { return rt }},
			{"byte by byte", func(rt http.RoundTripper) http.RoundTripper { return drip{rt} }},
		} {
			t.Run(x.Name+"/"+way.name, func(t *testing.T) {
				t.Parallel()
				replay(t, x, way.wrap)
			})
		}
	}
}

// drip gives an answer's body one byte a read.
type drip struct{ http.RoundTripper }

func (d drip) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := d.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{iotest.OneByteReader(res.Body), res.Body}
	}
	return res, err
}

func adapterFor(t *testing.T, api string, c exchange.Config) provider.Adapter {
	t.Helper()
	switch api {
	case "chat":
		return openai.Chat(c)
	case "completions":
		return openai.Completions(c)
	case "responses":
		return responses.New(c)
	case "messages":
		return anthropic.New(c)
	case "generateContent", "streamGenerateContent":
		return google.New(c)
	}
	t.Fatalf("no adapter for %q", api)
	return nil
}

func (x fixture) script() providertest.Script {
	body := []byte(x.Body)
	var text string
	if json.Unmarshal(body, &text) == nil {
		body = []byte(text)
	}
	if x.Stream != nil {
		body = []byte(strings.Join(x.Stream, ""))
	}
	return providertest.Script{Status: x.Status, Header: x.Headers, Body: body, End: x.End}
}

func (x fixture) request() provider.Request {
	origin := map[string]string{
		"openai": "http://api.openai.com", "azure": "http://unit.openai.azure.com/openai/v1", "openrouter": "http://openrouter.ai/api/v1",
	}[x.Provider]
	if origin == "" {
		origin = "http://model.example"
	}
	if x.End == providertest.TLSError {
		origin = "https://model.example"
	}
	return provider.Request{
		Target: core.Target{
			BaseURL: origin, ModelID: "gpt-x", Stream: x.Stream != nil,
			UnbilledRefusals: strings.Contains(x.Note, "refusal_before_output_unbilled=true"),
		},
		Key: provider.NewSecret("sk-fixture-0123456789abcdef"), Messages: []bundle.Message{{Role: bundle.User, Text: "question"}}, MaxOutput: 512,
		Likelihood: x.Request.Echo,
	}
}

func replay(t *testing.T, x fixture, wrap func(http.RoundTripper) http.RoundTripper) {
	stage := providertest.Stage(t, x.script())
	a := adapterFor(t, x.API, exchange.Config{Transport: func(to core.Target) http.RoundTripper { return wrap(stage.Transport(to)) }, Now: time.Now})
	o := a.Call(stage.Context(t), x.request())
	if n := stage.Requests(); n > 1 {
		t.Errorf("%d requests for one call", n)
	}
	for _, c := range compare(x, o) {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q (%+v)", c.name, c.got, c.want, o)
		}
	}
	if o.Raw != nil && o.Class == provider.Answered && o.Status == 200 && o.Reason != "echo_unsupported" {
		again := a.Parse(o.Raw)
		if again.Text != o.Text || again.Finish != o.Finish || again.Class != o.Class || usageOf(again) != usageOf(o) {
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
		{"usage state", stateOf(o), e.UsageState},
		{"retry", strconv.FormatBool(o.Reach == provider.Overload || o.Class == provider.NotSent), strconv.FormatBool(e.Retry)},
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
		fields = append(fields, field{"reason", o.Reason, ourReason(e.Reason, x)})
	}
	if e.Finish != nil {
		fields = append(fields, field{"finish", string(o.Finish), ourFinish(finishes(), *e.Finish)})
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
	m := settle(x, o)
	fields = append(fields, field{"charge", m.Spend.Wire(), e.Charge}, field{"over bound", strconv.FormatBool(m.OverBound), strconv.FormatBool(e.OverBound)})
	if e.Cost != "" {
		fields = append(fields, field{"cost of the tokens", costOf(x, o), e.Cost})
	}
	return fields
}

func classOf(o provider.Outcome) string {
	switch {
	case o.Malformed && o.Reason != exchange.FinishOther && o.Reason != "echo_unsupported":
		return "unknown" // of the fixtures; ours is answered, for it is paid
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
	case o.Tokens != nil: // likelihoods were asked for, and the limit was one token
		return "graded"
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

// ourReason translates the reasons of the fixtures that have two names here.
func ourReason(want string, x fixture) string {
	switch {
	case want == "stream_error" && x.Stream == nil:
		return "error_in_answer"
	case want == "stream_cut" && x.End == providertest.ResetEarly:
		return "cut" // nothing of a stream had come
	case want == "malformed" && x.End == providertest.EarlyEOF:
		return "cut" // the body broke off: the connection's fault, not the text's
	}
	return want
}

// ourFinish is the one vocabulary for the providers' words.
func ourFinish(t map[string]string, raw string) string {
	if ours, ok := t[raw]; ok {
		return ours
	}
	return "other:" + raw
}

// finishes are the words that have a name of ours.
func finishes() map[string]string {
	return map[string]string{
		"stop": "stop", "length": "length", "content_filter": "content_filter", "repetition": "length",
		"completed": "stop", "incomplete:max_output_tokens": "length", "incomplete:content_filter": "content_filter",
		"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "model_context_window_exceeded": "length", "pause_turn": "length", "refusal": "content_filter",
		"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter", "RECITATION": "content_filter", "BLOCKLIST": "content_filter",
		"PROHIBITED_CONTENT": "content_filter", "SPII": "content_filter", "blocked:PROHIBITED_CONTENT": "content_filter",
	}
}

func stateOf(o provider.Outcome) string {
	if o.UsageState == provider.UsageNone {
		return "not_applicable"
	}
	return string(o.UsageState)
}

func usageOf(o provider.Outcome) string {
	if o.Usage == nil {
		return "none"
	}
	tokens := *o.Usage
	tokens.Billed = nil
	b, err := json.Marshal(tokens)
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
		Input: e.Usage["input_uncached"], CacheRead: e.Usage["cache_read"], CacheWrite: e.Usage["cache_write_5m"], CacheWriteHour: e.Usage["cache_write_1h"],
		Output: e.Usage["output_visible"], Reasoning: e.Usage["output_reasoning"],
	}})
}

func (x fixture) prices() core.Prices {
	return core.Prices{
		Input: usd.PerMillion(x.Prices["in"]), CacheRead: usd.PerMillion(x.Prices["read"]), CacheWrite: usd.PerMillion(x.Prices["w5m"]),
		CacheWriteHour: usd.PerMillion(x.Prices["w1h"]), Output: usd.PerMillion(x.Prices["out"]), Reasoning: usd.PerMillion(x.Prices["reason"]),
	}
}

// settle is the money of a call as the engine decides it.
func settle(x fixture, o provider.Outcome) core.Settlement {
	if o.Class != provider.Answered {
		return core.Settlement{}
	}
	reserved := usd.Max
	if x.Request.Reservation != "" {
		var err error
		if reserved, err = usd.ParseWire(x.Request.Reservation); err != nil {
			return core.Settlement{Spend: -1}
		}
	}
	return o.Settle(x.prices(), reserved, 0)
}

func costOf(x fixture, o provider.Outcome) string {
	if o.Usage == nil {
		return "none"
	}
	tokens := *o.Usage
	tokens.Billed = nil
	c, err := x.prices().Cost(tokens)
	if err != nil {
		return err.Error()
	}
	return c.Wire()
}
