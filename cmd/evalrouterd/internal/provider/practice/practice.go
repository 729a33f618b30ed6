// Package practice is the simulated routes: models for learning and testing
// the service, without a key, an account or a network.
//
//   - practice.solver-P answers a task right with probability P, from the
//     task's own gold. Whether it does is a pure function of the route and the
//     task, so the same task gets the same answer in every run.
//   - practice.echo repeats the last message of the user.
//   - practice.flaky is a solver of 0.7 behind rate limits, timeouts and
//     unreadable bodies, each a pure function of the task and the attempt.
//   - practice.judge grades answers for benchmarks that models grade: it says
//     C when an answer holds the text of the criterion. It knows nothing but
//     the prompt that any judge would get, and reads it by its fences.
//
// They say nothing about any model and are marked simulated. Their prices are
// published and their usage is counted (four bytes are one token), so that
// quotes, caps and charges on them are real arithmetic. A call leaves no
// trace outside the process.
package practice

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// Adapter answers for every practice route.
type Adapter struct {
	sleep func(context.Context, time.Duration) error
}

var _ provider.Adapter = (*Adapter)(nil)

// New makes the adapter. sleep waits for a duration or until the context
// ends, and then returns its error; Wait is the real one.
func New(sleep func(context.Context, time.Duration) error) *Adapter {
	return &Adapter{sleep: sleep}
}

// Wait sleeps in real time.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Call answers r. A solver needs r.Gold; without it the call is rejected.
func (a *Adapter) Call(ctx context.Context, r provider.Request) provider.Outcome {
	if ctx.Err() != nil {
		return provider.Outcome{Class: provider.NotSent, Code: core.CodeProviderError, Message: "the call was stopped before it was made"}
	}
	id := r.Target.RouteID
	if id == Echo {
		return answer(id, lastUser(r.Messages), r, "")
	}
	if id == Judge {
		return answer(id, opinion(r.Messages), r, "")
	}
	p, ok := solvers[id]
	switch {
	case !ok:
		return refuse(fmt.Sprintf("there is no practice route %q", id))
	case r.Gold == nil:
		return refuse(fmt.Sprintf("%s answers tasks of benchmarks only", id))
	}
	d := decide(id, r.Gold)
	if err := a.sleep(ctx, d.latency()); err != nil {
		return timeout("no answer in time")
	}
	if id == Flaky {
		if o, ok := fault(r, d); ok {
			return o
		}
	}
	return answer(id, reply(r, d.right(p), d.seed), r, d.id())
}

// reply is the solver's text, one that the run's grader calls what it is meant
// to be. Where no text is, as for a task that cannot be got wrong, it is the
// natural one.
func reply(r provider.Request, right bool, seed uint64) string {
	if r.Grader != nil {
		if text, err := bundle.ReplyUnder(r.Grader, *r.Gold, right, seed); err == nil {
			return text
		}
	}
	return bundle.Reply(*r.Gold, right, seed)
}

// Render is the messages, as a stand-in for a request body.
func (a *Adapter) Render(r provider.Request) ([]byte, error) {
	b, err := json.Marshal(struct {
		Route     core.RouteID     `json:"route"`
		Messages  []bundle.Message `json:"messages"`
		MaxOutput int              `json:"max_output_tokens"`
	}{r.Target.RouteID, r.Messages, r.MaxOutput})
	if err != nil {
		return nil, fmt.Errorf("render practice request: %w", err)
	}
	return b, nil
}

// Bound is exact: practice routes bill what they count.
func (a *Adapter) Bound(r provider.Request) int64 { return inputTokens(r) }

// record is the body of an answer. A nil text or usage is a malformed body.
type record struct {
	Route     core.RouteID  `json:"route"`
	Simulated bool          `json:"simulated"`
	ID        string        `json:"id,omitempty"`
	Text      *string       `json:"text"`
	Finish    bundle.Finish `json:"finish"`
	Usage     *core.Usage   `json:"usage"`
}

// Parse reads a recorded body.
func (a *Adapter) Parse(raw []byte) provider.Outcome { return parse(raw) }

func parse(raw []byte) provider.Outcome {
	o := provider.Outcome{Class: provider.Unknown, Raw: raw, Code: core.CodeOutcomeUnknown, Message: "the answer could not be read"}
	var rec record
	if err := json.Unmarshal(raw, &rec); err != nil {
		return o
	}
	o.Model, o.RequestID, o.Usage, o.Finish = string(rec.Route), rec.ID, rec.Usage, rec.Finish
	switch {
	case rec.Text != nil:
		o.Class, o.Code, o.Message, o.Text = provider.Answered, "", "", *rec.Text
	case rec.Usage != nil:
		o.Class, o.Malformed, o.Code = provider.Answered, true, core.CodeInvalidOutput
	}
	return o
}

// answer makes the body and reads it back, so that a call and its record
// cannot differ. Text beyond the output limit is cut off.
func answer(id core.RouteID, text string, r provider.Request, requestID string) provider.Outcome {
	rec := record{Route: id, Simulated: true, ID: requestID, Text: &text, Finish: bundle.FinishStop}
	if limit := r.MaxOutput * bytesPerToken; limit > 0 && len(text) > limit {
		for !utf8.RuneStart(text[limit]) {
			limit--
		}
		text, rec.Finish = text[:limit], bundle.FinishLength
	}
	rec.Usage = &core.Usage{Input: inputTokens(r), Output: tokens(len(text))}
	return received(rec)
}

func received(rec record) provider.Outcome {
	raw, err := json.Marshal(rec)
	if err != nil { // no field of record can fail
		return timeout(err.Error())
	}
	o := parse(raw)
	o.Status = 200
	return o
}

func refuse(message string) provider.Outcome {
	return provider.Outcome{Class: provider.Rejected, Reach: provider.Route, Status: 404, Code: core.CodeProviderError, Message: message}
}

func timeout(message string) provider.Outcome {
	return provider.Outcome{Class: provider.Unknown, Code: core.CodeProviderTimeout, Message: message}
}

const bytesPerToken = 4

func tokens(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }

func inputTokens(r provider.Request) int64 {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return tokens(n)
}

func lastUser(messages []bundle.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == bundle.User {
			return messages[i].Text
		}
	}
	return ""
}
