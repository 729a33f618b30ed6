package group

import (
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

const (
	wide = 120 // from here on the member under the cursor stands at the right
	// memberFrom is the row of the first member: the group, its money and the
	// names of the columns stand above.
	memberFrom = 3
)

// View draws the group, its members, their intervals on one axis, and the
// actions.
func (s page) View(c kit.Canvas) {
	w, h := c.Size()
	switch {
	case !s.known && s.err != nil:
		kit.Scroll{}.View(c.Sub(0, 0, w, h-1), show.Problem(" The group could not be read.", s.err, true))
		s.actions.View(c, h-1)
		return
	case !s.known:
		c.Text(1, 0, kit.Plain, show.F("Reading group %s…", show.Short(s.id)))
		c.Cursor(1, 0)
		return
	}
	left := w
	if w >= wide {
		left = w * 6 / 10
		for y := range h - 1 {
			c.Text(left, y, kit.Plain, "│")
		}
		kit.Scroll{}.View(c.Sub(left+2, 0, w-left-2, h-1), s.memberLines(w-left-2))
	}
	s.members(c.Sub(0, 0, left, h-1))
	if s.at < len(s.group.Members) {
		s.actions.Resting(c, h-1)
		return
	}
	s.actions.View(c, h-1)
}

func (s page) members(c kit.Canvas) {
	w, h := c.Size()
	g := s.group
	done, planned := counts(g)
	x := c.Text(1, 0, kit.Strong, plain.Cut(plain.Line(show.Benchmark(g)), w/2))
	x = c.Text(x+3, 0, show.StatusRole(plain.Line(string(g.Status))), plain.Line(string(g.Status)))
	c.Text(x, 0, kit.Plain, plain.Cut(show.F("%s   %s/%s done   %s", s.age(), show.Thousands(done), show.Thousands(planned), s.coverage()), w-x-1))
	s.table().View(c.Sub(0, memberFrom-2, w, len(g.Members)+2))
	c.Sub(0, memberFrom-2, w, 1).Clear() // a list of eight needs no filter
	c.Text(1, 1, kit.Plain, show.Whole("Money  "+money(g), w-2))
	kit.Scroll{}.View(c.Sub(0, memberFrom+len(g.Members), w, h-memberFrom-len(g.Members)), s.below(w))
}

// age is how long the group has been going on, or went on.
func (s page) age() string {
	switch g := s.group; {
	case s.update.Elapsed > 0:
		return "   " + clock(s.update.Elapsed)
	case g.StartedAt != nil && g.FinishedAt != nil:
		return "   " + clock(g.FinishedAt.Sub(*g.StartedAt))
	}
	return ""
}

// table are the members as rows, with the cursor on one of them.
func (s page) table() kit.Table {
	t := kit.NewTable(
		kit.Column{Name: "MODEL"}, kit.Column{Name: "STATE", Whole: true, Role: show.StatusRole}, kit.Column{Name: "DONE", Right: true, Whole: true, Drop: 2},
		kit.Column{Name: "SO FAR", Whole: true}, kit.Column{Name: "SPENT", Right: true, Whole: true, Drop: 1}, kit.Column{Name: "CAP", Right: true, Whole: true, Drop: 4},
		kit.Column{Name: "KIND", Whole: true, Drop: 3}, kit.Column{Name: "RUN", Whole: true, Drop: 5},
	)
	var rows []kit.Row
	var keys []string
	for _, m := range s.group.Members {
		rows = append(rows, kit.Row{
			plain.Line(name(m)), plain.Line(string(m.Status)), plain.Line(show.Thousands(m.ProcessedCount) + "/" + show.Thousands(m.PlannedCount)), plain.Line(soFar(m)),
			plain.Line(show.Money(m.SpendMicrousd)), plain.Line(show.Money(m.CapMicrousd)), plain.Line(show.Kind(m.Model.Simulated)), plain.Line(show.Short(m.RunID)),
		})
		keys = append(keys, m.RunID)
	}
	return t.With(rows, keys).Sized(len(rows) + 2).At(s.at)
}

func (s page) coverage() string {
	g := s.group
	if len(g.Profiles) == 0 {
		return ""
	}
	p := g.Profiles[0]
	if p.SelectedCount >= p.PopulationCount {
		return "all " + show.Plural(p.PopulationCount, "task")
	}
	seed := ""
	if g.Coverage != nil && g.Coverage.Seed != nil {
		seed = fmt.Sprintf(", seed %d", *g.Coverage.Seed)
	}
	return show.Plural(p.SelectedCount, "task") + seed + " (a sample)"
}

func money(g api.GroupRecord) string {
	s := fmt.Sprintf("%s spent of a hard cap of %s", show.Money(g.SpendMicrousd), show.Money(g.CapMicrousd))
	if g.CapMicrousd > 0 {
		s += fmt.Sprintf(" (%d %%)", int64(g.SpendMicrousd)*100/int64(g.CapMicrousd))
	}
	return s + fmt.Sprintf(" · %s reserved", show.Money(g.ReservedMicrousd))
}

// below is what is wrong, then the intervals on one axis, and what there is to
// say about them.
func (s page) below(w int) []kit.Line {
	out := append(s.trouble(), axes(s.group.Members, w)...)
	if s.group.Status.Terminal() {
		return append(append(out, kit.Line{Text: " All members have ended. C compares them."}), chain(s.group)...)
	}
	return append(out, kit.Line{Text: " Interim, still moving. No ranking until all have ended."})
}

// chain is how an ended group stands among those that go on with each other.
func chain(g api.GroupRecord) (out []kit.Line) {
	if id := g.ContinuedByGroupID; id != nil {
		return []kit.Line{{Text: show.F(" It was resumed: group %s goes on with it.", show.Short(*id))}}
	}
	if g.Resumable() {
		return []kit.Line{{Text: " Something is left to run. R resumes it, after a quote."}}
	}
	return nil
}

// axes draw every member's interval on the same line from 0 to 100 %. Names have
// up to two fifths of it: models of one family differ at their ends.
func axes(members []api.GroupMember, w int) []kit.Line {
	names := 12
	for _, m := range members {
		names = max(names, plain.Width(plain.Line(name(m)))+1)
	}
	names = min(names, w*2/5)
	var out []kit.Line
	for _, m := range members {
		h := m.Headline
		if h == nil {
			continue
		}
		lo, hi, ok := show.Bounds(h.Value, h.Denominator, h.Interval, true)
		if !ok {
			continue
		}
		scale, bar := show.Axis(w-names-2, h.Value, lo, hi)
		if out == nil {
			out = append(out, kit.Line{Text: " " + plain.Pad("", names) + scale})
		}
		out = append(out, kit.Line{Text: " " + plain.Pad(plain.Cut(plain.Line(name(m)), names-1), names) + bar})
	}
	return out
}

// trouble says how old the figures are when the service does not answer.
func (s page) trouble() (out []kit.Line) {
	switch u := s.update; {
	case s.err != nil:
		return show.Problem(" Not watching any more.", s.err, false)
	case u.Down > 0:
		out = append(out, kit.Line{Role: kit.Warn, Text: show.F(" Not connected for %s, trying again in %s. %s",
			clock(u.Down), u.Retry.Round(time.Second), flow.Cause(u.Cause))})
		return append(out, kit.Line{Text: " The last figures read. The runs go on; their caps hold."})
	}
	return nil
}

// memberLines are the member under the cursor, in full.
func (s page) memberLines(w int) []kit.Line {
	if s.at >= len(s.group.Members) {
		return []kit.Line{{Text: " ↑ goes to the members"}}
	}
	m := s.group.Members[s.at]
	out := []kit.Line{{Text: show.F(" %s   %s", show.Short(m.RunID), name(m)), Role: kit.Strong}, {Text: show.F(" %s", m.Status), Role: show.StatusRole(plain.Line(string(m.Status)))}}
	count := fmt.Sprintf("  %s of %s", show.Thousands(m.ProcessedCount), show.Thousands(m.PlannedCount))
	out = append(out, kit.Line{Text: " " + show.Progress(max(w-len(count)-3, 5), m.ProcessedCount, m.PlannedCount) + plain.Line(count)})
	think := ""
	if m.Reasoning != nil {
		think = show.Reasoning(m.Reasoning)
	}
	rate := "no score yet"
	if h := m.Headline; h != nil && h.Denominator > 0 {
		rate = show.Rate(h.Value, h.Denominator, h.Interval, true)
	}
	why := ""
	if r := m.TerminalReason; r != nil && *r != "completed" {
		why = show.Words(*r)
	}
	return append(out, show.Pairs(w,
		[2]string{"Reasoning", think}, [2]string{"Score", rate},
		[2]string{"Graded", fmt.Sprintf("%s, errors %s", show.Thousands(m.GradedCount), show.Thousands(m.ErrorCount))},
		[2]string{"Money", fmt.Sprintf("%s spent · %s reserved · cap %s", show.Money(m.SpendMicrousd), show.Money(m.ReservedMicrousd), show.Money(m.CapMicrousd))},
		[2]string{"Why", why}, [2]string{"Kind", show.Kind(m.Model.Simulated)},
	)...)
}

func clock(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// Head names the keys of the page.
func (s page) Head() kit.Head {
	h := kit.Head{Place: show.F("Group %s", show.Short(s.id)), Note: s.note}
	if s.watching {
		h.Place = show.F("Group %s  watching live", show.Short(s.id))
	}
	if h.Note == "" {
		h.Note = "Stays here until you choose"
		if s.watching {
			h.Note = "Leaving stops watching only; the runs go on"
		}
	}
	h.Keys = []kit.Binding{{Keys: "Enter", Does: "open member"}}
	for _, a := range s.items {
		if a.Key == 0 {
			continue
		}
		h.Keys = append(h.Keys, kit.Binding{Keys: plain.Line(string(a.Key - 'a' + 'A')), Does: a.Label})
	}
	h.Keys = append(h.Keys, kit.Binding{Keys: "↑↓", Does: "move"}, kit.Binding{Keys: "Tab", Does: "to the actions, and along them"},
		kit.Binding{Keys: "F5", Does: "reads again", Quiet: true}, kit.Binding{Keys: "Esc/←", Does: "leave the view; the runs go on", Quiet: true})
	return h
}
