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
	TaskIDs(context.Context, core.ProfileID) iter.Seq2[string, error]
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

// idsAtOnce is up to how many tasks are read one by one to learn their ids;
// more are found by going through the whole benchmark.
const idsAtOnce = 2000

// TaskIDs yields the ids of the tasks at ascending positions.
func (c *Catalog) TaskIDs(ctx context.Context, p core.Profile, positions []int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ids := c.idsByTask
		if p.Generator == nil && len(positions) > idsAtOnce {
			ids = c.idsByScan
		}
		if err := ids(ctx, p, positions, func(id string) bool { return yield(id, nil) }); err != nil {
			yield("", err)
		}
	}
}

func (c *Catalog) idsByTask(ctx context.Context, p core.Profile, positions []int, yield func(string) bool) error {
	for len(positions) > 0 {
		chunk := positions[:min(len(positions), 64)]
		tasks, err := c.TasksAt(ctx, p, chunk)
		if err != nil {
			return err
		}
		for len(chunk) > 0 {
			t, ok := tasks[chunk[0]]
			if !ok {
				break
			}
			if !yield(t.ID) {
				return nil
			}
			chunk, positions = chunk[1:], positions[1:]
		}
	}
	return nil
}

func (c *Catalog) idsByScan(ctx context.Context, p core.Profile, positions []int, yield func(string) bool) error {
	pos := 0
	for id, err := range c.store.TaskIDs(ctx, p.ID) {
		if err != nil {
			return err
		}
		if len(positions) == 0 {
			return nil
		}
		if pos == positions[0] {
			if !yield(id) {
				return nil
			}
			positions = positions[1:]
		}
		pos++
	}
	if len(positions) > 0 {
		return fmt.Errorf("read tasks of %s: position %d is not there", p.ID, positions[0])
	}
	return nil
}
