// Package review is the page of a quote and the consent to it. Nothing starts
// before two deliberate Enters on the price row; approval says which.
package review

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Launcher starts runs and reads money.
type Launcher interface {
	Launch(ctx context.Context, d route.Draft, desk flow.Desk) (flow.Launched, error)
	Credits(ctx context.Context) (api.CreditsRecord, error)
}

// Rows that can be chosen.
const (
	rowPrice = iota
	rowAmount
	rowCancel
	rows
)

type credits struct {
	record api.CreditsRecord
	err    error
}

type review struct {
	launcher Launcher
	now      func() time.Time // for the desk; the screen itself reads no clock
	draft    route.Draft
	quote    *api.QuoteRecord
	before   *api.QuoteRecord
	credit   *credits
	approval approval
	answer   func(bool)
	repeat   *repeated
	err      error
	notes    []string
	at       int
	amount   *kit.Input // while another amount is typed
	scroll   kit.Scroll
	note     plain.Safe
	clock    time.Time
	painted  bool
	w, h     int
}

// New asks for the quote of a draft and for the credit.
func New(l Launcher, now func() time.Time, d route.Draft) (kit.Screen, []kit.Effect) {
	s := review{launcher: l, now: now, draft: d}
	return s, append(s.launch(), s.money())
}

func (s review) launch() []kit.Effect {
	l, now, d := s.launcher, s.now, s.draft
	return kit.Do(kit.Follow{Name: "launch", Do: func(ctx context.Context, emit func(kit.Msg)) {
		out, err := l.Launch(ctx, d, desk{emit, now, d.Cap})
		emit(ended{out, err})
	}})
}

func (s review) money() kit.Effect {
	l := s.launcher
	return kit.Load{Name: "credits", Do: func(ctx context.Context) kit.Msg {
		c, err := l.Credits(ctx)
		return credits{c, err}
	}}
}

// afresh forgets the quote and asks for another one.
func (s review) afresh() (kit.Screen, []kit.Effect) {
	s.quote, s.before, s.answer, s.repeat, s.err = nil, nil, nil, nil, nil
	s.approval, s.notes, s.at, s.credit = approval{}, nil, rowPrice, nil
	return s, append(s.launch(), s.money())
}

// Update takes in answers of the service, and input. Whatever is not Enter on
// the price row takes a pending confirmation back.
func (s review) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case kit.Tick:
		s.clock = m.At
		s.approval = s.approval.at(m.At)
		return s, nil
	case kit.Shown:
		s.clock, s.painted = m.At, true
		s.approval = s.approval.painted(m.At)
		return s, nil
	case kit.Press:
		s.clock = m.At
		s.approval = s.approval.at(m.At)
		return s.press(m)
	}
	s.approval = s.approval.disturbed()
	switch m := m.(type) {
	case kit.Resize:
		s.w, s.h = m.W, m.H
	case kit.Paste:
		if s.amount != nil {
			in, _ := s.amount.Update(m)
			s.amount = &in
			return s, nil
		}
		s.note = "Pasted text ignored here"
	case kit.Mouse:
		return s.mouse(m), nil
	default:
		return s.told(m)
	}
	return s, nil
}

// told takes in what the launch says.
func (s review) told(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case quoted:
		s.quote = &m.quote
	case asked:
		s.quote, s.before, s.answer = &m.quote, m.before, m.answer
		s.approval = offered(m.at, m.at.Add(time.Duration(m.quote.ExpiresIn)*time.Second))
		s.approval.shown = s.painted
		s.at = rowPrice
		s = s.weighed()
	case repeated:
		s.repeat, s.at = &m, rowCancel
	case noted:
		s.notes = append(append([]string{}, s.notes...), m.text)
	case credits:
		s.credit = &m
		s = s.weighed()
	case ended:
		return s.finished(m)
	}
	return s, nil
}

func (s review) finished(m ended) (kit.Screen, []kit.Effect) {
	settled := kit.Behind{Key: "start"}
	if m.err != nil {
		s.err, s.answer, s.approval, s.repeat = m.err, nil, approval{}, nil
		return s, kit.Do(settled)
	}
	return s, kit.Do(settled, kit.Go{To: route.Live{ID: m.out.Run.ID}, Only: true})
}

// weighed holds the credit against the cap. A balance that could not be read is
// no shortfall: the service decides at admission in any case.
func (s review) weighed() review {
	free, known := s.free()
	s.approval = s.approval.short(known && free < s.cap())
	return s
}

