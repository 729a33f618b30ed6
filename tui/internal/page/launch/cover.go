package launch

import (
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/stat"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Bounds of a custom sample, and what is suggested.
const (
	sampleMost    = 1000
	suggested     = 25
	seed          = 42
	suggestedCap  = "5.00"
	rowSuggested  = 0
	rowCustom     = 1
	rowFull       = 2
	rowCap        = 3
	rowQuote      = 4
	explainedFrom = 10
)

type cover struct {
	draft  route.Draft
	at     int // the row with the focus
	choice int // the row of the chosen coverage
	custom kit.Input
	cap    kit.Input
	note   plain.Safe
}

// Cover is how much of the benchmark to run, and the most that it may cost.
func Cover(d route.Draft) (kit.Screen, []kit.Effect) {
	return cover{draft: d, cap: kit.NewInput(suggestedCap)}, nil
}

func (s cover) tasks() (int, bool) {
	if n := s.draft.Benchmark.TaskCount; n != nil {
		return *n, true
	}
	return 0, false
}

func (s cover) suggested() int {
	n := suggested
	if c := s.draft.Benchmark.SuggestedSampleCount; c != nil && *c > 0 {
		n = *c
	}
	if all, known := s.tasks(); known {
		n = min(n, all)
	}
	return n
}

// most is the largest custom sample.
func (s cover) most() int {
	if all, known := s.tasks(); known {
		return min(sampleMost, all)
	}
	return sampleMost
}

// Update moves, chooses and types.
func (s cover) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case kit.Paste:
		return s.typed(m), nil
	case kit.Mouse:
		if m.Kind == kit.Click {
			return s.click(m), nil
		}
		return s, nil
	case kit.Press:
		return s.press(m)
	}
	return s, nil
}

func (s cover) press(p kit.Press) (kit.Screen, []kit.Effect) {
	s.note = ""
	text := s.at == rowCustom || s.at == rowCap
	switch {
	case p.Key == kit.Up || p.Key == kit.BackTab:
		s.at = max(s.at-1, 0)
	case p.Key == kit.Down:
		s.at = min(s.at+1, rowQuote)
	case p.Key == kit.Tab:
		return s.quote()
	case listing.IsBack(p, text):
		return s, kit.Do(kit.Back{})
	case p.Key == kit.Enter && s.at >= rowCap:
		return s.quote()
	case s.at <= rowFull && (p.Key == kit.Enter || p.Key == kit.Char && p.Rune == ' '):
		s.choice = s.at
	case text:
		return s.typed(p), nil
	}
	return s, nil
}

func (s cover) typed(m kit.Msg) cover {
	switch s.at {
	case rowCustom:
		if in, ok := s.custom.Update(m); ok {
			s.custom, s.choice = in, rowCustom
		}
	case rowCap:
		s.cap, _ = s.cap.Update(m)
	}
	return s
}

// rowAt are the rows of the body where the fields stand.
func rowAt() map[int]int {
	return map[int]int{rowSuggested: 3, rowCustom: 4, rowFull: 5, rowCap: 8, rowQuote: 9}
}

func (s cover) click(m kit.Mouse) cover {
	for field, y := range rowAt() {
		if m.Y == y {
			if s.at = field; field <= rowFull {
				s.choice = field
			}
		}
	}
	return s
}

// coverage is what was chosen, or why it cannot be.
func (s cover) coverage() (api.Coverage, plain.Safe) {
	n := s.suggested()
	switch s.choice {
	case rowFull:
		return api.Coverage{Mode: api.Full}, ""
	case rowCustom:
		var err error
		n, err = strconv.Atoi(strings.TrimSpace(s.custom.Text()))
		if err != nil || n < 1 || n > s.most() {
			return api.Coverage{}, show.F("The custom sample size is a whole number from 1 to %s", show.Thousands(s.most()))
		}
	}
	sd := uint32(seed)
	return api.Coverage{Mode: api.Sample, SampleCount: &n, Seed: &sd}, ""
}

