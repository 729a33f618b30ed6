package families

import (
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/reasoning"
)

// visible grades what a model answered and not what it thought aloud.
type visible struct{ bundle.Grader }

// goldVisible keeps the form that the grader within writes gold in.
type goldVisible struct {
	visible
	bundle.GoldWriter
}

// judgedVisible shows judges what a model answered, and reads what they
// answered.
type judgedVisible struct {
	visible
	judged bundle.Judged
}

// likelyVisible reads log probabilities, in which nothing is thought aloud.
type likelyVisible struct {
	goldVisible
	likely bundle.Likely
}

var (
	_ bundle.GoldWriter = goldVisible{}
	_ bundle.Likely     = likelyVisible{}
	_ bundle.Judged     = judgedVisible{}
)

func answersOnly(g bundle.Grader) bundle.Grader {
	if j, ok := g.(bundle.Judged); ok {
		return judgedVisible{visible{g}, j}
	}
	if w, ok := g.(bundle.GoldWriter); ok {
		if l, ok := g.(bundle.Likely); ok {
			return likelyVisible{goldVisible{visible{g}, w}, l}
		}
		return goldVisible{visible{g}, w}
	}
	return visible{g}
}

// Identity adds the version of the reasoning rule to the compatibility class:
// another rule could give another verdict.
func (v visible) Identity() bundle.Identity {
	id := v.Grader.Identity()
	id.Compat += "/reasoning@" + reasoning.Version
	return id
}

// Sampling implements bundle.Sampled.
func (v visible) Sampling() bundle.Sampling { return bundle.SamplingOf(v.Grader) }

// Grade takes reasoning off before grading. Spans count from the start of the
// answer as it was recorded.
func (v visible) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	seen := reasoning.Visible(a.Text)
	if !seen.Found {
		return v.Grader.Grade(t, a)
	}
	if seen.Open {
		return notClosed(), nil
	}
	out, err := v.Grader.Grade(t, bundle.Answer{Text: seen.Text, Finish: a.Finish})
	if err != nil || out.Span == nil {
		return out, err
	}
	shift := utf8.RuneCountInString(a.Text[:seen.From])
	out.Span = &[2]int{out.Span[0] + shift, out.Span[1] + shift}
	return out, nil
}

func notClosed() bundle.Verdict {
	return bundle.Verdict{Outcome: bundle.Truncated, Rule: "reasoning not closed"}
}

// Asks implements bundle.Likely.
func (v likelyVisible) Asks(t bundle.Task) ([]bundle.Ask, error) { return v.likely.Asks(t) }

// Read implements bundle.Likely.
func (v likelyVisible) Read(a bundle.Ask, response []byte) (bundle.LogProb, error) {
	return v.likely.Read(a, response)
}

// Text implements bundle.Likely.
func (v likelyVisible) Text(t bundle.Task, read []bundle.LogProb) (string, error) {
	return v.likely.Text(t, read)
}

// Panel implements bundle.Judged.
func (v judgedVisible) Panel() bundle.Panel { return v.judged.Panel() }

// Prompt implements bundle.Judged. The nonce must fence the whole text, so that
// it is the same whatever the rule about reasoning is.
func (v judgedVisible) Prompt(t bundle.Task, a bundle.Answer, nonce string) ([]bundle.Message, error) {
	if _, err := v.judged.Prompt(t, a, nonce); err != nil {
		return nil, err
	}
	return v.judged.Prompt(t, answered(a), nonce)
}

// Verdict implements bundle.Judged. An answer whose reasoning was not closed
// needs no judge.
func (v judgedVisible) Verdict(t bundle.Task, a bundle.Answer, replies []bundle.Answer) (bundle.Verdict, error) {
	if reasoning.Visible(a.Text).Open {
		return notClosed(), nil
	}
	read := make([]bundle.Answer, len(replies))
	for i, r := range replies {
		read[i] = answered(r)
	}
	return v.judged.Verdict(t, answered(a), read)
}

// answered is an answer without its reasoning; what was never closed leaves
// nothing.
func answered(a bundle.Answer) bundle.Answer {
	if seen := reasoning.Visible(a.Text); seen.Found {
		a.Text = seen.Text
	}
	return a
}
