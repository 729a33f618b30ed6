// Package catalog is what can be evaluated and by which managed routes.
//
// Benchmarks come from two places. Generated ones are computed task by task
// and store nothing; added ones were admitted from a manifest and a data file
// whose hash it names, and their tasks are rows. Either way a profile is one
// version that never changes.
package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Store is where profiles and stored tasks are kept.
type Store interface {
	Profiles(context.Context, core.Scope) ([]core.Profile, error)
	Profile(context.Context, core.Scope, core.ProfileID) (core.Profile, error)
	PutProfile(context.Context, string, core.Profile, iter.Seq2[bundle.Task, error]) (bool, error)
	TasksAt(context.Context, core.ProfileID, []int) (map[int]bundle.Task, error)
	Now() core.Micros
}

// Catalog is safe for concurrent use.
type Catalog struct {
	store  Store
	routes []core.Target
	newID  func() string
}

// New makes a catalog over a store with the managed routes that are offered.
// newID gives random ids.
func New(s Store, routes []core.Target, newID func() string) *Catalog {
	return &Catalog{store: s, routes: routes, newID: newID}
}

// Profiles lists the benchmarks that a workspace sees.
func (c *Catalog) Profiles(ctx context.Context, sc core.Scope) ([]core.Profile, error) {
	return c.store.Profiles(ctx, sc)
}

// Profile reads one benchmark version.
func (c *Catalog) Profile(ctx context.Context, sc core.Scope, id core.ProfileID) (core.Profile, error) {
	return c.store.Profile(ctx, sc, id)
}

// Routes lists the managed routes, in the order they are shown.
func (c *Catalog) Routes() []core.Target { return c.routes }

// Route finds a managed route.
func (c *Catalog) Route(id core.RouteID) (core.Target, bool) {
	for _, r := range c.routes {
		if r.RouteID == id {
			return r, true
		}
	}
	return core.Target{}, false
}

// Grader makes the grader that a profile declares.
func (c *Catalog) Grader(p core.Profile) (bundle.Grader, error) { return graderOf(p.GraderConfig) }

func graderOf(raw json.RawMessage) (bundle.Grader, error) {
	var cfg bundle.GraderConfig
	if err := json.Unmarshal(raw, &cfg); err != nil {
		return nil, fmt.Errorf("decode grader: %w", err)
	}
	return families.Grader(cfg)
}

// Task gives the task at a position of a benchmark.
func (c *Catalog) Task(ctx context.Context, p core.Profile, pos int) (bundle.Task, error) {
	all, err := c.TasksAt(ctx, p, []int{pos})
	return all[pos], err
}

// TasksAt gives the tasks at positions of a benchmark: all of them, or as many as
// may be held in memory at once, and at least one.
func (c *Catalog) TasksAt(ctx context.Context, p core.Profile, positions []int) (map[int]bundle.Task, error) {
	if p.Generator == nil {
		return c.store.TasksAt(ctx, p.ID, positions)
	}
	tasks, err := generated(*p.Generator, p.TaskCount)
	if err != nil {
		return nil, err
	}
	out := make(map[int]bundle.Task, len(positions))
	for _, pos := range positions {
		if out[pos], err = tasks.Task(pos); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// TaskIDs yields the ids of the tasks at positions, in their order.
func (c *Catalog) TaskIDs(ctx context.Context, p core.Profile, positions []int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for len(positions) > 0 {
			tasks, err := c.TasksAt(ctx, p, positions[:min(len(positions), tasksAtOnce)])
			if err != nil {
				yield("", err)
				return
			}
			for len(positions) > 0 {
				t, ok := tasks[positions[0]]
				if !ok {
					break
				}
				if !yield(t.ID, nil) {
					return
				}
				positions = positions[1:]
			}
		}
	}
}

// tasksAtOnce is how many tasks are read at once to learn their ids.
const tasksAtOnce = 64
