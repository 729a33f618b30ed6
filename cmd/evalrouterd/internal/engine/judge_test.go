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
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func judgeRoutes() []core.Target {
	a := target
	a.RouteID, a.JudgeOnly = "judge-a", true
	b := a
	b.RouteID = "judge-b"
	thinks := a
	thinks.RouteID, thinks.Reasoning = "judge-thinks", core.Reasoning{Mode: core.ReasoningFixed}
	return []core.Target{a, b, thinks}
}

// A judged task reserves 100 tokens each way for its answer, and 100 in and 20
// out for each judge. An answer that uses 10 and 10 costs 30, a reply of 5 and
// 5 costs 15.
const (
	worstReply = 140 * usd.Micro(1)
	answerCost = 30 * usd.Micro(1)
	replyCost  = 15 * usd.Micro(1)
)

// addJudged admits a benchmark of n tasks that the routes grade.
func (w *world) addJudged(n int, routes ...string) core.ProfileID {
	w.t.Helper()
	options, err := json.Marshal(map[string]any{"judges": routes, "max_output_tokens": 20})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.addGraded(n, bundle.GraderConfig{Kind: "inspect/model_graded_qa", Options: options})
}

// addGraded admits a benchmark of n tasks under a grader.
func (w *world) addGraded(n int, grader bundle.GraderConfig) core.ProfileID {
	w.t.Helper()
	var data bytes.Buffer
	for i := range n {
		fmt.Fprintf(&data, "{\"q\":\"judged task %d\",\"a\":\"the name %d\"}\n", i, i)
	}
	sum := sha256.Sum256(data.Bytes())
	m := bundle.Manifest{
		Schema: bundle.ManifestSchema, Slug: "judged", Version: "1", Name: "Judged", Family: "inspect",
		Data:   bundle.Data{File: "tasks.jsonl", Format: "jsonl", SHA256: hex.EncodeToString(sum[:])},
		Source: bundle.Source{URL: "https://example.org/tasks"}, License: bundle.License{Data: "CC0-1.0"},
		Columns: bundle.Columns{Input: []string{"q"}, Target: "a", TargetFormat: "text"}, Prompt: bundle.Prompt{Template: "{{q}}"},
		Grader: grader, MaxOutputTokens: 100, Metrics: []string{"accuracy"},
	}
	added, err := w.catalog.Add(context.Background(), m, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return added.Profile.ID
}

func (w *world) startJudged(n, limit int, cap usd.Micro, routes ...string) core.RunID {
	w.t.Helper()
	p := w.addJudged(n, routes...)
	return w.quoteAndStart(admission.QuoteRequest{Profile: p, Route: target.RouteID, Full: true, Cap: &cap, Concurrency: core.Concurrency{N: limit}})
}

// judging is a world whose model answers right and whose judges do as told.
func judging(t testing.TB, judge func(provider.Request) provider.Outcome) *world {
	w := newEmptyWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
	w.adapter.judge = judge
	return w
}

func grades(letter string) func(provider.Request) provider.Outcome {
	return func(provider.Request) provider.Outcome { return say("Well.\nGRADE: "+letter, 5, 5) }
}

func TestJudges_EveryTaskIsJudgedOnceAndPaid(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("C"))
	id := w.startJudged(16, 8, usd.Dollar, "judge-a", "judge-b")
	r := w.wait(id)
	if r.State != core.Completed || r.Tallies[bundle.Right] != 16 {
		t.Fatalf("%s, %v", r.State, r.Tallies)
	}
	if want := 16 * (answerCost + 2*replyCost); r.Charged != want {
		t.Errorf("charged %s, want %s", r.Charged, want)
	}
	for what, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", what, n)
		}
	}
	if len(w.adapter.asked) != 48 || w.adapter.most > 8 {
		t.Errorf("%d calls, %d at once; want 48 and at most 8", len(w.adapter.asked), w.adapter.most)
	}
	for s, err := range w.store.Samples(context.Background(), scope, id, 0) {
		if err != nil || s.Charge != answerCost+2*replyCost || s.Rule != "judges say C C, most C" || s.Grader != "inspect/model_graded_qa@2" || s.MaxCost != worstCase+2*worstReply {
			t.Errorf("task %d: %+v, %v", s.Idx, s.Sample, err)
		}
	}
	w.events(id, r.Cap)
}

