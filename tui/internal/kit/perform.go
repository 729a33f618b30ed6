package kit

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

func jobKey(id int, name string) string { return strconv.Itoa(id) + "/" + name }

func (l *Loop) perform(tasks []Task) {
	for _, t := range tasks {
		l.do(t)
	}
}

func (l *Loop) do(t Task) {
	switch e := t.Effect.(type) {
	case Quit:
		l.quit = true
	case Load:
		l.load(t.Screen, e)
	case Follow:
		l.follow(t.Screen, e)
	case Stop:
		l.cancel(jobKey(t.Screen, e.Name))
	case dropped:
		for key := range l.jobs {
			if strings.HasPrefix(key, strconv.Itoa(e.id)+"/") {
				l.cancel(key)
			}
		}
	case Browse:
		why := "no browser can be opened here"
		if l.Host.Open != nil {
			why = l.Host.Open(e.URL)
		}
		l.Send(t.Screen, Browsed{URL: e.URL, Why: why})
	case Saved:
		if !slices.Contains(l.saved, e.Path) {
			l.saved = append(l.saved, e.Path)
		}
	case Behind:
		if _, ok := l.left[e.Key]; !ok {
			l.order = append(l.order, e.Key)
		}
		l.left[e.Key] = e.Line
	case copyText:
		l.Term.Copy(e.text)
	case redraw:
		l.Term.Redraw()
	case suspend:
		l.suspend()
	}
}

func (l *Loop) suspend() {
	if l.Host.Stop != nil {
		l.suspended(l.Host.Stop)
	}
}

// controlled does what belongs to an event of the process. A terminal that
// others may have used is taken anew.
func (l *Loop) controlled(what JobEvent) {
	if what == AskedToStop {
		l.suspend()
		return
	}
	l.suspended(func() error { return nil })
}

func (l *Loop) suspended(do func() error) {
	if err := l.Term.Suspended(do); err != nil {
		l.fault = err
		return
	}
	l.perform(l.Stack.Handle(0, l.Term.Size()))
	l.Send(0, Resumed{})
}

func (l *Loop) cancel(key string) {
	if j, ok := l.jobs[key]; ok {
		j.cancel()
		delete(l.jobs, key)
	}
}

func (l *Loop) start(id int, name string) (context.Context, int) {
	key := jobKey(id, name)
	l.cancel(key)
	ctx, cancel := context.WithCancel(l.ctx)
	l.gen++
	l.jobs[key] = job{cancel, l.gen}
	return ctx, l.gen
}

func (l *Loop) load(id int, e Load) {
	ctx, gen := l.start(id, e.Name)
	l.loads++
	l.spawn(func() {
		l.bring(delivery{id: id, msg: e.Do(ctx), name: e.Name, gen: gen})
	})
}

func (l *Loop) follow(id int, e Follow) {
	ctx, _ := l.start(id, e.Name)
	l.lives++
	l.spawn(func() {
		defer func() { l.bring(delivery{over: true}) }()
		e.Do(ctx, func(m Msg) {
			if ctx.Err() == nil {
				l.bring(delivery{id: id, msg: m})
			}
		})
	})
}

// spawn runs work in a goroutine of the loop. A panic there ends the workspace
// in order, with the terminal given back.
func (l *Loop) spawn(work func()) {
	l.wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				l.bring(delivery{err: fmt.Errorf("the workspace broke: %v\n%s", p, debug.Stack())})
			}
		}()
		work()
	})
}

func (l *Loop) bring(d delivery) {
	select {
	case l.in <- d:
	case <-l.ctx.Done():
	}
}

// Saved are the paths of the files that were written.
func (l *Loop) Saved() []string { return l.saved }

// LeftBehind are the lines to print after the workspace. Empty ones were taken
// back.
func (l *Loop) LeftBehind() (lines []string) {
	for _, key := range l.order {
		if l.left[key] != "" {
			lines = append(lines, l.left[key])
		}
	}
	return lines
}
