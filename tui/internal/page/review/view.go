package review

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/stat"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// View draws the quote, and the rows below it, which never move.
func (s review) View(c kit.Canvas) {
	w, h := c.Size()
	s.scroll.View(c.Sub(0, 0, w, h-rows-1), s.lines(w))
	c.Text(1, h-rows-1, kit.Strong, plain.Cut(show.F("Credit  %s", s.creditText()), w-2)) // always in sight
	for i := range rows {
		y := h - rows + i
		text, role := s.row(i)
		if text == "" {
			continue
		}
		mark := plain.Safe("  ")
		if i == s.at {
			mark = "▸ "
			if role == kit.Plain {
				role = kit.Focus
			}
			c.Cursor(1, y)
		}
		c.Text(1, y, role, mark+text)
		if i == rowAmount && s.amount != nil {
			s.amount.View(c, 24, y, true)
		}
	}
}

func (s review) row(i int) (plain.Safe, kit.Role) {
	switch i {
	case rowPrice:
		return s.price()
	case rowAmount:
		switch {
		case s.amount != nil:
			return "Another amount:   $ ", kit.Strong
		case s.repeat != nil || s.quote == nil && s.err == nil:
			return "", kit.Plain
		}
		return "Enter another amount", kit.Plain
	}
	return "Cancel, start nothing", kit.Plain
}

func (s review) price() (plain.Safe, kit.Role) {
	start := show.F("Start run, cap %s", show.Money(s.cap()))
	switch {
	case s.repeat != nil:
		return "Run it again, as separate work (a quote comes first)", kit.Plain
	case s.approval.stage == expired:
		return "This quote has expired, nothing was started. Enter asks for a new one", kit.Plain
	case s.err != nil && s.approval.stage == closed:
		return "Ask for a quote again", kit.Plain
	case s.approval.stage == sent:
		return "Sent. Asking whether it started…", kit.Strong
	case s.approval.stage == closed:
		return "Reading the quote…", kit.Plain
	case s.approval.blocked:
		return start + "   not possible: the credit is too small", kit.Plain
	case s.approval.stage == armed:
		return start + "      ENTER TO CONFIRM", kit.Armed
	}
	return start + "      Enter", kit.Plain
}

// lines are the quote. It holds no forecast, because there is none that could
// be kept.
func (s review) lines(w int) []kit.Line {
	var out []kit.Line
	state := plain.Safe(" NOTHING HAS STARTED")
	if s.approval.stage == sent {
		state = " A START WAS SENT"
	}
	out = append(out, kit.Line{Text: state, Role: kit.Strong})
	if s.err != nil {
		out = append(out, show.Problem(" There is no quote to start.", s.err, false)...)
	}
	if s.repeat != nil {
		r := s.repeat.run
		out = append(out, kit.Line{Text: show.F(" Run %s did the same and has just ended (%s).", show.Short(r.ID), r.Status), Role: kit.Warn})
	}
	for _, n := range s.notes {
		out = append(out, show.Pairs(w, [2]string{"Note", n})...)
	}
	if q := s.quote; q != nil {
		out = append(out, s.quoteLines(*q, w)...)
	} else if s.err == nil && s.repeat == nil {
		out = append(out, kit.Line{Text: " Asking for the quote…"})
	}
	return out
}

func (s review) quoteLines(q api.QuoteRecord, w int) []kit.Line {
	out := show.Pairs(w, [2]string{"Quote", show.Short(q.ID) + "   " + s.expiry(q)})
	for _, p := range q.Plan.Profiles {
		can := ""
		if d, ok := stat.Detectable(p.SelectedCount); ok {
			can = fmt.Sprintf("differences of about %.0f points between two models (paired, 80 %% power)", 100*d)
		}
		out = append(out, show.Pairs(w, [2]string{"Benchmark", p.ID}, [2]string{"Coverage", show.CoverageText(p, &q.Plan.Coverage)}, [2]string{"Can show", can})...)
	}
	kind := ""
	if m := q.Plan.Model.Selected; m != nil && m.Simulated {
		kind = "   practice route: simulated, no real model"
	}
	think := ""
	if q.Reasoning != nil {
		think = show.Reasoning(q.Reasoning)
	}
	out = append(out, show.Pairs(w, [2]string{"Model", q.Plan.Model.Name() + kind}, [2]string{"Reasoning", think}, [2]string{"Rates", s.rates(q)})...)
	for _, p := range q.Plan.Profiles {
		out = append(out, judgeLines(p.Judge, w)...)
	}
	least := ""
	if q.MinimumCapMicrousd != nil {
		least = fmt.Sprintf(" (the least that pays for one task is %s)", show.Money(*q.MinimumCapMicrousd))
	}
	reasons := ""
	if len(q.Concurrency.Reasons) > 0 {
		reasons = " (" + q.Concurrency.Reasons[0] + ")"
	}
	out = append(out, show.Pairs(w,
		[2]string{"Cap", show.Money(s.cap()) + ", hard" + least},
		[2]string{"Concurrency", fmt.Sprintf("%s, at most %s%s", q.Concurrency.Requested, show.Plural(q.Concurrency.RunCeiling, "call"), reasons)},
		[2]string{"Compatible", compatible(q.Compatibility)}, [2]string{"Outside", show.Text(q.ExternalCharges)},
	)...)
	for _, warning := range q.Plan.Warnings {
		out = append(out, show.Pairs(w, [2]string{"Warning", warning})...)
	}
	return out
}