func TestJudges_Outcomes(t *testing.T) {
	t.Parallel()
	reject := func(reach provider.Reach, code string) func(provider.Request) provider.Outcome {
		return func(provider.Request) provider.Outcome {
			return provider.Outcome{Class: provider.Rejected, Reach: reach, Status: 400, Code: code}
		}
	}
	type tallies = core.Tallies
	for _, tt := range []struct {
		name    string
		judge   func(provider.Request) provider.Outcome
		state   core.State
		reason  core.Reason
		tallies tallies
		code    string
		// answers and replies are how many calls were paid for.
		answers, replies int
	}{
		{name: "wrong", judge: grades("I"), state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Wrong: 8}, answers: 8, replies: 8},
		{name: "out of range", judge: grades("B"), state: core.Failed, reason: core.JudgesUnavailable, tallies: tallies{core.JudgeError: 3, core.PendingTask: 5}, code: core.CodeJudgeInvalid, answers: 3, replies: 3},
		{name: "cut off", judge: func(provider.Request) provider.Outcome {
			o := say("GRADE: C", 5, 5)
			o.Finish = bundle.FinishLength
			return o
		}, state: core.Failed, reason: core.JudgesUnavailable, tallies: tallies{core.JudgeError: 3, core.PendingTask: 5}, code: core.CodeJudgeInvalid, answers: 3, replies: 3},
		{name: "refusal", judge: func(provider.Request) provider.Outcome {
			o := say("", 5, 5)
			o.Refused = true
			return o
		}, state: core.Failed, reason: core.JudgesUnavailable, tallies: tallies{core.JudgeError: 3, core.PendingTask: 5}, code: core.CodeJudgeRefused, answers: 3, replies: 3},
		{name: "malformed", judge: func(provider.Request) provider.Outcome {
			o := say("{", 5, 5)
			o.Malformed = true
			return o
		}, state: core.Failed, reason: core.JudgesUnavailable, tallies: tallies{core.JudgeError: 3, core.PendingTask: 5}, code: core.CodeJudgeInvalid, answers: 3, replies: 3},
		{name: "the prompt is too long for the judge", judge: reject(provider.ThisTask, "context_too_long"), state: core.Failed, reason: core.AllTasksFailed,
			tallies: tallies{core.JudgeError: 8}, code: core.CodeJudgeRejected, answers: 8},
		{name: "a rejected credential", judge: reject(provider.Connection, core.CodeCredentialRejected), state: core.Failed, reason: core.JudgesUnavailable,
			tallies: tallies{core.PendingTask: 8}, answers: 1},
		{name: "no such judge", judge: reject(provider.Route, ""), state: core.Failed, reason: core.JudgesUnavailable, tallies: tallies{core.PendingTask: 8}, answers: 1},
		{name: "nobody there for ten minutes", judge: func(r provider.Request) provider.Outcome {
			if r.Attempt < 20 {
				return provider.Outcome{Class: provider.NotSent, Code: "dial"}
			}
			return say("GRADE: C", 5, 5)
		}, state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Right: 8}, answers: 8, replies: 8},
		{name: "lost replies", judge: func(provider.Request) provider.Outcome { return provider.Outcome{Class: provider.Unknown, Code: "cut"} },
			state: core.Failed, reason: core.JudgesUnavailable, tallies: tallies{core.JudgeError: 3, core.PendingTask: 5}, code: core.CodeJudgeUnknown, answers: 3},
		{name: "replies without usage", judge: func(provider.Request) provider.Outcome {
			o := say("GRADE: C", 0, 0)
			o.Usage = nil
			return o
		}, state: core.Partial, reason: core.UsageUnreported, tallies: tallies{bundle.Right: 3, core.PendingTask: 5}, answers: 3},
		{name: "overloaded at first", judge: func(r provider.Request) provider.Outcome {
			if r.Attempt < 3 {
				return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429}
			}
			return say("GRADE: C", 5, 5)
		}, state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Right: 8}, answers: 8, replies: 8},
		{name: "a quota that comes back in an hour", judge: func(r provider.Request) provider.Outcome {
			if r.Attempt == 1 {
				return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Hour}
			}
			return say("GRADE: C", 5, 5)
		}, state: core.Completed, reason: core.ReasonCompleted, tallies: tallies{bundle.Right: 8}, answers: 8, replies: 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := judging(t, tt.judge)
			id := w.startJudged(8, 1, usd.Dollar, "judge-a")
			r := w.wait(id)
			if r.State != tt.state || r.Reason != tt.reason {
				t.Errorf("%s, %s (%s); want %s, %s", r.State, r.Reason, r.Detail, tt.state, tt.reason)
			}
			if d := cmp.Diff(tt.tallies, r.Tallies); d != "" {
				t.Error(d)
			}
			if want := usd.Micro(tt.answers)*answerCost + usd.Micro(tt.replies)*replyCost; r.Charged != want {
				t.Errorf("charged %s, want %s", r.Charged, want)
			}
			if tt.code != "" && w.result(id).Errors[tt.code] != tt.tallies[core.JudgeError] {
				t.Errorf("error codes %v", w.result(id).Errors)
			}
			if tt.reason == core.JudgesUnavailable && !strings.Contains(r.Detail, "judge judge-a: ") {
				t.Errorf("the detail does not name the judge: %q", r.Detail)
			}
			w.boughtOnce()
			w.events(id, r.Cap)
		})
	}
}

