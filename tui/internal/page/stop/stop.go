// Package stop is the page on which a run, or all members of a group, are
// stopped. It names what is stopped, what that has cost and what stays; then it
// takes the two Enters that a start takes.
package stop

import (
	"context"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/consent"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Stopper reads and stops what goes on.
type Stopper interface {
	Run(ctx context.Context, id string) (api.RunRecord, error)
	Group(ctx context.Context, id string) (api.GroupRecord, error)
	CancelRun(ctx context.Context, id string) (api.RunRecord, error)
	CancelGroup(ctx context.Context, id string) (api.GroupRecord, error)
}

// Rows that can be chosen.
const (
	rowStop = iota
	rowKeep
	rows
)

type (
	// stood is what goes on, as it was read at a time.
	stood struct {
		standing standing
		err      error
		at       time.Time
	}
	// told is the answer to stopping it.
	told struct{ err error }
)

type page struct {
	stopper  Stopper
	now      func() time.Time // for what reads; the screen itself reads no clock
	to       route.Stop
	standing *standing
	err      error // of reading
	refused  error // of stopping
	approval consent.Approval
	painted  bool
	at       int
	scroll   kit.Scroll
	note     plain.Safe
	w, h     int
}

// New reads what is to be stopped.
func New(s Stopper, now func() time.Time, to route.Stop) (kit.Screen, []kit.Effect) {
	p := page{stopper: s, now: now, to: to}
	return p, p.read()
}

func (s page) read() []kit.Effect {
	r, to, now := s.stopper, s.to, s.now
	return kit.Do(kit.Load{Name: "standing", Do: func(ctx context.Context) kit.Msg {
		if to.Group != "" {
			g, err := r.Group(ctx, to.Group)
			return stood{ofGroup(g), err, now()}
		}
		run, err := r.Run(ctx, to.Run)
		return stood{ofRun(run), err, now()}
	}})
}

func (s page) stop() []kit.Effect {
	r, to := s.stopper, s.to
	return kit.Do(kit.Load{Name: "stop", Do: func(ctx context.Context) kit.Msg {
		if to.Group != "" {
			_, err := r.CancelGroup(ctx, to.Group)
			return told{err}
		}
		_, err := r.CancelRun(ctx, to.Run)
		return told{err}
	}})
}

// Update takes in answers and input. Whatever is not Enter on the first row
// takes a pending confirmation back.
func (s page) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case kit.Tick:
		s.approval = s.approval.At(m.At)
		return s, nil
	case kit.Shown:
		s.painted = true
		s.approval = s.approval.Painted(m.At)
		return s, nil
	case kit.Press:
		s.approval = s.approval.At(m.At)
		return s.press(m)
	}
	s.approval = s.approval.Disturbed()
	switch m := m.(type) {
	case kit.Resize:
		s.w, s.h = m.W, m.H
	case kit.Mouse:
		if i := m.Y - (s.h - rows); m.Kind == kit.Click && i >= 0 && i < rows {
			s.at = i // a click selects only; Enter is needed
			return s, nil
		}
		s.scroll, _ = s.scroll.Update(m, len(s.lines(s.w)), s.h-rows-1)
	case kit.Paste:
		s.note = "Pasted text ignored here"
	case stood:
		return s.with(m), nil
	case told:
		return s.ended(m)
	}
	return s, nil
}

// with is the page with what goes on. Once it is sent only the answer counts: what
// was asked for before would offer it again.
func (s page) with(m stood) page {
	if s.approval.Stage == consent.Sent {
		return s
	}
	s.err = m.err
	if m.err != nil {
		return s
	}
	s.standing = &m.standing
	s.approval = consent.Approval{}
	if m.standing.stoppable {
		s.approval = consent.Offered(m.at, time.Time{})
		s.approval.Shown = s.painted
	}
	return s
}

