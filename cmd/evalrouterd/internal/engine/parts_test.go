package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// A part reserves 100 tokens in and one out, and costs 10 in and one out.
const (
	worstPart = 102 * usd.Micro(1)
	partCost  = 12 * usd.Micro(1)
)

// startParts starts a run of n tasks with three choices each.
func (w *world) startParts(n, limit int, cap usd.Micro) core.RunID {
	w.t.Helper()
	return w.quoteAndStart(admission.QuoteRequest{Profile: w.addParts(n), Route: target.RouteID, Full: true, Cap: &cap, Concurrency: core.Concurrency{N: limit}})
}

func (w *world) addParts(n int) core.ProfileID { return w.addLikely(n, `{}`) }

func (w *world) addLikely(n int, options string) core.ProfileID {
	w.t.Helper()
	var data bytes.Buffer
	for i := range n {
		fmt.Fprintf(&data, "{\"q\":\"task %d:\",\"of\":[\"red\",\"green\",\"blue\"],\"a\":\"B\"}\n", i)
	}
	sum := sha256.Sum256(data.Bytes())
	m := bundle.Manifest{
		Schema: bundle.ManifestSchema, Slug: "parts", Version: "1", Name: "Parts", Family: "lm-eval",
		Data:   bundle.Data{File: "tasks.jsonl", Format: "jsonl", SHA256: hex.EncodeToString(sum[:])},
		Source: bundle.Source{URL: "https://example.org/tasks"}, License: bundle.License{Data: "CC0-1.0"},
		Columns: bundle.Columns{Input: []string{"q"}, Target: "a", TargetFormat: "letter", Choices: []string{"of"}}, Prompt: bundle.Prompt{Template: "{{q}}"},
		Grader: bundle.GraderConfig{Kind: bundle.LikelyChoices, Options: []byte(options)}, MaxOutputTokens: 100, Metrics: []string{"accuracy"},
	}
	added, err := w.catalog.Add(context.Background(), m, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return added.Profile.ID
}

// part answers how likely a prompt is whose choice stands after the last blank.
func part(r provider.Request, sums map[string]float64) provider.Outcome {
	context := r.Gold.Input[0].Text
	last := strings.TrimPrefix(r.Messages[0].Text, context)
	sum := sums[last[1:]]
	doc, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"logprobs": map[string]any{
		"tokens": []string{context, last, "!"}, "token_logprobs": []any{nil, sum, -1},
		"top_logprobs": []any{nil, map[string]any{last: sum}, map[string]any{"!": -1}},
	}}}})
	if err != nil {
		panic(err)
	}
	return say(string(doc), 10, 1)
}

func greenest() map[string]float64 { return map[string]float64{"red": -3, "green": -1, "blue": -2} }

// asking is a world whose model answers parts as told.
func asking(t testing.TB, answer func(provider.Request) provider.Outcome) *world {
	w := newEmptyWorld(t, nil)
	w.adapter.part = answer
	return w
}

func green(r provider.Request) provider.Outcome { return part(r, greenest()) }

func TestParts_EachIsAskedOnceAndPaid(t *testing.T) {
	t.Parallel()
	w := asking(t, green)
	id := w.startParts(16, 8, usd.Dollar)
	r := w.wait(id)
	if r.State != core.Completed || r.Tallies[bundle.Right] != 16 || r.Charged != 16*3*partCost {
		t.Fatalf("%s, %v, charged %s", r.State, r.Tallies, r.Charged)
	}
	w.askedOnce(48)
	if w.adapter.most > 8 {
		t.Errorf("%d calls at once", w.adapter.most)
	}
	for s, err := range w.store.Samples(context.Background(), scope, id, 0) {
		if err != nil || s.Charge != 3*partCost || s.MaxCost != 3*worstPart || s.Rule != "acc, likeliest choice equal" || s.Attempt != 1 {
			t.Errorf("task %d: %+v, %v", s.Idx, s.Sample, err)
		}
	}
	w.events(id, r.Cap)
}

// askedOnce holds that n prompts were sent, each once.
func (w *world) askedOnce(n int) {
	w.t.Helper()
	for what, n := range w.adapter.asked {
		if n != 1 {
			w.t.Errorf("%s was asked %d times", what, n)
		}
	}
	if len(w.adapter.asked) != n {
		w.t.Errorf("%d prompts were asked, want %d", len(w.adapter.asked), n)
	}
}