// A score over the few answers that judges understood says so.
func TestJudges_ManyWithoutAVerdictWarn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fails int // of ten
		warns bool
	}{{"two of ten", 2, false}, {"three of ten", 3, true}, {"nine of ten", 9, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			w := judging(t, func(provider.Request) provider.Outcome {
				if n := asked.Add(1); n > 1 && n <= int64(tt.fails)+1 {
					return say("I cannot say.", 5, 5)
				}
				return say("GRADE: C", 5, 5)
			})
			id := w.startJudged(10, 1, usd.Dollar, "judge-a")
			r := w.wait(id)
			want := fmt.Sprintf("%d of 10 judged answers have no verdict", tt.fails)
			found := strings.Contains(strings.Join(w.result(id).Warnings, "\n"), want)
			if r.Tallies[core.JudgeError] != tt.fails || found != tt.warns {
				t.Errorf("%v, warnings %q", r.Tallies, w.result(id).Warnings)
			}
		})
	}
}

// A judge that gives no verdict any more stops the run before every answer is
// bought, later when it gave some before.
func TestJudges_ARowWithoutVerdictsStops(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		verdict  func(n int64) bool
		answers  int // bought of 40
		unjudged int
	}{
		{"none at all", func(int64) bool { return false }, 3, 3},
		{"none after the first five", func(n int64) bool { return n <= 5 }, 15, 10},
		{"every tenth", func(n int64) bool { return n%10 == 1 }, 40, 36},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			w := judging(t, func(provider.Request) provider.Outcome {
				if tt.verdict(asked.Add(1)) {
					return say("GRADE: C", 5, 5)
				}
				return say("It is fine.", 5, 5)
			})
			id := w.startJudged(40, 1, usd.Dollar, "judge-a")
			r := w.wait(id)
			if stopped := r.Reason == core.JudgesUnavailable; stopped != (tt.answers < 40) || stopped && r.State != core.Failed {
				t.Errorf("%s, %s (%s)", r.State, r.Reason, r.Detail)
			}
			if r.Tallies[core.JudgeError] != tt.unjudged || r.Charged != usd.Micro(tt.answers)*(answerCost+replyCost) {
				t.Errorf("%v, charged %s", r.Tallies, r.Charged)
			}
			w.boughtOnce()
			w.events(id, r.Cap)
		})
	}
}