func (s review) cap() usd.Micro {
	if s.quote != nil && s.quote.MaxChargeMicrousd != nil {
		return *s.quote.MaxChargeMicrousd
	}
	return s.draft.Cap
}

// free is the credit that can pay for this run.
func (s review) free() (usd.Micro, bool) {
	if s.credit == nil || s.credit.err != nil {
		return 0, false
	}
	if p := s.credit.record.Practice; p != nil && s.draft.Practice {
		return p.AvailableMicrousd, true
	}
	return s.credit.record.AvailableMicrousd, true
}

func (s review) mouse(m kit.Mouse) review {
	if m.Kind == kit.Click {
		if i := m.Y - (s.h - rows); i >= 0 && i < rows {
			s.at = i // a click selects only; Enter is needed
		}
		return s
	}
	s.scroll, _ = s.scroll.Update(m, len(s.lines(s.w)), s.h-rows-1)
	return s
}

// press is a key. Enter on the price row is the only one that does not take a
// pending confirmation back.
func (s review) press(p kit.Press) (kit.Screen, []kit.Effect) {
	s.note = ""
	if s.amount != nil {
		s.approval = s.approval.disturbed()
		return s.typing(p)
	}
	if p.Key == kit.Enter {
		return s.enter(p)
	}
	s.approval = s.approval.disturbed()
	switch p.Key {
	case kit.Esc, kit.Left:
		if s.approval.stage == sent {
			s.note = "Already sent; it cannot be taken back here"
			return s, nil
		}
		return s, kit.Do(kit.Back{})
	case kit.Up, kit.BackTab:
		s.at = max(s.at-1, 0)
	case kit.Down, kit.Tab, kit.Right:
		s.at = min(s.at+1, rows-1)
	case kit.Refresh:
		s.credit = nil
		s = s.weighed()
		return s, kit.Do(s.money())
	case kit.PgUp, kit.PgDn:
		s.scroll, _ = s.scroll.Update(p, len(s.lines(s.w)), s.h-rows-1)
	}
	return s, nil
}

func (s review) enter(p kit.Press) (kit.Screen, []kit.Effect) {
	if s.at != rowPrice {
		s.approval = s.approval.disturbed()
		return s.chosen()
	}
	switch {
	case s.repeat != nil:
		answer := s.repeat.answer
		s.repeat = nil
		answer(true)
		return s, nil
	case s.approval.stage == expired || s.err != nil && s.approval.stage == closed:
		return s.afresh()
	case s.answer == nil:
		return s, nil
	}
	next, start := s.approval.enter(p.At)
	s.approval = next
	if !start {
		return s, nil
	}
	s.answer(true)
	return s, kit.Do(kit.Behind{Key: "start", Line: "A start was sent and no answer came yet. The same run in the workspace or on the command line finds it, and starts nothing twice."})
}

// chosen is Enter on one of the other rows.
func (s review) chosen() (kit.Screen, []kit.Effect) {
	switch {
	case s.approval.stage == sent:
		s.note = "Already sent; it cannot be taken back here"
	case s.at == rowCancel:
		return s, kit.Do(kit.Back{})
	case s.repeat == nil:
		in := kit.NewInput(strings.TrimPrefix(s.cap().String(), "$"))
		s.amount = &in
	}
	return s, nil
}

// typing is another amount being typed. An amount that did not change asks for
// no quote.
func (s review) typing(p kit.Press) (kit.Screen, []kit.Effect) {
	switch p.Key {
	case kit.Esc, kit.Tab, kit.BackTab, kit.Up, kit.Down:
		s.amount, s.note = nil, "The cap stays as it was"
		return s, nil
	case kit.Enter:
		m, err := usd.Parse(strings.TrimSpace(s.amount.Text()))
		switch {
		case err != nil:
			s.note = show.F("That is %s", err)
			return s, nil
		case m == 0:
			s.note = "A cap of nothing starts nothing"
			return s, nil
		case m == s.cap() && !errors.Is(s.err, api.CapBelowMinimum):
			s.amount, s.at, s.note = nil, rowPrice, "The same amount: this quote stays"
			return s, nil
		}
		s.amount, s.draft.Cap = nil, m
		return s.afresh()
	}
	in, _ := s.amount.Update(p)
	s.amount = &in
	return s, nil
}
