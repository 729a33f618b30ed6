// Package tui is the full-screen workspace of EvalRouter.
//
// It is a front end and decides nothing about money, names or recovery: lib/flow
// does, as for the command line. Leaving it stops no run.
package tui

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/page/account"
	"github.com/evalrouter/evalrouter/tui/internal/page/catalog"
	"github.com/evalrouter/evalrouter/tui/internal/page/compare"
	"github.com/evalrouter/evalrouter/tui/internal/page/group"
	"github.com/evalrouter/evalrouter/tui/internal/page/history"
	"github.com/evalrouter/evalrouter/tui/internal/page/home"
	"github.com/evalrouter/evalrouter/tui/internal/page/launch"
	"github.com/evalrouter/evalrouter/tui/internal/page/live"
	"github.com/evalrouter/evalrouter/tui/internal/page/results"
	"github.com/evalrouter/evalrouter/tui/internal/page/review"
	signinpage "github.com/evalrouter/evalrouter/tui/internal/page/signin"
	"github.com/evalrouter/evalrouter/tui/internal/page/stop"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/source"
)

// Service is how the service is reached and where accepted quotes are kept.
type Service = source.Options

// SignIn is how a person signs in from within the workspace.
type SignIn struct {
	Accounts *signin.Accounts
	Machine  signin.Machine
	// Origin is the service at which one signs in.
	Origin string
	// Overruled names what is used before any sign-in, "" for nothing.
	Overruled string
	// Again is the service, and the banner, as a sign-in that was just kept has
	// them.
	Again func() (Service, string, error)
}

// Options is what the workspace needs of the world.
type Options struct {
	Service Service
	// SignIn is nil where nobody signs in.
	SignIn *SignIn
	// Env looks up an environment variable.
	Env func(name string) (string, bool)
	// Open opens an address in the browser, or says why not.
	Open func(url string) (why string)
	// Suspend stops the process until it is continued; nil where that cannot be.
	Suspend func() error
	// Job is what a shell does to the process; nil where no shell does.
	Job <-chan JobEvent
	// Keeper gives the terminal back when this process cannot; nil is nobody.
	Keeper Keeper
	// Painted is told of the first frame, before anything else is begun; it may be
	// nil.
	Painted func()
	Now     func() time.Time
	// At is the place to start at, above Home: one of Places, "group:" with the id
	// of a group, or "" for Home.
	At string
	// Banner stands at the right of the title, such as the workspace's name.
	Banner string
}

// Outcome is what the workspace leaves to be printed.
type Outcome struct {
	// Saved are the paths of saved files.
	Saved []string
	// Lines tell how to come back to what goes on.
	Lines []string
}

type (
	// JobEvent is something that is done to the process.
	JobEvent = kit.JobEvent
	// Keeper is told around every time the terminal is taken.
	Keeper = kit.Keeper
)

// What is done to a process.
const (
	AskedToStop = kit.AskedToStop
	Continued   = kit.Continued
)

// ErrNoTerminal says that the terminal cannot show a full screen.
var ErrNoTerminal = kit.ErrNoTerminal

// Run shows the workspace until the person leaves or ctx ends.
func Run(ctx context.Context, o Options) (Outcome, error) {
	term, err := kit.OpenTerminal(o.Env, o.Keeper)
	if err != nil {
		return Outcome{}, err
	}
	desk := &desk{src: source.New(o.Service), gate: o.SignIn}
	loop := &kit.Loop{Stack: desk.stack(o.Banner), Term: term, Host: kit.Host{Now: o.Now, Open: o.Open, Stop: o.Suspend, Job: o.Job, Painted: o.Painted}}
	var above []any
	if to, ok := place(o.At); ok {
		above = append(above, to)
	}
	err = loop.Run(ctx, route.Home{}, above...)
	_ = desk.close() // the calls have ended with the loop
	return Outcome{Saved: loop.Saved(), Lines: loop.LeftBehind()}, err
}