// An answer whose outcome is known is shown to no judge.
func TestJudges_NoneForAnAnswerThatIsNone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer provider.Outcome
		want   bundle.Outcome
	}{
		{"empty", say(" \n", 10, 10), bundle.Empty},
		{"reasoning alone", say("<think>It is.</think>", 10, 10), bundle.Empty},
		{"cut off", func() provider.Outcome {
			o := say("It is the", 10, 10)
			o.Finish = bundle.FinishLength
			return o
		}(), bundle.Truncated},
		{"refused", func() provider.Outcome {
			o := say("I cannot.", 10, 10)
			o.Refused = true
			return o
		}(), bundle.Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := judging(t, grades("C"))
			w.adapter.answer = func(bundle.Task, int) provider.Outcome { return tt.answer }
			r := w.wait(w.startJudged(4, 1, usd.Dollar, "judge-a", "judge-b"))
			if r.Tallies[tt.want] != 4 || len(w.adapter.asked) != 4 || r.Charged != 4*answerCost {
				t.Errorf("%v, charged %s, asked %v", r.Tallies, r.Charged, w.adapter.asked)
			}
		})
	}
}

// boughtOnce holds that no task's answer was asked for twice.
func (w *world) boughtOnce() {
	w.t.Helper()
	for what, n := range w.adapter.asked {
		if !strings.Contains(what, "about") && n != 1 {
			w.t.Errorf("task %s was asked %d times", what, n)
		}
	}
}

// The second of two judges has no say once the first gave no verdict.
func TestJudges_StopAtTheFirstFault(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("?"))
	r := w.wait(w.startJudged(3, 1, usd.Dollar, "judge-a", "judge-b"))
	if r.Tallies[core.JudgeError] != 3 || len(w.adapter.asked) != 6 || r.Charged != 3*(answerCost+replyCost) {
		t.Errorf("%v, %v, charged %s", r.Tallies, w.adapter.asked, r.Charged)
	}
}

// What does not fit with its judges is not begun: two tasks fit under a cap of
// two, and the third would without its judge.
func TestJudges_CountUnderTheCap(t *testing.T) {
	t.Parallel()
	w := judging(t, func(provider.Request) provider.Outcome { return say("GRADE: C", 100, 20) })
	w.adapter.answer = func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 100, 100) }
	cap := 2*(worstCase+worstReply) + worstCase
	r := w.wait(w.startJudged(5, 3, cap, "judge-a"))
	if r.Reason != core.SpendingCap || r.Tallies[bundle.Right] != 2 || r.Tallies[core.SkippedBudget] != 3 || r.Charged != 2*(worstCase+worstReply) {
		t.Errorf("%s, %v, charged %s", r.Reason, r.Tallies, r.Charged)
	}
}

func TestJudges_Quote(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("C"))
	ctx, cap := context.Background(), usd.Dollar
	request := admission.QuoteRequest{Profile: w.addJudged(3, "judge-b", "judge-a"), Route: target.RouteID, Full: true, Cap: &cap}
	q, err := w.admit.Quote(ctx, scope, request)
	if err != nil {
		t.Fatal(err)
	}
	if q.MinCap != worstCase+2*worstReply || len(q.Judges) != 2 || q.Judges[0].Target.RouteID != "judge-b" || q.Judges[0].MaxOutputTokens != 20 {
		t.Errorf("minimum cap %s, judges %+v", q.MinCap, q.Judges)
	}
	if !strings.Contains(strings.Join(q.Warnings, " "), "Judge-graded: what is right is decided by judge-b, judge-a.") {
		t.Errorf("warnings %q", q.Warnings)
	}
	low := q.MinCap - 1
	request.Cap = &low
	if _, err := w.admit.Quote(ctx, scope, request); !refusedAs(err, core.CapBelowMinimum) {
		t.Errorf("a cap below the first task and its judges: %v", err)
	}
	request.Cap, request.Route = &cap, "judge-a"
	if _, err := w.admit.Quote(ctx, scope, request); !refusedAs(err, core.JudgeOnlyRoute) {
		t.Errorf("a judge as the model: %v", err)
	}
}