// ended goes back to where one came from, which shows what becomes of it. An
// answer that did not come is no reason to think either way.
func (s page) ended(m told) (kit.Screen, []kit.Effect) {
	if m.err == nil {
		return s, kit.Do(kit.Back{})
	}
	s.refused, s.standing, s.approval = m.err, nil, consent.Approval{}
	return s, s.read()
}

func (s page) press(p kit.Press) (kit.Screen, []kit.Effect) {
	s.note = ""
	if p.Key == kit.Enter && s.at == rowStop {
		return s.enter(p)
	}
	s.approval = s.approval.Disturbed()
	switch {
	case listing.IsBack(p, false), p.Key == kit.Enter:
		if s.approval.Stage == consent.Sent {
			s.note = "Already sent; wait for the answer"
			return s, nil
		}
		return s, kit.Do(kit.Back{})
	case p.Key == kit.Refresh && s.approval.Stage != consent.Sent:
		s.refused = nil
		return s, s.read()
	case p.Key == kit.Up, p.Key == kit.BackTab:
		s.at = rowStop
	case p.Key == kit.Down, p.Key == kit.Tab, p.Key == kit.Right:
		s.at = rowKeep
	default:
		s.scroll, _ = s.scroll.Update(p, len(s.lines(s.w)), s.h-rows-1)
	}
	return s, nil
}

func (s page) enter(p kit.Press) (kit.Screen, []kit.Effect) {
	switch {
	case s.err != nil || s.standing == nil:
		return s, nil
	case !s.standing.stoppable:
		return s, kit.Do(kit.Back{})
	}
	next, yes := s.approval.Enter(p.At)
	s.approval = next
	if !yes {
		return s, nil
	}
	s.refused = nil
	return s, s.stop()
}

// View draws what would be stopped, and the two rows.
func (s page) View(c kit.Canvas) {
	w, h := c.Size()
	s.scroll.View(c.Sub(0, 0, w, h-rows-1), s.lines(w))
	for i := range rows {
		text, role := s.row(i)
		mark := plain.Safe("  ")
		if i == s.at {
			mark = "▸ "
			if role == kit.Plain {
				role = kit.Focus
			}
			c.Cursor(1, h-rows+i)
		}
		c.Text(1, h-rows+i, role, mark+text)
	}
}

func (s page) row(i int) (plain.Safe, kit.Role) {
	if i == rowKeep {
		return "Back, stop nothing", kit.Plain
	}
	switch {
	case s.approval.Stage == consent.Sent:
		return "Sent. Waiting for the answer…", kit.Strong
	case s.err != nil:
		return "Cannot be stopped while it cannot be read", kit.Plain
	case s.standing == nil:
		return "Reading…", kit.Plain
	case !s.standing.stoppable:
		return s.standing.over, kit.Plain
	case s.approval.Stage == consent.Armed:
		return s.standing.act + "      ENTER TO CONFIRM", kit.Armed
	}
	return s.standing.act + "      Enter", kit.Plain
}

func (s page) lines(w int) (out []kit.Line) {
	if s.refused != nil {
		out = append(out, show.Problem(" It is not confirmed that it was stopped. Again is safe.", s.refused, false)...)
		out = append(out, kit.Line{})
	}
	switch {
	case s.err != nil:
		return append(out, show.Problem(" It could not be read, and nothing was stopped.", s.err, true)...)
	case s.standing == nil:
		return append(out, kit.Line{Text: " Reading what goes on…"})
	}
	return append(out, s.standing.lines(w)...)
}

// Head names the keys of the page.
func (s page) Head() kit.Head {
	h := kit.Head{Place: show.F("Stop run %s", show.Short(s.to.Run)), Note: s.note, Keys: []kit.Binding{
		{Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "choose"}, {Keys: "F5", Does: "reads it again"}, {Keys: "PgUp PgDn", Does: "scroll (clears a pending stop)", Quiet: true},
	}}
	if s.to.Group != "" {
		h.Place = show.F("Stop group %s", show.Short(s.to.Group))
	}
	switch {
	case h.Note != "":
	case s.approval.Stage == consent.Armed:
		h.Note = "Pending: Enter stops it. Any other key or a resize clears it"
	case s.refused != nil && flow.Outage(s.refused):
		h.Note = "The service does not answer"
	default:
		h.Note = "The first Enter only arms the row; a second one stops"
	}
	return h
}

