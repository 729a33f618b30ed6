package kit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Host is what a loop needs of the world around it.
type Host struct {
	Now func() time.Time
	// Open opens an address in the browser; why is empty if it was opened.
	Open func(url string) (why string)
	// Stop suspends the process until it is continued; nil where there is no
	// such thing.
	Stop func() error
	// Job is what a shell, or somebody else, does to the process; nil where there
	// is no such thing.
	Job <-chan JobEvent
	// Painted is told of the first frame, before anything else is begun; it may be
	// nil.
	Painted func()
}

// JobEvent is something that is done to the process.
type JobEvent int

// What is done to a process.
const (
	// AskedToStop came without a key, as by `kill -TSTP`.
	AskedToStop JobEvent = iota
	// Continued came after a stop that gave no time to give the terminal back: it
	// may have changed hands meanwhile.
	Continued
)

type delivery struct {
	id   int
	msg  Msg
	name string // of a load that ended, "" otherwise
	gen  int
	over bool  // a follow has ended
	err  error // of a goroutine that panicked
}

type job struct {
	cancel context.CancelFunc
	gen    int
}

// Loop carries out what screens want. All screens live in its one goroutine;
// what takes time runs in goroutines that end before Run returns.
type Loop struct {
	Stack *Stack
	Term  *Terminal
	Host  Host

	ctx   context.Context
	stop  context.CancelFunc
	in    chan delivery
	wg    sync.WaitGroup
	jobs  map[string]job
	gen   int
	loads int // loads that have not brought their result
	lives int // follows that have not ended
	down  bool
	fault error
	quit  bool
	shown int
	saved []string
	left  map[string]string
	order []string
}

// Begin opens the first screen, and those of above on it, and shows the frame
// before it begins anything that they want: reading takes time that the person
// waits for. The context ends everything that is going on.
func (l *Loop) Begin(ctx context.Context, first any, above ...any) {
	if l.ctx == nil {
		l.ctx, l.stop = context.WithCancel(ctx)
	}
	l.in = make(chan delivery, 256)
	l.jobs, l.left = map[string]job{}, map[string]string{}
	l.Stack.Handle(0, l.Term.Size())
	tasks := l.Stack.Open(first)
	for _, to := range above {
		tasks = append(tasks, l.Stack.Open(to)...)
	}
	l.show() // and no more than once: Paint, which follows, tells the screen
	if l.Host.Painted != nil {
		l.Host.Painted()
	}
	l.perform(tasks)
}

// End ends what is going on and waits for it.
func (l *Loop) End() {
	l.stop()
	l.wg.Wait()
}

// Send gives a message to a screen, or an input event to whoever it concerns.
func (l *Loop) Send(id int, m Msg) {
	if to, ok := m.(Resize); ok {
		l.Term.Resized(to)
	}
	if p, ok := m.(Mouse); ok {
		if p.Kind == Click && l.down {
			p.Kind = Drag
		}
		l.down = p.Kind == Click || p.Kind == Drag
		m = p
	}
	l.perform(l.Stack.Handle(id, m))
}

// Paint shows the frame, and tells a screen when it was shown first.
func (l *Loop) Paint() {
	l.show()
	if top := l.Stack.Top(); top != l.shown && !l.Stack.covered() {
		l.shown = top
		l.perform(l.Stack.Handle(top, Shown{At: l.Host.Now()}))
		l.show()
	}
}

func (l *Loop) show() { l.Stack.spare = l.Term.Paint(l.Stack.View()) }

// Done says that the workspace was left, and what broke if something did.
func (l *Loop) Done() (bool, error) { return l.quit || l.fault != nil, l.fault }

// Loading is how many loads are going on, Following how many follows.
func (l *Loop) Loading() int { return l.loads }

// Following is how many follows are going on.
func (l *Loop) Following() int { return l.lives }