// places are where the workspace can start.
func places() map[string]any {
	return map[string]any{"benchmarks": route.Benchmarks{}, "models": route.Models{}, "run": route.Benchmarks{ForRun: true}, "groups": route.Groups{}, "results": route.Results{}, "runs": route.History{}, "billing": route.Billing{}, "account": route.Account{}}
}

// place is where a name leads.
func place(name string) (any, bool) {
	if id, ok := strings.CutPrefix(name, "group:"); ok && flow.CheckGroupID(id) == nil {
		return route.Group{ID: id}, true
	}
	to, ok := places()[name]
	return to, ok
}

// Known says that the workspace can start at a place.
func Known(name string) bool {
	_, ok := place(name)
	return ok
}

// Places are the names of the places where the workspace can start, without
// those of single groups.
func Places() []string { return slices.Sorted(maps.Keys(places())) }

// desk makes screens, and changes what they read when somebody signs in.
type desk struct {
	src  *source.Source
	old  []*source.Source
	gate *SignIn
}

func (d *desk) stack(banner string) *kit.Stack {
	s := &kit.Stack{Banner: plain.Line(banner), Make: d.screen}
	s.Anew = func() plain.Safe {
		if d.gate == nil || d.gate.Again == nil {
			return s.Banner
		}
		service, banner, err := d.gate.Again()
		if err != nil { // the pages go on as they were, and say who that is
			return s.Banner
		}
		d.old, d.src = append(d.old, d.src), source.New(service)
		return plain.Line(banner)
	}
	return s
}

func (d *desk) close() (err error) {
	for _, s := range append(d.old, d.src) {
		err = errors.Join(err, s.Close())
	}
	return err
}

// screen is the table of places.
func (d *desk) screen(to any) (kit.Screen, []kit.Effect) {
	src := d.src
	switch to := to.(type) {
	case route.Benchmarks:
		return catalog.Benchmarks(src, to.ForRun)
	case route.Benchmark:
		return catalog.Benchmark(to.Record)
	case route.Models:
		return catalog.Models(src)
	case route.Model:
		return catalog.Model(src, to.ID)
	case route.Launch:
		return launch.Models(src, to.Benchmark)
	case route.Continue:
		return launch.Again(to)
	case route.Cover:
		return launch.Cover(to.Draft)
	case route.Review:
		return review.New(src, src.Now, to.Draft)
	case route.Resume:
		return review.Resume(src, src.Now, to.Plan)
	case route.History:
		return history.New(src, to)
	case route.Groups:
		return group.List(src, to.Finished)
	case route.Group:
		return group.Status(src, to.ID, to.Watch)
	case route.Results:
		return results.Choose()
	case route.Compare:
		return compare.New(src, to)
	case route.Live:
		return live.New(src, to.ID)
	case route.Stop:
		return stop.New(src, src.Now, to)
	case route.Result:
		return results.Result(src, to.ID)
	case route.Billing:
		return account.Billing(src)
	case route.Account:
		return account.Account(src, d.where())
	case route.SignIn:
		if d.gate != nil {
			if to.ByKey {
				return signinpage.Key(gate{d.gate})
			}
			return signinpage.New(gate{d.gate}, to.ByCode)
		}
	case route.Uploads:
		return account.Uploads(src)
	case route.Samples:
		return results.Samples(src, to.Run)
	case route.Sample:
		return results.Sample(src, to)
	}
	return home.New(src)
}

func (d *desk) where() string {
	if d.gate == nil {
		return ""
	}
	return d.gate.Origin
}

// gate signs in for the page.
type gate struct{ *SignIn }

// Where is the service at which one signs in.
func (g gate) Where() string { return g.Origin }

// Overruled names what is used before any sign-in.
func (g gate) Overruled() string { return g.SignIn.Overruled }

// Enter signs in and keeps that.
func (g gate) Enter(ctx context.Context, byCode bool, who signin.Guest) (signin.Entered, error) {
	return g.Accounts.Enter(ctx, g.Origin, byCode, g.Machine, who)
}

// EnterKey keeps an API key.
func (g gate) EnterKey(ctx context.Context, key string) (signin.Entered, error) {
	return g.Accounts.EnterKey(ctx, g.Origin, key)
}