func TestParts_Quote(t *testing.T) {
	t.Parallel()
	w := asking(t, green)
	ctx, cap := context.Background(), usd.Dollar
	request := admission.QuoteRequest{Profile: w.addParts(3), Route: target.RouteID, Full: true, Cap: &cap}
	q, err := w.admit.Quote(ctx, scope, request)
	if err != nil || q.MinCap != 3*worstPart {
		t.Fatalf("minimum cap %s, %v", q.MinCap, err)
	}
	low := q.MinCap - 1
	request.Cap = &low
	if _, err := w.admit.Quote(ctx, scope, request); !refusedAs(err, core.CapBelowMinimum) {
		t.Errorf("a cap below all parts of the first task: %v", err)
	}
	request.Cap, request.Route = &cap, mute.RouteID
	if _, err := w.admit.Quote(ctx, scope, request); !refusedAs(err, core.FeatureUnavailable) {
		t.Errorf("a route without log probabilities: %v", err)
	}
}

// A task does not begin when its parts together do not fit, and a cheaper one
// never overtakes.
func TestParts_CountUnderTheCap(t *testing.T) {
	t.Parallel()
	w := asking(t, func(r provider.Request) provider.Outcome {
		o := green(r)
		o.Usage = &core.Usage{Input: 100, Output: 1}
		return o
	})
	r := w.wait(w.startParts(5, 3, 2*3*worstPart+2*worstPart))
	if r.Reason != core.SpendingCap || r.Tallies[bundle.Right] != 2 || r.Tallies[core.SkippedBudget] != 3 || r.Charged != 2*3*worstPart {
		t.Errorf("%s, %v, charged %s", r.Reason, r.Tallies, r.Charged)
	}
	w.askedOnce(6)
}

func TestParts_Outcomes(t *testing.T) {
	t.Parallel()
	// second befalls the second part of each task, the first are answered.
	second := func(o func(provider.Request) provider.Outcome) func(provider.Request) provider.Outcome {
		return func(r provider.Request) provider.Outcome {
			if strings.HasSuffix(r.Messages[0].Text, "green") {
				return o(r)
			}
			return green(r)
		}
	}
	fixed := func(o provider.Outcome) func(provider.Request) provider.Outcome {
		return second(func(provider.Request) provider.Outcome { return o })
	}
	type tallies = core.Tallies
	for _, tt := range []struct {
		name    string
		answer  func(provider.Request) provider.Outcome
		state   core.State
		reason  core.Reason
		tallies tallies
		code    string
		paid    int // parts
	}{
		{name: "another is likelier", answer: func(r provider.Request) provider.Outcome {
			return part(r, map[string]float64{"red": -1, "green": -2, "blue": -3})
		}, state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Wrong: 4}, paid: 12},
		{name: "other tokens than the prompt's", answer: fixed(say(`{"choices":[{"logprobs":{"tokens":["a","b","c"],"token_logprobs":[null,-1,-1],"top_logprobs":[null,{"b":-1},{"c":-1}]}}]}`, 10, 1)),
			state: core.Failed, reason: core.AllTasksFailed, tallies: tallies{core.ProviderError: 4}, code: core.CodeInvalidOutput, paid: 8},
		{name: "refusal", answer: second(func(r provider.Request) provider.Outcome {
			o := green(r)
			o.Refused = true
			return o
		}), state: core.Failed, reason: core.AllTasksFailed, tallies: tallies{bundle.Refused: 4}, code: core.CodeRefused, paid: 8},
		{name: "too long", answer: fixed(provider.Outcome{Class: provider.Rejected, Reach: provider.ThisTask, Status: 400}),
			state: core.Failed, reason: core.AllTasksFailed, tallies: tallies{core.ProviderError: 4}, code: core.CodeProviderError, paid: 4},
		{name: "lost answers", answer: fixed(provider.Outcome{Class: provider.Unknown, Code: core.CodeOutcomeUnknown}),
			state: core.Failed, reason: core.ProviderDown, tallies: tallies{core.ProviderError: 3, core.PendingTask: 1}, code: core.CodeOutcomeUnknown, paid: 3},
		{name: "a rejected credential", answer: fixed(provider.Outcome{Class: provider.Rejected, Reach: provider.Connection, Status: 401, Code: core.CodeCredentialRejected}),
			state: core.Failed, reason: core.CredentialFailed, tallies: tallies{core.PendingTask: 4}, paid: 1},
		{name: "overloaded at first", answer: second(func(r provider.Request) provider.Outcome {
			if r.Attempt < 3 {
				return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429}
			}
			return green(r)
		}), state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Right: 4}, paid: 12},
		{name: "a quota that comes back in an hour", answer: second(func(r provider.Request) provider.Outcome {
			if r.Attempt == 1 {
				return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Hour}
			}
			return green(r)
		}), state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Right: 4}, paid: 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, tt.answer)
			id := w.startParts(4, 1, usd.Dollar)
			r := w.wait(id)
			if r.State != tt.state || r.Reason != tt.reason {
				t.Errorf("%s, %s (%s); want %s, %s", r.State, r.Reason, r.Detail, tt.state, tt.reason)
			}
			if d := cmp.Diff(tt.tallies, r.Tallies); d != "" {
				t.Error(d)
			}
			if want := usd.Micro(tt.paid) * partCost; r.Charged != want {
				t.Errorf("charged %s, want %s", r.Charged, want)
			}
			if tt.code != "" && w.result(id).Errors[tt.code] == 0 {
				t.Errorf("error codes %v", w.result(id).Errors)
			}
			w.events(id, r.Cap)
		})
	}
}