// rates are the quote's prices; those that changed since the quote that was
// approved before say so.
func (s review) rates(q api.QuoteRecord) string {
	now := show.Rates(q.Plan.Pricing)
	if s.before == nil {
		return now
	}
	if was := show.Rates(s.before.Plan.Pricing); was != now {
		return now + "   CHANGED, was " + was
	}
	return now
}

func (s review) expiry(q api.QuoteRecord) string {
	if s.approval.stage == closed && s.answer == nil {
		return ""
	}
	if s.approval.stage == expired {
		return "expired"
	}
	left := time.Duration(q.ExpiresIn) * time.Second
	if !s.clock.IsZero() {
		left = min(left, s.approval.ends.Sub(s.clock))
	}
	left = max(left, 0).Round(time.Second)
	return fmt.Sprintf("expires in %02d:%02d", int(left.Minutes()), int(left.Seconds())%60)
}

// creditText is the money that can pay for it. What could not be read is not
// shown as nothing.
func (s review) creditText() string {
	switch {
	case s.credit == nil:
		return "reading…"
	case s.credit.err != nil:
		return "unavailable: it could not be read. The service checks it itself"
	}
	free, _ := s.free()
	kind := "free"
	if s.credit.record.Practice != nil && s.draft.Practice {
		kind = "of practice credit free"
	}
	text := fmt.Sprintf("%s %s at %s", show.Money(free), kind, s.credit.record.AsOf.Local().Format("15:04:05"))
	if free < s.cap() {
		return fmt.Sprintf("%s; short by %s of this cap", text, show.Money(s.cap()-free))
	}
	return fmt.Sprintf("%s, %s after this cap is held", text, show.Money(free-s.cap()))
}

func compatible(c api.Compatibility) string {
	if c.OK {
		return "yes"
	}
	s := "no"
	for _, r := range c.Reasons {
		s += ": " + r.Message
	}
	return s
}

// judgeLines are who grades, at which rates: their calls count against the same
// cap.
func judgeLines(j *api.JudgeSelection, w int) (out []kit.Line) {
	if j == nil {
		return nil
	}
	raw, err := json.Marshal(j.Protocol["judges"])
	var panel []api.SelectedModel
	if err != nil || json.Unmarshal(raw, &panel) != nil || len(panel) == 0 {
		panel = []api.SelectedModel{j.Model}
	}
	for _, m := range panel {
		name := m.ModelID
		if m.RouteID != nil {
			name = *m.RouteID
		}
		out = append(out, show.Pairs(w, [2]string{"Judge", name + "   " + show.Rates(m.Pricing)})...)
	}
	return out
}

// Head names the keys of the page.
func (s review) Head() kit.Head {
	h := kit.Head{Place: "Run  4/4  Review the quote", Note: s.note, Keys: []kit.Binding{
		{Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "choose"}, {Keys: "PgUp PgDn", Does: "scroll (clears a pending start)"},
		{Keys: "F5", Does: "reads the credit again", Quiet: true},
	}}
	switch {
	case h.Note != "":
	case s.approval.stage == armed:
		h.Note = "Pending: Enter starts the run. Any other key or a resize clears it"
		h.Keys = []kit.Binding{{Keys: "Enter", Does: "confirm"}, {Keys: "any other key", Does: "clears the pending start"}}
	case s.err != nil && flow.Outage(s.err):
		h.Note = "The service does not answer"
	case s.approval.stage == sent:
		h.Note = "A start was sent"
	default:
		h.Note = "The first Enter only arms the row; a second one starts"
	}
	return h
}
