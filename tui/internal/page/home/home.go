// Package home is the first screen: what can be done, and what is going on.
package home

import (
	"context"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Reader reads what Home tells.
type Reader interface {
	Benchmarks(ctx context.Context, fresh bool) iter.Seq2[api.BenchmarkRecord, error]
	Models(ctx context.Context, fresh bool) iter.Seq2[api.ManagedRoute, error]
	Runs(ctx context.Context) ([]api.RunRecord, error)
	Groups(ctx context.Context) ([]api.GroupRecord, error)
	Credits(ctx context.Context) (api.CreditsRecord, error)
	// Newer is the version of a newer release, "" without one.
	Newer(ctx context.Context) string
}

// newer is a newer release.
type newer string

type item struct {
	name plain.Safe
	to   any // nil exits
}

func items() []item {
	return []item{
		{"Run a benchmark", route.Benchmarks{ForRun: true}},
		{"Run history", route.History{}},
		{"Run groups", route.Groups{}},
		{"Results", route.Results{}},
		{"Browse models", route.Models{}},
		{"Browse benchmarks", route.Benchmarks{}},
		{"Benchmark uploads", route.Uploads{}},
		{"Billing", route.Billing{}},
		{"Account and workspace", route.Account{}},
		{"Exit", nil},
	}
}

// part is one thing that Home reads, with its own fate: one that fails says so
// beside its row and takes nothing from the others.
type part[T any] struct {
	v    T
	err  error
	done bool
}

// The catalog is counted, not kept.
type (
	ready  int // benchmarks that can be quoted
	routes int
)

// count counts the records that are wanted.
func count[N ~int, T any](all iter.Seq2[T, error], want func(*T) bool) (p part[N]) {
	p.done = true
	for v, err := range all {
		if err != nil {
			return part[N]{err: err, done: true}
		}
		if want(&v) {
			p.v++
		}
	}
	return p
}

type home struct {
	reader     Reader
	menu       kit.Table
	benchmarks part[ready]
	models     part[routes]
	runs       part[[]api.RunRecord]
	groups     part[[]api.GroupRecord]
	credits    part[api.CreditsRecord]
	newer      newer
	clicks     listing.Opens
	w, h       int
}

// New is usable at once; what it tells comes as it is read.
func New(r Reader) (kit.Screen, []kit.Effect) {
	s := home{reader: r, menu: kit.NewTable(kit.Column{Name: ""}, kit.Column{Name: ""})}
	s = s.told()
	return s, append(s.read(false), kit.Load{Name: "release", Do: func(ctx context.Context) kit.Msg { return newer(r.Newer(ctx)) }})
}

func (s home) read(fresh bool) []kit.Effect {
	r := s.reader
	return kit.Do(
		kit.Load{Name: "benchmarks", Do: func(ctx context.Context) kit.Msg {
			return count[ready](r.Benchmarks(ctx, fresh), flow.Quotable)
		}},
		kit.Load{Name: "models", Do: func(ctx context.Context) kit.Msg {
			return count[routes](r.Models(ctx, fresh), func(*api.ManagedRoute) bool { return true })
		}},
		kit.Load{Name: "runs", Do: func(ctx context.Context) kit.Msg {
			v, err := r.Runs(ctx)
			return part[[]api.RunRecord]{v, err, true}
		}},
		kit.Load{Name: "groups", Do: func(ctx context.Context) kit.Msg {
			v, err := r.Groups(ctx)
			return part[[]api.GroupRecord]{v, err, true}
		}},
		kit.Load{Name: "credits", Do: func(ctx context.Context) kit.Msg {
			v, err := r.Credits(ctx)
			return part[api.CreditsRecord]{v, err, true}
		}},
	)
}

// Update opens rows and takes in what was read.
func (s home) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if p, ok := m.(kit.Press); ok && p.Key == kit.Right && !s.menu.Filtering() {
		opened = true
	}
	if opened || listing.IsEnter(m) {
		return s.open()
	}
	switch m := m.(type) {
	case part[ready]:
		s.benchmarks = m
	case part[routes]:
		s.models = m
	case part[[]api.RunRecord]:
		s.runs = m
	case part[[]api.GroupRecord]:
		s.groups = m
	case part[api.CreditsRecord]:
		s.credits = m
	case newer:
		s.newer = m
	case kit.Resize:
		s.w, s.h = m.W, m.H
		s.menu = s.menu.Sized(s.rows())
		return s, nil
	case kit.Resumed:
		return s, s.read(false)[2:] // runs and money change, the catalog hardly
	case kit.Press:
		if m.Key == kit.Refresh {
			return s, s.read(true)
		}
		s.menu, _ = s.menu.Update(m)
		return s, nil
	default:
		s.menu, _ = s.menu.Update(m)
		return s, nil
	}
	return s.told(), nil
}

func (s home) open() (kit.Screen, []kit.Effect) {
	i := s.menu.Selected()
	switch {
	case i < 0:
		return s, nil
	case items()[i].to == nil:
		return s, kit.Do(kit.Quit{})
	}
	return s, kit.Do(kit.Go{To: items()[i].to})
}

// told puts what is known beside the rows of the menu.
func (s home) told() home {
	var rows []kit.Row
	var keys []string
	for i, it := range items() {
		rows, keys = append(rows, kit.Row{it.name, s.beside(i)}), append(keys, string(it.name))
	}
	s.menu = s.menu.With(rows, keys).Sized(s.rows())
	return s
}

// rows is how high the menu is, with its filter: on a small screen what is going
// on keeps some rows below it, and the menu scrolls.
func (s home) rows() int {
	all := len(items()) + 2
	if s.h == 0 || s.w >= wide {
		return all
	}
	return min(all, max(s.h-panelLeast, menuLeast))
}

func (s home) beside(i int) plain.Safe {
	switch to := items()[i].to.(type) {
	case route.Benchmarks:
		if to.ForRun {
			return "1-8 models, with a review first"
		}
		return told(s.benchmarks.done, s.benchmarks.err, func() plain.Safe {
			return show.F("%s ready", show.Thousands(int(s.benchmarks.v)))
		})
	case route.History:
		return told(s.runs.done, s.runs.err, func() plain.Safe {
			return show.F("%s · %d going on", show.Plural(len(s.runs.v), "run"), len(going(s.runs.v)))
		})
	case route.Groups:
		return told(s.groups.done, s.groups.err, func() plain.Safe { return show.F("%s", show.Plural(len(s.groups.v), "group")) })
	case route.Results:
		return "single · group · compare runs"
	case route.Models:
		return told(s.models.done, s.models.err, func() plain.Safe { return show.F("%s", show.Plural(int(s.models.v), "route")) })
	case route.Uploads:
		return "in the browser, or on the command line"
	case route.Billing:
		return told(s.credits.done, s.credits.err, func() plain.Safe {
			return show.F("%s free · %s held", show.Money(s.credits.v.AvailableMicrousd), show.Money(s.credits.v.HeldMicrousd))
		})
	case route.Account:
		return "as whom the service sees you"
	}
	return "runs go on without this terminal"
}

func told(done bool, err error, say func() plain.Safe) plain.Safe {
	switch {
	case !done:
		return "reading…"
	case err != nil:
		return "could not be read"
	}
	return say()
}

func going(runs []api.RunRecord) (out []api.RunRecord) {
	for _, r := range runs {
		if !r.Status.Terminal() {
			out = append(out, r)
		}
	}
	return out
}
