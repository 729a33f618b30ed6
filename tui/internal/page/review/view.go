package review

import (
	"fmt"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/consent"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// View draws the quote, and the rows below it, which never move.
func (s review) View(c kit.Canvas) {
	w, h := c.Size()
	s.scroll.View(c.Sub(0, 0, w, h-rows-1), s.lines(w))
	c.Text(1, h-rows-1, kit.Strong, show.Whole("Credit  "+s.creditText(), w-2)) // always in sight
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
		case s.question != nil || s.offer == nil && s.err == nil:
			return "", kit.Plain
		}
		return "Enter another amount", kit.Plain
	}
	return "Cancel, start nothing", kit.Plain
}

func (s review) price() (plain.Safe, kit.Role) {
	start := show.F("%s, cap %s", s.work.start, show.Money(s.cap()))
	switch {
	case s.question != nil:
		return s.question.yes, kit.Plain
	case s.approval.Stage == consent.Expired:
		return "This quote has expired, nothing was started. Enter asks for a new one", kit.Plain
	case s.err != nil && s.approval.Stage == consent.Closed:
		return "Ask for a quote again", kit.Plain
	case s.approval.Stage == consent.Sent:
		return "Sent. Asking whether it started…", kit.Strong
	case s.approval.Stage == consent.Closed:
		return "Reading the quote…", kit.Plain
	case s.approval.Blocked:
		return start + "   not possible: the credit is too small", kit.Plain
	case s.approval.Stage == consent.Armed:
		return start + "      ENTER TO CONFIRM", kit.Armed
	}
	return start + "      Enter", kit.Plain
}

// lines are the quote, with what was said beside it.
func (s review) lines(w int) []kit.Line {
	var out []kit.Line
	state := plain.Safe(" NOTHING HAS STARTED")
	if s.approval.Stage == consent.Sent {
		state = " A START WAS SENT"
	}
	out = append(out, kit.Line{Text: state, Role: kit.Strong})
	if s.err != nil {
		out = append(out, show.Problem(" There is no quote to start.", s.err, false)...)
	}
	if s.question != nil {
		for _, part := range kit.Wrap(s.question.text, w-2) {
			out = append(out, kit.Line{Text: " " + part, Role: kit.Warn})
		}
	}
	for _, n := range s.notes {
		out = append(out, show.Pairs(w, [2]string{"Note", n})...)
	}
	if o := s.offer; o != nil {
		out = append(out, show.Pairs(w, [2]string{"Quote", show.Short(o.id) + "   " + s.expiry(*o)})...)
		out = append(out, o.lines(w, *o, s.before)...)
	} else if s.err == nil && s.question == nil {
		out = append(out, kit.Line{Text: " Asking for the quote…"})
	}
	return out
}

func (s review) expiry(o offer) string {
	if s.approval.Stage == consent.Closed && s.answer == nil {
		return ""
	}
	if s.approval.Stage == consent.Expired {
		return "expired"
	}
	left := time.Duration(o.expiresIn) * time.Second
	if !s.clock.IsZero() {
		left = min(left, s.approval.Ends.Sub(s.clock))
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
	read := " (" + s.credit.record.AsOf.Local().Format("15:04") + ")"
	all := s.purses()
	if len(all) == 0 {
		return show.Money(s.credit.record.AvailableMicrousd) + " free" + read
	}
	var parts []string
	for _, p := range all {
		text := show.Money(p.free) + " " + p.kind + read
		if read = ""; p.free < p.holds {
			text += fmt.Sprintf("; short by %s of this cap", show.Money(p.holds-p.free))
		} else {
			text += fmt.Sprintf(", %s after this cap", show.Money(p.free-p.holds))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// Head names the keys of the page.
func (s review) Head() kit.Head {
	h := kit.Head{Place: s.work.place, Note: s.note, Keys: []kit.Binding{
		{Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "choose"}, {Keys: "PgUp PgDn", Does: "scroll (clears a pending start)"},
		{Keys: "F5", Does: "reads the credit again", Quiet: true},
	}}
	switch {
	case h.Note != "":
	case s.approval.Stage == consent.Armed:
		h.Note = "Pending: Enter starts it; anything else clears it"
		h.Keys = []kit.Binding{{Keys: "Enter", Does: "confirm"}, {Keys: "any other key", Does: "clears the pending start"}}
	case s.question != nil:
		h.Note = "The answer to this starts nothing"
	case s.err != nil && flow.Outage(s.err):
		h.Note = "The service does not answer"
	case s.approval.Stage == consent.Sent:
		h.Note = "A start was sent"
	default:
		h.Note = "The first Enter only arms the row; a second one starts"
	}
	return h
}