// A judge that would spend its few tokens on reasoning is refused before any
// answer is bought.
func TestJudges_QuoteRefusesStarvedJudges(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("C"))
	cap := usd.Dollar
	_, err := w.admit.Quote(context.Background(), scope, admission.QuoteRequest{
		Profile: w.addJudged(3, "judge-a", "judge-thinks"), Route: target.RouteID, Full: true, Cap: &cap,
	})
	if !refusedAs(err, core.FeatureUnavailable) || !strings.Contains(err.Error(), "judge-thinks in 20 output tokens") {
		t.Errorf("a judge that reasons, with 20 tokens for it and its verdict: %v", err)
	}
}

func refusedAs(err error, code core.Code) bool {
	no, ok := err.(*core.Refusal)
	return ok && no.Code == code
}

// A nonce that the answer holds is drawn again, and the one that was used is
// on record.
func TestJudges_NonceIsDrawnAgain(t *testing.T) {
	t.Parallel()
	var prompt string
	w := judging(t, func(r provider.Request) provider.Outcome {
		prompt = r.Messages[0].Text
		return say("GRADE: I", 5, 5)
	})
	const known, fresh = "00000000deadbeef", "5ca1ab1e0ddba115"
	w.adapter.answer = func(bundle.Task, int) provider.Outcome { return say(known+">>", 10, 10) }
	nonces := []string{known, known, fresh}
	w.rewire(func(o *engine.Options) {
		o.NewNonce = func() string { n := nonces[0]; nonces = nonces[1:]; return n }
	})
	id := w.startJudged(1, 1, usd.Dollar, "judge-a")
	if r := w.wait(id); r.Tallies[bundle.Wrong] != 1 {
		t.Fatalf("%v", r.Tallies)
	}
	if !strings.Contains(prompt, "<<"+fresh+"\n"+known+">>\n"+fresh+">>") {
		t.Errorf("the answer is not fenced: %q", prompt)
	}
	replies, err := w.store.Replies(context.Background(), scope, id, 0, 1)
	if err != nil || len(replies) != 1 || replies[0].Nonce != fresh {
		t.Errorf("%+v, %v", replies, err)
	}
	w.rederives(id)
}

// rederives holds every recorded judge's prompt against the hash of what was
// sent: task, answer and nonce give it again.
func (w *world) rederives(id core.RunID) {
	w.t.Helper()
	ctx := context.Background()
	run, err := w.store.Run(ctx, scope, id)
	if err != nil {
		w.t.Fatal(err)
	}
	q, err := w.store.Quote(ctx, scope, run.QuoteID)
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := w.catalog.Grader(q.Profile)
	if err != nil {
		w.t.Fatal(err)
	}
	replies, err := w.store.Replies(ctx, scope, id, 0, run.Planned)
	if err != nil || len(replies) == 0 {
		w.t.Fatal(err, replies)
	}
	for _, p := range replies {
		task, err := w.catalog.Task(ctx, q.Profile, q.Order().At(p.Idx))
		if err != nil {
			w.t.Fatal(err)
		}
		ev, _, err := w.store.Evidence(ctx, id, p.Idx)
		if err != nil {
			w.t.Fatal(err)
		}
		prompt, err := g.(bundle.Judged).Prompt(task, bundle.Answer{Text: string(ev.Raw)}, p.Nonce)
		if err != nil {
			w.t.Fatal(err)
		}
		body, err := w.adapter.Render(provider.RequestForJudge(q.Judges[p.Part], prompt))
		if sum := sha256.Sum256(body); err != nil || hex.EncodeToString(sum[:]) != p.Hash {
			w.t.Errorf("the prompt of judge %d about task %d is another one now (%v)", p.Part, p.Idx, err)
		}
	}
}