func (s cover) quote() (kit.Screen, []kit.Effect) {
	c, why := s.coverage()
	if why != "" {
		s.note, s.at = why, rowCustom
		return s, nil
	}
	spend, why := capOf(s.cap)
	if why != "" {
		s.note, s.at = why, rowCap
		return s, nil
	}
	d := s.draft
	d.Coverage, d.Cap = c, spend
	return s, kit.Do(kit.Go{To: route.Review{Draft: d}})
}

// View draws the form.
func (s cover) View(c kit.Canvas) {
	at := rowAt()
	w, h := c.Size()
	line := func(y int, r kit.Role, s plain.Safe) { c.Text(1, y, r, plain.Cut(s, w-2)) }
	line(0, kit.Strong, show.F("%s   %s", s.draft.Benchmark.ID, s.who()))
	line(2, kit.Strong, "Coverage                             differences shown")
	s.radio(c, rowSuggested, show.F("Suggested sample   %6s", show.Thousands(s.suggested())), detectable(s.suggested()))
	n, err := strconv.Atoi(s.custom.Text())
	if err != nil || n > s.most() {
		n = 0
	}
	s.radio(c, rowCustom, "Custom sample size [      ]", detectable(n))
	s.custom.View(c.Sub(0, 0, 33, at[rowCustom]+1), 27, at[rowCustom], s.at == rowCustom)
	all, known := s.tasks()
	count := "every task"
	if known {
		count = show.Thousands(all)
	}
	s.radio(c, rowFull, show.F("Full benchmark     %6s", count), detectable(all))
	line(6, kit.Plain, show.F("Seed %d: the same seed draws the same tasks", seed))
	s.mark(c, rowCap, "Spending cap       $ [         ]   hard"+s.split())
	s.cap.View(c.Sub(0, 0, 34, at[rowCap]+1), 25, at[rowCap], s.at == rowCap)
	s.mark(c, rowQuote, "Get the quote: nothing is started or charged by it")
	if h > explainedFrom+2 {
		line(explainedFrom+1, kit.Plain, "Before every call its worst price is set aside under the cap; when the")
		line(explainedFrom+2, kit.Plain, "rest of the cap cannot cover the next call, no call is made.")
	}
}

// who is the model with its reasoning, or the models.
func (s cover) who() string {
	if len(s.draft.Picks) == 1 {
		p := s.draft.Picks[0]
		if p.Reasoning == nil {
			return p.Name
		}
		return p.Name + "   reasoning: " + show.Reasoning(p.Reasoning)
	}
	var names []string
	for _, p := range s.draft.Picks {
		names = append(names, p.Name)
	}
	return show.Plural(len(names), "model") + ": " + strings.Join(names, ", ")
}

func (s cover) split() plain.Safe {
	if len(s.draft.Picks) == 1 {
		return ""
	}
	return ", for all together"
}

func (s cover) radio(c kit.Canvas, field int, label, shows plain.Safe) {
	sign := plain.Safe("( ) ")
	if s.choice == field {
		sign = "(•) "
	}
	s.mark(c, field, sign+label)
	c.Text(39, rowAt()[field], kit.Plain, shows)
}

func (s cover) mark(c kit.Canvas, field int, text plain.Safe) {
	y, role := rowAt()[field], kit.Plain
	if s.at == field {
		role = kit.Focus
		c.Text(1, y, role, "▸ ")
		c.Cursor(1, y)
	}
	c.Text(3, y, role, text)
}

// detectable is the smallest difference of two models that n tasks show.
func detectable(n int) plain.Safe {
	d, ok := stat.Detectable(n)
	if n <= 0 || !ok {
		return ""
	}
	return show.F("about %.0f points", 100*d)
}

// Head names the keys of the form.
func (s cover) Head() kit.Head {
	h := kit.Head{Place: "Run  3/4  Coverage and cap", Note: s.note, Keys: []kit.Binding{
		{Keys: "↑↓", Does: "move"}, {Keys: "Space", Does: "choose"}, {Keys: "Tab", Does: "get the quote"}, {Keys: "Type", Does: "a number in a field"},
	}}
	if h.Note == "" {
		h.Note = "A sample is not a full-benchmark score"
	}
	return h
}