// A choice alone has a likelihood only after a token of the server's or a prefix:
// where there is neither, the run ends after one task, and says why.
func TestParts_WithoutAContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, options string
		want          bundle.Outcome
		asked         int
	}{
		{"a prefix", `{"metric":"acc_mutual_info","prefix":"<s>"}`, bundle.Right, 18},
		{"no prefix", `{"metric":"acc_mutual_info"}`, core.ProviderError, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			w := asking(t, func(r provider.Request) provider.Outcome {
				asked++ // one call at a time
				text := r.Messages[0].Text
				if strings.HasPrefix(text, "task") {
					return green(r)
				}
				at := strings.Index(text, " ")
				tokens := []string{text[:at], text[at:], "!"}
				if at == 0 {
					tokens = []string{text, "!", "?"}
				}
				doc, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"logprobs": map[string]any{
					"tokens": tokens, "token_logprobs": []any{nil, -2, -1}, "top_logprobs": []any{nil, map[string]any{"x": -1}, map[string]any{"!": -1}},
				}}}})
				if err != nil {
					panic(err)
				}
				return say(string(doc), 10, 1)
			})
			cap := usd.Dollar
			id := w.quoteAndStart(admission.QuoteRequest{Profile: w.addLikely(3, tt.options), Route: target.RouteID, Full: true, Cap: &cap, Concurrency: core.Concurrency{N: 1}})
			r := w.wait(id)
			if r.Tallies[tt.want] == 0 || asked != tt.asked || r.Charged != usd.Micro(asked)*partCost {
				t.Errorf("%s (%s), %v after %d calls", r.Reason, r.Detail, r.Tallies, asked)
			}
			if tt.asked == 4 && (r.Reason != core.ProviderDown || !strings.Contains(r.Detail, "prefix")) {
				t.Errorf("%s (%s)", r.Reason, r.Detail)
			}
		})
	}
}

// A service that stops in good order between parts buys none of them twice.
func TestParts_RestartsLoseNothing(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 1000)
	w := asking(t, func(r provider.Request) provider.Outcome {
		entered <- struct{}{}
		return green(r)
	})
	id := w.startParts(30, 4, usd.Dollar)
	for range 5 {
		for range 7 {
			<-entered
		}
		if err := w.engine.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.store.Close()
		w.open()
		if err := w.engine.Start(context.Background(), w.kept); err != nil {
			t.Fatal(err)
		}
		w.audit()
	}
	r := w.wait(id)
	if r.State != core.Completed || r.Tallies[bundle.Right] != 30 || r.Waived != 0 || r.Charged != 90*partCost {
		t.Errorf("%s, %v, waived %s, charged %s", r.State, r.Tallies, r.Waived, r.Charged)
	}
	w.askedOnce(90)
}

// Cancelling ends a task between its parts: what was answered stays paid.
func TestParts_CancelBetweenParts(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	w := asking(t, func(r provider.Request) provider.Outcome {
		if strings.HasSuffix(r.Messages[0].Text, "green") {
			entered <- struct{}{}
			<-release
		}
		return green(r)
	})
	id := w.startParts(3, 1, usd.Dollar)
	<-entered
	if err := w.store.RequestCancel(context.Background(), scope, id); err != nil {
		t.Fatal(err)
	}
	w.engine.Wake(core.Local, id)
	close(release)
	r := w.wait(id)
	if r.State != core.Cancelled || r.Tallies[core.CancelledTask] != 3 || r.Charged != 2*partCost {
		t.Errorf("%s, %v, charged %s", r.State, r.Tallies, r.Charged)
	}
	w.askedOnce(2)
}