// standing is what goes on, whatever it is.
type standing struct {
	stoppable bool
	act       plain.Safe // what the row does
	over      plain.Safe // why the row does nothing
	rows      [][2]string
	state     api.RunStatus
}

// keeps is what stays of something with so many answers.
func keeps(graded int) string {
	if graded == 0 {
		return "nothing is graded yet"
	}
	return show.Plural(graded, "graded answer") + " with their score and evidence; resuming pays for the others only"
}

func of(state api.RunStatus, act, subject string) standing {
	s := standing{state: state, act: plain.Line(act)}
	switch {
	case state.Terminal():
		s.over = plain.Line(subject + " has ended; there is nothing to stop")
	case state == api.StatusCancelling:
		s.over = plain.Line(subject + " is being stopped already")
	case state == api.StatusFinalizing:
		s.over = plain.Line(subject + " is being finished; there is nothing left to stop")
	default:
		s.stoppable = true
	}
	return s
}

func ofRun(r api.RunRecord) standing {
	s := of(r.Status, "Stop the run", "The run")
	done := flow.Processed(r)
	s.rows = [][2]string{
		{"Run", show.Short(r.ID) + "   " + show.Profile(r) + "   " + r.Model.Name()},
		{"State", fmt.Sprintf("%s, %s of %s", show.Status(r), show.Thousands(done), show.Plural(r.PlannedCount, "task"))},
		{"Money", money(show.Money(r.SpendMicrousd), show.Money(r.ReservedMicrousd))},
		{"What stays", keeps(r.GradedCount)},
	}
	return s
}

func ofGroup(g api.GroupRecord) standing {
	going, done, planned, graded := 0, 0, 0, 0
	for _, m := range g.Members {
		done, planned, graded = done+m.ProcessedCount, planned+m.PlannedCount, graded+m.GradedCount
		if !m.Status.Terminal() {
			going++
		}
	}
	s := of(g.Status, "Stop "+show.Plural(going, "run"), "The group")
	profile := "-"
	if len(g.Profiles) > 0 {
		profile = g.Profiles[0].ID
	}
	s.rows = [][2]string{
		{"Group", show.Short(g.ID) + "   " + profile + "   " + show.Plural(len(g.Members), "model")},
		{"State", fmt.Sprintf("%s, %s of %s", show.Words(string(g.Status)), show.Thousands(done), show.Plural(planned, "task"))},
		{"Money", money(show.Money(g.SpendMicrousd), show.Money(g.ReservedMicrousd))},
		{"What stays", keeps(graded)},
	}
	if n := len(g.Members) - going; n > 0 && s.stoppable {
		s.rows = append(s.rows, [2]string{"Untouched", show.Plural(n, "run") + " that ended before"})
	}
	return s
}

func money(spent, reserved string) string {
	return fmt.Sprintf("%s spent, which stays charged · %s reserved", spent, reserved)
}

func (s standing) lines(w int) []kit.Line {
	out := []kit.Line{{Text: " NOTHING IS STOPPED YET", Role: kit.Strong}}
	if !s.stoppable {
		out = []kit.Line{{Text: " " + s.over, Role: show.StatusRole(plain.Line(string(s.state)))}}
	}
	out = append(out, show.Pairs(w, s.rows...)...)
	if s.stoppable {
		for _, part := range kit.Wrap("Nothing new is asked of a model from then on; calls in flight are finished and charged. Leaving this page, or the workspace, stops nothing.", w-2) {
			out = append(out, kit.Line{Text: " " + part})
		}
	}
	return out
}
