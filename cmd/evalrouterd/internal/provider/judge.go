package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// RequestForJudge is what a judge of a quote is asked, without the credential.
// A judge sees its prompt and nothing else: no gold, no tools, no secrets.
func RequestForJudge(j core.Judge, prompt []bundle.Message) Request {
	return Request{Target: j.Target, Messages: prompt, MaxOutput: j.MaxOutputTokens, Attempt: 1}
}

// JudgeWorst is the most that one request to a judge can cost.
func (s Set) JudgeWorst(j core.Judge, r Request) (usd.Micro, error) {
	adapter, ok := s[j.Target.Protocol]
	if !ok {
		return 0, fmt.Errorf("no adapter speaks %s", j.Target.Protocol)
	}
	w, _, err := j.Target.Worst(adapter.Bound(r), r.MaxOutput)
	return w, err
}

// blankNonce stands for a nonce where only the length of a prompt counts. It
// has the length of a drawn one.
const blankNonce = "0000000000000000"

// Pledge is what a task's judges may cost at most, for an answer of up to the
// quote's AnswerBytes. It is set aside together with the task's own call.
func (s Set) Pledge(q core.Quote, g bundle.Judged, t bundle.Task) (total usd.Micro, err error) {
	nonce := blankNonce
	for try := 0; ; try++ {
		prompt, err := g.Prompt(t, bundle.Answer{Text: strings.Repeat("x", q.AnswerBytes())}, nonce)
		if errors.Is(err, bundle.ErrNonce) && try < 16 {
			nonce = fmt.Sprintf("%016x", try+1) // the task itself holds the last one
			continue
		}
		if err != nil {
			return 0, err
		}
		for _, j := range q.Judges {
			w, err := s.JudgeWorst(j, RequestForJudge(j, prompt))
			if err != nil {
				return 0, fmt.Errorf("bound judge %s: %w", j.Target.Name(), err)
			}
			if total, err = total.Add(w); err != nil {
				return 0, fmt.Errorf("bound judges: %w", err)
			}
		}
		return total, nil
	}
}
