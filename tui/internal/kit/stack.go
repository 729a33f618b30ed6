package kit

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Smallest size that screens are made for; below it a page asks to enlarge.
const (
	MinWidth  = 60
	MinHeight = 16
	maxBody   = 160
	aboveBody = 2
	belowBody = 3
)

// Task is an effect with the screen that wants it.
type Task struct {
	Screen int
	Effect Effect
}

type entry struct {
	id     int
	screen Screen
}

// Stack is the screens that lie above each other, with what stands around
// them: title, message, keys, help, selection.
type Stack struct {
	// Make is the screen of a route with its first effects.
	Make func(route any) (Screen, []Effect)
	// Banner stands at the right of the title.
	Banner plain.Safe
	// Anew is called when all screens were left to be opened afresh, before the
	// first one is, and gives the banner from then on. Nil changes nothing.
	Anew func() plain.Safe

	first   any // the route of the first screen
	entries []entry
	next    int
	w, h    int
	help    bool
	scroll  Scroll
	note    plain.Safe // of the last action, until the next one
	pick    selection
	exitAt  time.Time // of the last Ctrl+C at the root
	frame   Canvas
	spare   Canvas // an old frame, to be drawn into
}

// Open puts the screen of a route on top.
func (s *Stack) Open(route any) []Task {
	if len(s.entries) == 0 {
		s.first = route
	}
	screen, effects := s.Make(route)
	s.next++
	id := s.next
	s.entries = append(s.entries, entry{id, screen})
	tasks := s.tell(len(s.entries)-1, s.bodySize())
	return append(tasks, s.carry(id, effects)...)
}

// Top is the id of the screen on top, 0 without one.
func (s *Stack) Top() int {
	if len(s.entries) == 0 {
		return 0
	}
	return s.entries[len(s.entries)-1].id
}

func (s *Stack) bodySize() Resize {
	return Resize{W: min(s.w, maxBody), H: max(s.h-aboveBody-belowBody, 0)}
}

// Handle gives a message to the screen with an id, or, with 0, an input event
// to whoever it concerns.
func (s *Stack) Handle(id int, m Msg) []Task {
	if id != 0 {
		for i, e := range s.entries {
			if e.id == id {
				return s.tell(i, m)
			}
		}
		return nil // the screen was left meanwhile
	}
	switch m := m.(type) {
	case Resize:
		s.w, s.h = m.W, m.H
		s.pick = selection{}
		return s.tellAll(s.bodySize())
	case Press:
		return s.press(m)
	case Mouse:
		return s.mouse(m)
	case Paste:
		s.note = ""
		if s.covered() {
			return s.tellTop(Resumed{})
		}
		return s.tellTop(m)
	case Tick:
		return s.tellAll(m)
	}
	return s.tellTop(m)
}

// covered says that the keyboard is not the screen's for now.
func (s *Stack) covered() bool { return s.help || s.small() }

func (s *Stack) small() bool { return s.w < MinWidth || s.h < MinHeight }

func (s *Stack) press(p Press) []Task {
	s.note = ""
	switch p.Key {
	case CtrlQ:
		return []Task{{Effect: Quit{}}}
	case CtrlL:
		return append(s.tellTop(Resumed{}), Task{Effect: redraw{}})
	case CtrlZ:
		return []Task{{Effect: suspend{}}}
	case CtrlC:
		return s.interrupt(p)
	case F1:
		s.help, s.scroll = !s.help, Scroll{}
		return s.tellTop(Resumed{}) // whatever was pending is not any more
	}
	s.pick = selection{}
	switch {
	case s.small():
		return s.tellTop(Resumed{})
	case s.help:
		s.helpKey(p)
		return nil
	}
	return s.tellTop(p)
}

// interrupt copies what is selected, and goes back when nothing is. Nothing
// lies behind the root: there it takes a second one to leave.
func (s *Stack) interrupt(p Press) []Task {
	if text := s.pick.text(s.frame); text != "" {
		s.pick = selection{}
		s.note = plain.Line("Sent " + itoa(len([]rune(text))) + " characters to the terminal's clipboard")
		return append(s.tellTop(Resumed{}), Task{Effect: copyText{text}})
	}
	if s.help {
		s.help = false
		return nil
	}
	if n := len(s.entries); n > 0 && s.entries[n-1].screen.Head().Root {
		if !s.exitAt.IsZero() && p.At.Sub(s.exitAt) <= 2*time.Second {
			return []Task{{Effect: Quit{}}}
		}
		s.exitAt, s.note = p.At, "Ctrl+C again leaves; so does Ctrl+Q"
		return nil
	}
	return s.tellTop(Press{Key: Esc, At: p.At})
}

func (s *Stack) helpKey(p Press) {
	switch p.Key {
	case Esc, Left, Enter:
		s.help = false
	default:
		body := s.bodySize()
		s.scroll, _ = s.scroll.Update(p, len(s.helpLines(body.W)), body.H)
	}
}

func (s *Stack) mouse(m Mouse) []Task {
	if s.covered() {
		return nil
	}
	s.note = ""
	switch m.Kind {
	case Click:
		s.pick = selection{on: true, x0: m.X, y0: m.Y, x1: m.X, y1: m.Y}
	case Drag:
		s.pick = s.pick.to(m.X, m.Y)
		return s.tellTop(Resumed{})
	case Release:
		return nil
	}
	m.Y -= aboveBody
	if m.Y < 0 || m.Y >= s.bodySize().H {
		return s.tellTop(Resumed{})
	}
	return s.tellTop(m)
}

func (s *Stack) tellTop(m Msg) []Task {
	if len(s.entries) == 0 {
		return nil
	}
	return s.tell(len(s.entries)-1, m)
}

func (s *Stack) tellAll(m Msg) (tasks []Task) {
	ids := make([]int, 0, len(s.entries))
	for _, e := range s.entries {
		ids = append(ids, e.id)
	}
	for _, id := range ids {
		tasks = append(tasks, s.Handle(id, m)...)
	}
	return tasks
}

func (s *Stack) tell(i int, m Msg) []Task {
	id := s.entries[i].id
	screen, effects := s.entries[i].screen.Update(m)
	s.entries[i].screen = screen
	return s.carry(id, effects)
}

// carry does what is about the stack itself and passes the rest on.
func (s *Stack) carry(id int, effects []Effect) (tasks []Task) {
	for _, e := range effects {
		switch e := e.(type) {
		case Go:
			if e.Afresh {
				tasks = append(tasks, s.afresh()...)
			}
			if e.Instead {
				tasks = append(tasks, s.remove(id)...)
			}
			for e.Only && len(s.entries) > 1 {
				tasks = append(tasks, s.remove(s.entries[1].id)...)
			}
			tasks = append(tasks, s.Open(e.To)...)
		case Back:
			if len(s.entries) > 1 {
				tasks = append(tasks, s.remove(id)...)
				tasks = append(tasks, s.tellTop(Resumed{})...)
			}
		default:
			tasks = append(tasks, Task{id, e})
		}
	}
	return tasks
}

// afresh leaves every screen and opens the first one again.
func (s *Stack) afresh() (tasks []Task) {
	for len(s.entries) > 0 {
		tasks = append(tasks, s.remove(s.entries[0].id)...)
	}
	if s.Anew != nil {
		s.Banner = s.Anew()
	}
	return append(tasks, s.Open(s.first)...)
}

func (s *Stack) remove(id int) []Task {
	for i, e := range s.entries {
		if e.id == id {
			s.entries = append(s.entries[:i:i], s.entries[i+1:]...)
			return []Task{{id, dropped{id}}}
		}
	}
	return nil
}
