package sim_test

import (
	"context"
	"encoding/json"
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

func prompt(r provider.Request) string { return r.Messages[len(r.Messages)-1].Text }

// fate is what becomes of one call, with its weight.
type fate struct {
	name   string
	weight int
	work   bool // the provider does the work, and would bill it
	out    func(*model, provider.Request) provider.Outcome
}

var fates = []fate{
	{"answer", 640, true, func(m *model, r provider.Request) provider.Outcome { return m.answer(r, 40, 20) }},
	{"wrong answer", 120, true, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 40, 20)
		o.Text = bundle.Reply(*r.Gold, false, 1)
		o.Raw = []byte(o.Text)
		return o
	}},
	{"usage above the bound", 10, true, func(m *model, r provider.Request) provider.Outcome { return m.answer(r, 900, 900) }},
	{"no usage", 5, true, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 0, 0)
		o.Usage = nil
		return o
	}},
	{"refusal", 20, true, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 40, 1)
		o.Refused = true
		return o
	}},
	{"malformed", 10, true, func(m *model, r provider.Request) provider.Outcome {
		o := m.answer(r, 40, 1)
		o.Malformed = true
		return o
	}},
	{"lost request", 10, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Unknown, Code: "reset"}
	}},
	{"lost answer", 20, true, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Unknown, Code: "cut"}
	}},
	{"rate limit", 80, false, func(m *model, _ provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Duration(m.w.s.random.IntN(20)) * time.Second}
	}},
	{"quota until later", 6, false, func(m *model, _ provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Duration(m.w.s.random.IntN(7200)) * time.Second}
	}},
	{"no connection", 30, false, func(*model, provider.Request) provider.Outcome { return provider.Outcome{Class: provider.NotSent} }},
	{"too long", 20, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.ThisTask, Status: 400}
	}},
	{"flagged", 5, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.ThisTask, Refused: true, Status: 403}
	}},
	{"bad key", 5, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Connection, Status: 401}
	}},
	{"no such model", 5, false, func(*model, provider.Request) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Route, Status: 404}
	}},
}

func (m *model) answer(r provider.Request, in, out int64) provider.Outcome {
	text := bundle.Reply(*r.Gold, true, 1)
	return provider.Outcome{Class: provider.Answered, Text: text, Finish: bundle.FinishStop, Raw: []byte(text), Status: 200, Usage: &core.Usage{Input: in, Output: out}}
}

func (m *model) draw() fate {
	if !m.faults {
		return fates[0]
	}
	total := 0
	for _, f := range fates {
		total += f.weight
	}
	n := m.w.s.random.IntN(total)
	for _, f := range fates {
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
	f := m.draw()
	m.w.seen[f.name]++
	if f.work {
		m.processed[prompt(r)]++
	}
	m.w.point("answer on its way")
	return f.out(m, r)
}

func (m *model) Render(r provider.Request) ([]byte, error) { return json.Marshal(r.Messages) }
func (m *model) Bound(provider.Request) int64              { return 100 }
func (m *model) Parse(raw []byte) provider.Outcome {
	return provider.Outcome{Class: provider.Answered, Text: string(raw), Finish: bundle.FinishStop, Raw: raw}
}
