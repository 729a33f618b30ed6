// Package review is the page of a quote and the consent to it. Nothing starts
// before two deliberate Enters on the price row; package consent says which.
package review

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/consent"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

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
	work     work
	spend    usd.Micro // the cap that was chosen
	offer    *offer
	before   *offer
	credit   *credits
	approval consent.Approval
	answer   func(bool)
	question *question
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

func begin(l Launcher, now func() time.Time, spend usd.Micro, w work) (kit.Screen, []kit.Effect) {
	s := review{launcher: l, now: now, work: w, spend: spend}
	return s, append(s.launch(), s.money())
}

func (s review) launch() []kit.Effect {
	w, now, spend := s.work, s.now, s.spend
	return kit.Do(kit.Follow{Name: "launch", Do: func(ctx context.Context, emit func(kit.Msg)) {
		to, err := w.launch(ctx, spend, desk{emit, now, spend})
		emit(ended{to, err})
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
	s.offer, s.before, s.answer, s.question, s.err = nil, nil, nil, nil, nil
	s.approval, s.notes, s.at, s.credit = consent.Approval{}, nil, rowPrice, nil
	return s, append(s.launch(), s.money())
}

// Update takes in answers of the service, and input. Whatever is not Enter on
// the price row takes a pending confirmation back.
func (s review) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case kit.Tick:
		s.clock = m.At
		s.approval = s.approval.At(m.At)
		return s, nil
	case kit.Shown:
		s.clock, s.painted = m.At, true
		s.approval = s.approval.Painted(m.At)
		return s, nil
	case kit.Press:
		s.clock = m.At
		s.approval = s.approval.At(m.At)
		return s.press(m)
	}
	s.approval = s.approval.Disturbed()
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
		s.offer = &m.offer
	case asked:
		s.offer, s.before, s.answer = &m.offer, m.before, m.answer
		s.approval = consent.Offered(m.at, m.at.Add(time.Duration(m.offer.expiresIn)*time.Second))
		s.approval.Shown = s.painted
		s.at = rowPrice
		s = s.weighed()
	case question:
		s.question, s.at = &m, rowCancel
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
		s.err, s.answer, s.approval, s.question = m.err, nil, consent.Approval{}, nil
		return s, kit.Do(settled)
	}
	return s, kit.Do(settled, kit.Go{To: m.to, Only: true})
}

// weighed holds the credit against the cap. A balance that could not be read is
// no shortfall: the service decides at admission in any case.
func (s review) weighed() review {
	short := false
	for _, p := range s.purses() {
		short = short || p.free < p.holds
	}
	s.approval = s.approval.Short(short)
	return s
}

func (s review) cap() usd.Micro {
	if s.offer != nil && s.offer.cap != nil {
		return *s.offer.cap
	}
	return s.spend
}

// purse is one kind of credit, with what the cap holds of it.
type purse struct {
	kind        string
	free, holds usd.Micro
}

// purses are the kinds of credit that pay for the offer, none while they are not
// known. Practice credit pays for practice routes where the service has it.
func (s review) purses() []purse {
	if s.credit == nil || s.credit.err != nil || s.offer == nil {
		return nil
	}
	c, practice, credit := s.credit.record, s.offer.practice, s.offer.credit
	if c.Practice == nil {
		credit, practice = credit+practice, 0
	}
	var out []purse
	if practice > 0 {
		out = append(out, purse{"practice credit free", c.Practice.AvailableMicrousd, practice})
	}
	if credit > 0 {
		out = append(out, purse{"free", c.AvailableMicrousd, credit})
	}
	return out
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
		s.approval = s.approval.Disturbed()
		return s.typing(p)
	}
	if p.Key == kit.Enter {
		return s.enter(p)
	}
	s.approval = s.approval.Disturbed()
	switch p.Key {
	case kit.Esc, kit.Left:
		if s.approval.Stage == consent.Sent {
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
		s.approval = s.approval.Disturbed()
		return s.chosen()
	}
	switch {
	case s.question != nil:
		answer := s.question.answer
		s.question = nil
		answer(true)
		return s, nil
	case s.approval.Stage == consent.Expired || s.err != nil && s.approval.Stage == consent.Closed:
		return s.afresh()
	case s.answer == nil:
		return s, nil
	}
	next, start := s.approval.Enter(p.At)
	s.approval = next
	if !start {
		return s, nil
	}
	s.answer(true)
	return s, kit.Do(kit.Behind{Key: "start", Line: s.work.sent})
}

// chosen is Enter on one of the other rows.
func (s review) chosen() (kit.Screen, []kit.Effect) {
	switch {
	case s.approval.Stage == consent.Sent:
		s.note = "Already sent; it cannot be taken back here"
	case s.at == rowCancel:
		return s, kit.Do(kit.Back{})
	case s.question == nil:
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
		s.amount, s.spend = nil, m
		return s.afresh()
	}
	in, _ := s.amount.Update(p)
	s.amount = &in
	return s, nil
}