// Receive takes one result of an effect, waiting for it until ctx ends.
func (l *Loop) Receive(ctx context.Context) error {
	select {
	case d := <-l.in:
		l.deliver(d)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Loop) deliver(d delivery) {
	if d.err != nil {
		l.fault = d.err
	}
	if d.over {
		l.lives--
	}
	if d.gen != 0 {
		if d.name != "" {
			l.loads--
		}
		if j, ok := l.jobs[jobKey(d.id, d.name)]; d.name != "" && ok && j.gen == d.gen {
			j.cancel()
			delete(l.jobs, jobKey(d.id, d.name))
		} else if d.name != "" {
			return // a newer load of that name is on its way
		}
	}
	if d.msg != nil {
		l.Send(d.id, d.msg)
	}
}

// Run reads the terminal until the person leaves or ctx ends. The screens of
// above are opened above the first one. The terminal is given back whatever
// happens, a panic included.
func (l *Loop) Run(ctx context.Context, first any, above ...any) (err error) {
	events := make(chan Msg, 64)
	defer func() {
		l.Term.Close()
		for range events { // the reader ends with the terminal
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the workspace broke: %v\n%s", p, debug.Stack())
		}
	}()
	l.ctx, l.stop = context.WithCancel(ctx)
	defer l.End()
	go l.read(events)
	l.Begin(l.ctx, first, above...)
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	frames := pace{next: time.NewTimer(0)}
	defer frames.next.Stop()
	for asked := true; ; { // by the person, who sees at once what a key did
		if done, err := l.Done(); done {
			return err // what broke may be the terminal: nothing is painted any more
		}
		if frames.now(asked) {
			l.Paint()
		}
		asked = false
		select {
		case m, ok := <-events:
			if !ok && ctx.Err() != nil {
				return nil // the reader saw the end first
			}
			if !ok {
				return errors.New("the terminal is gone")
			}
			l.Send(0, m)
			asked = true
		case d := <-l.in:
			l.deliver(d)
		case <-frames.next.C:
		case what := <-l.Host.Job:
			l.controlled(what)
			asked = true
		case t := <-ticks.C:
			l.Send(0, Tick{At: t})
		case <-ctx.Done():
			return nil
		}
		asked = l.drain(events) || asked
	}
}

// A flood of news costs a few frames a second and no more: so many may follow
// each other at once, and then there is one for each gap.
const (
	frameBurst = 4
	frameGap   = 100 * time.Millisecond
)

// pace says when the next frame is due.
type pace struct {
	next  *time.Timer // of a frame that was put off
	spent int         // of the burst
	since time.Time   // of the oldest that counts
}

// now says whether to paint now; otherwise next comes when it is time.
func (p *pace) now(asked bool) bool {
	at := time.Now()
	if gaps := int(at.Sub(p.since) / frameGap); gaps >= p.spent {
		p.spent, p.since = 0, at
	} else if gaps > 0 {
		p.spent, p.since = p.spent-gaps, p.since.Add(time.Duration(gaps)*frameGap)
	}
	if !asked && p.spent >= frameBurst {
		p.next.Reset(frameGap - at.Sub(p.since))
		return false
	}
	p.spent = min(p.spent+1, frameBurst)
	return true
}

// drain handles what has arrived already before the next frame: resizes come
// before later keys, and a flood costs frames and no time.
// It says whether the person did something.
func (l *Loop) drain(events <-chan Msg) (asked bool) {
	for range 256 {
		select {
		case m, ok := <-events:
			if ok {
				l.Send(0, m)
				asked = true
			}
		case d := <-l.in:
			l.deliver(d)
		default:
			return asked
		}
	}
	return asked
}

func (l *Loop) read(events chan<- Msg) {
	defer close(events)
	for {
		m := l.Term.Next(l.Host.Now)
		if m == nil {
			return
		}
		select {
		case events <- m:
		case <-l.ctx.Done():
			return
		}
	}
}