// Cancelling ends judging too: the answer stays paid, nothing more is asked.
func TestJudges_CancelWhileAJudgeIsAsked(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	w := judging(t, func(r provider.Request) provider.Outcome {
		if r.Target.RouteID == "judge-a" {
			entered <- struct{}{}
			<-release
		}
		return say("GRADE: C", 5, 5)
	})
	id := w.startJudged(5, 1, usd.Dollar, "judge-a", "judge-b")
	<-entered
	if err := w.store.RequestCancel(context.Background(), scope, id); err != nil {
		t.Fatal(err)
	}
	w.engine.Wake(core.Local, id)
	close(release)
	r := w.wait(id)
	if r.State != core.Cancelled || r.Tallies[core.CancelledTask] != 5 || r.Charged != answerCost+replyCost || len(w.adapter.asked) != 2 {
		t.Errorf("%s, %v, charged %s, asked %v", r.State, r.Tallies, r.Charged, w.adapter.asked)
	}
}

// A service that stops in good order while judges are asked buys no answer and
// no reply twice.
func TestJudges_RestartsLoseNothing(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 1000)
	w := judging(t, func(provider.Request) provider.Outcome {
		entered <- struct{}{}
		return say("GRADE: C", 5, 5)
	})
	id := w.startJudged(30, 4, usd.Dollar, "judge-a", "judge-b")
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
	if r.State != core.Completed || r.Tallies[bundle.Right] != 30 || r.Waived != 0 || len(w.adapter.asked) != 90 {
		t.Errorf("%s, %v, waived %s, %d calls", r.State, r.Tallies, r.Waived, len(w.adapter.asked))
	}
	for what, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", what, n)
		}
	}
	w.rederives(id)
}

// An answer that is longer than what was set aside to judge it is left without
// a grade, and no judge is asked.
func TestJudges_AnswerTooLong(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("C"))
	w.adapter.bound = func(r provider.Request) int64 { return int64(len(r.Messages[0].Text)) }
	w.adapter.answer = func(task bundle.Task, _ int) provider.Outcome {
		if task.ID == "000000" {
			return say(strings.Repeat("z", 801), 10, 10) // eight bytes for each of 100 tokens are set aside
		}
		return say(strings.Repeat("z", 800), 10, 10)
	}
	id := w.startJudged(2, 1, usd.Dollar, "judge-a")
	r := w.wait(id)
	if r.Tallies[core.JudgeError] != 1 || r.Tallies[bundle.Right] != 1 || w.result(id).Errors[core.CodeJudgeUnbounded] != 1 || len(w.adapter.asked) != 3 {
		t.Errorf("%v, %v, asked %v", r.Tallies, w.result(id).Errors, w.adapter.asked)
	}
}

// An answer that was cut off while it reasoned is graded without a judge, and
// what was set aside for judges is free again.
func TestJudges_NoneForReasoningThatWasNotClosed(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("C"))
	w.adapter.answer = func(task bundle.Task, _ int) provider.Outcome {
		if task.ID == "000000" {
			return say("<think>It could be", 10, 10)
		}
		return say("<think>I know.</think>It is.", 10, 10)
	}
	id := w.startJudged(2, 1, usd.Dollar, "judge-a", "judge-b")
	r := w.wait(id)
	if r.Tallies[bundle.Truncated] != 1 || r.Tallies[bundle.Right] != 1 || len(w.adapter.asked) != 4 || r.Charged != 2*answerCost+2*replyCost {
		t.Errorf("%v, charged %s, asked %v", r.Tallies, r.Charged, w.adapter.asked)
	}
}

