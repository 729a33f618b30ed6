package tui_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"weak"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
	"github.com/evalrouter/evalrouter/tui/internal/page/catalog"
	"github.com/evalrouter/evalrouter/tui/internal/page/home"
	"github.com/evalrouter/evalrouter/tui/internal/page/launch"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// long offers very many models, and sees which of them are still held.
type long struct {
	hostile
	n    int
	seen []weak.Pointer[string]
}

func (l *long) record(i int) api.ManagedRoute {
	m := l.route()
	m.ID, m.DisplayName = fmt.Sprintf("crowd.model-%06d", i), fmt.Sprintf("Model %06d of a crowd", i)
	m.Description = new(string)
	*m.Description = fmt.Sprintf("What is to be said of number %06d", i)
	return m
}

func (l *long) Models(context.Context, bool) iter.Seq2[api.ManagedRoute, error] {
	return func(yield func(api.ManagedRoute, error) bool) {
		for i := range l.n {
			m := l.record(i)
			l.seen = append(l.seen, weak.Make(m.Description))
			if !yield(m, nil) {
				return
			}
		}
	}
}

func (l *long) Compatible(ctx context.Context, _ string) iter.Seq2[api.CompatibleRoute, error] {
	return func(yield func(api.CompatibleRoute, error) bool) {
		for m, err := range l.Models(ctx, false) {
			if !yield(api.CompatibleRoute{ManagedRoute: m, Compatible: true, Kind: api.ManagedKind}, err) {
				return
			}
		}
	}
}

func (l *long) Model(_ context.Context, id string, _ bool) (api.ManagedRoute, error) {
	var i int
	_, err := fmt.Sscanf(id, "crowd.model-%d", &i)
	return l.record(i), err
}

// held is how many of the records that were read are still in memory.
func (l *long) held() (n int) {
	runtime.GC()
	for _, p := range l.seen {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// No page that lists or counts models keeps their records: a hundred thousand of
// them would be half a gigabyte. What is opened is read again.
func TestLongListsKeepNoRecords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		first func(*long) (kit.Screen, []kit.Effect)
		shows string
		then  func(*kittest.Harness)
	}{
		{"the list of models", func(l *long) (kit.Screen, []kit.Effect) { return catalog.Models(l) }, "5000 of 5000", func(x *kittest.Harness) {
			x.Press(kit.End)
			x.Wants("crowd.model-004999", "Model 004999 of a crowd")
			x.Press(kit.Enter)
			x.Wants("What is to be said of number 004999")
			x.Press(kit.Esc)
			x.Type("004321")
			x.Wants("1 of 5000", "crowd.model-004321")
			x.Press(kit.Enter)
			x.Wants("What is to be said of number 004321")
		}},
		{"the models of a run", func(l *long) (kit.Screen, []kit.Effect) { return launch.Models(l, l.bench()) }, "5000 of 5000", func(x *kittest.Harness) {
			x.Type("004321")
			x.Press(kit.Enter, kit.Enter) // it, and its only effort
			x.Wants("[x]  crowd.model-004321", "1 of 8 chosen")
			x.Press(kit.CtrlU, kit.End, kit.Enter, kit.Enter)
			x.Wants("[x]  crowd.model-004999", "2 of 8 chosen", "continue with 2 models")
			x.Press(kit.Enter)
			x.Wants("[ ]  crowd.model-004999", "1 of 8 chosen")
		}},
		{"Home, which counts them", func(l *long) (kit.Screen, []kit.Effect) { return home.New(l) }, "5,000 routes", func(x *kittest.Harness) { x.Wants("1 ready") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &long{hostile: hostile{"plain"}, n: 5000}
			stack := &kit.Stack{Banner: plain.Line("x"), Make: func(to any) (kit.Screen, []kit.Effect) {
				if to, ok := to.(route.Model); ok {
					return catalog.Model(l, to.ID)
				}
				return tt.first(l)
			}}
			x := kittest.Start(t, 140, 40, kit.Mono, stack, kittest.NewClock(start()), nil)
			x.Wants(tt.shows)
			// The last one may still stand in a frame of the walk that ended.
			if n := l.held(); len(l.seen) != l.n || n > 1 {
				t.Errorf("%d of %d records are held", n, len(l.seen))
			}
			tt.then(x)
		})
	}
}
