package sim_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// model is a provider with every fault that a real one has. It remembers
// which prompts it has worked on, which is what a provider bills for.
type model struct {
	w         *world
	processed map[string]int
	faults    bool
	// instead, when set, replaces the drawn fate.
	instead func(provider.Request) provider.Outcome
}

// nonces finds what fences an answer in a judge's prompt.
var nonces = regexp.MustCompile(`\b[0-9a-f]{16}\b`)

// prompt is what was asked of whom. Two requests to a judge about one answer
// are the same work, whatever fences it.
func prompt(r provider.Request) string {
	return string(r.Target.RouteID) + ": " + nonces.ReplaceAllString(r.Messages[len(r.Messages)-1].Text, "NONCE")
}

// fate is what becomes of one call, with its weight.
type fate struct {
	name   string
	weight int
	work   bool // the provider does the work, and would bill it
	judge  bool // befalls calls to judges only
	out    func(*model, provider.Request) provider.Outcome
}

var fates = []fate{
	{"answer", 640, true, false, func(m *model, r provider.Request) provider.Outcome { return m.answer(r, 40, 20) }},
	{"wrong answer", 120, true, false, func(m *model, r provider.Request) provider.Outcome {
		if r.Target.JudgeOnly {
			return m.say("It is not.\nGRADE: I", 40, 20)
		}
		if r.Likelihood {
			return m.say(echo(r, false), 40, 1)
		}
		return m.say(bundle.Reply(*r.Gold, false, 1), 40, 20)
	}},
	{"no verdict", 20, true, true, func(m *model, _ provider.Request) provider.Outcome { return m.say("I would rather not say.", 40, 20) }},
	{"out of range", 25, true, true, func(m *model, _ provider.Request) provider.Outcome { return m.say("GRADE: B", 40, 20) }},
	{"verdict cut off", 10, true, true, func(m *model, _ provider.Request) provider.Outcome { return m.say("GRADE: C"+cut, 40, 20) }},
	{"long answer", 10, true, false, func(m *model, r provider.Request) provider.Outcome {
		return m.say(strings.Repeat("and so on ", 120), 40, 60)
	}},
	{"usage above the bound", 10, true, false, func(m *model, r provider.Request) provider.Outcome { return m.answer(r, 900, 900) }},
	{"no usage", 10, true, false, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 0, 0)
		o.Usage = nil
		return o
	}},
	{"refusal", 20, true, false, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 40, 1)
		o.Refused = true
		return o
	}},
	{"malformed", 10, true, false, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 40, 1)
		o.Malformed = true
		return o
	}},
	{"lost request", 10, false, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Unknown, Code: "reset"}
	}},
	{"lost answer", 20, true, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Unknown, Code: "cut"}
	}},
	{"rate limit", 80, false, false, func(m *model, _ provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Duration(m.w.s.random.IntN(20)) * time.Second}
	}},
	{"quota until later", 12, false, false, func(m *model, _ provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Duration(m.w.s.random.IntN(7200)) * time.Second}
	}},
	{"no connection", 30, false, false, func(*model, provider.Request) provider.Outcome { return provider.Outcome{Class: provider.NotSent} }},
	{"too long", 20, false, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.ThisTask, Status: 400}
	}},
	{"flagged", 5, false, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.ThisTask, Refused: true, Status: 403}
	}},
	{"bad key", 5, false, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Connection, Status: 401}
	}},
	{"no such model", 5, false, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Route, Status: 404}
	}},
}

func (m *model) answer(r provider.Request, in, out int64) provider.Outcome {
	if r.Target.JudgeOnly {
		return m.say("It holds.\nGRADE: C", in, out)
	}
	if r.Likelihood {
		return m.say(echo(r, true), in, min(out, 1))
	}
	return m.say(bundle.Reply(*r.Gold, true, 1), in, out)
}

func (m *model) say(text string, in, out int64) provider.Outcome {
	o := m.Parse([]byte(text))
	o.Status, o.Usage = 200, &core.Usage{Input: in, Output: out}
	return o
}

// cut ends a recorded text that the output limit ended.
const cut = "\x00"

func (m *model) draw(judge bool) fate {
	if !m.faults {
		return fates[0]
	}
	total := 0
	for _, f := range fates {
		if judge || !f.judge {
			total += f.weight
		}
	}
	n := m.w.s.random.IntN(total)
	for _, f := range fates {
		if !judge && f.judge {
			continue
		}
		if n -= f.weight; n < 0 {
			return f
		}
	}
	panic("unreachable")
}

func (m *model) Call(_ context.Context, r provider.Request) provider.Outcome {
	m.w.point("request on its way")
	if m.instead != nil {
		return m.instead(r)
	}
	f := m.draw(r.Target.JudgeOnly)
	m.w.seen[whose(r.Target.JudgeOnly)+f.name]++
	if f.work {
		m.processed[prompt(r)]++
	}
	m.w.point("answer on its way")
	return f.out(m, r)
}

func (m *model) Render(r provider.Request) ([]byte, error) { return json.Marshal(r.Messages) }

// Bound is a constant for models. For judges it follows the prompt, so that an
// answer can be too long to judge.
func (m *model) Bound(r provider.Request) int64 {
	if r.Target.JudgeOnly {
		return int64(len(r.Messages[0].Text))/4 + 8
	}
	return 100
}

func (m *model) Parse(raw []byte) provider.Outcome {
	o := provider.Outcome{Class: provider.Answered, Text: string(raw), Finish: bundle.FinishStop, Raw: raw}
	if text, ok := strings.CutSuffix(o.Text, cut); ok {
		o.Text, o.Finish = text, bundle.FinishLength
	}
	return o
}

func whose(judge bool) string {
	if judge {
		return "judge: "
	}
	return ""
}