type asleep struct{}

func (asleep) Wake(core.WorkspaceID, core.RunID) {}

// A process died after it had recorded the first of two replies. Whether that
// reply has a verdict decides what the next one does.
func TestJudges_ResumeAfterOneReply(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, reply string
		want        bundle.Outcome
		asked       int
	}{
		{"with a verdict", "GRADE: C", bundle.Right, 1},
		{"without one", "hm", core.JudgeError, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := judging(t, grades("C"))
			w.admit.Engine = asleep{}
			id := w.startJudged(1, 1, usd.Dollar, "judge-a", "judge-b")
			w.dieAfterOneReply(id, tt.reply)
			if err := w.engine.Start(context.Background(), w.kept); err != nil {
				t.Fatal(err)
			}
			r := w.wait(id)
			if r.Tallies[tt.want] != 1 || w.adapter.times("judge-b about 0") != tt.asked || len(w.adapter.asked) != tt.asked {
				t.Errorf("%v, asked %v", r.Tallies, w.adapter.asked)
			}
		})
	}
}

// dieAfterOneReply journals what a process does until it has one reply.
func (w *world) dieAfterOneReply(id core.RunID, text string) {
	w.t.Helper()
	ctx, lease := context.Background(), core.Lease{Worker: "dead", Until: 1}
	answer := core.Intent{Call: "call-1", TaskID: "000000", Attempt: 1, Worst: worstCase, Pledge: 2 * worstReply, Hash: "h"}
	judge := core.Intent{Call: "call-2", TaskID: "000000", Attempt: 1, Worst: worstReply, Hash: "h", Judge: true, Nonce: "n"}
	response := func(in core.Intent, text string) core.Response {
		sum := sha256.Sum256([]byte(text))
		return core.Response{Run: id, Workspace: core.Local, Book: core.PracticeBook, Call: in.Call, Judge: in.Judge, Open: true, Raw: []byte(text),
			RawSHA256: hex.EncodeToString(sum[:]), Finish: "stop", Reserved: in.Worst, ExpiresAt: 1}
	}
	for _, step := range []func() error{
		func() error { return w.store.Start(ctx, id) },
		func() error { _, err := w.store.Reserve(ctx, id, lease, []core.Intent{answer}); return err },
		func() error { return w.store.MarkSent(ctx, id, answer) },
		func() error { return w.store.Respond(ctx, response(answer, "an answer")) },
		func() error { _, err := w.store.AskJudge(ctx, id, lease, judge); return err },
		func() error { return w.store.MarkSent(ctx, id, judge) },
		func() error { return w.store.Respond(ctx, response(judge, text)) },
	} {
		if err := step(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// A task whose answer is not there any more is an error of its own: the run
// goes on with the others.
func TestJudges_AnswerNotKept(t *testing.T) {
	t.Parallel()
	w := judging(t, grades("C"))
	w.admit.Engine = asleep{}
	id := w.startJudged(2, 1, usd.Dollar, "judge-a", "judge-b")
	w.dieAfterOneReply(id, "GRADE: C")
	w.rewire(func(o *engine.Options) { o.Answers = lostAnswers{o.Answers} })
	if err := w.engine.Start(context.Background(), w.kept); err != nil {
		t.Fatal(err)
	}
	if r := w.wait(id); r.State != core.Completed || r.Tallies[core.GraderError] != 1 || r.Tallies[bundle.Right] != 1 {
		t.Errorf("%s for %s, %v", r.State, r.Reason, r.Tallies)
	}
}

type lostAnswers struct{ engine.Answers }

func (lostAnswers) Evidence(context.Context, core.RunID, int) (core.Evidence, bool, error) {
	return core.Evidence{}, false, nil
}
