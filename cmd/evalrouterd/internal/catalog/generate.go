package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Install admits the generated benchmarks with their default population. It
// is quick when they are there already.
func (c *Catalog) Install(ctx context.Context) error {
	for _, b := range builtin.List() {
		if _, err := c.Generate(ctx, b.Slug, builtin.DefaultSeed, builtin.DefaultSize); err != nil {
			return fmt.Errorf("install %s: %w", b.Slug, err)
		}
	}
	return nil
}

// Generate admits a draw of a generated benchmark. The default draw is
// slug@version; any other carries its seed and size in its slug, so that
// everyone who names it means the same tasks.
func (c *Catalog) Generate(ctx context.Context, slug string, seed uint64, n int) (core.Profile, error) {
	b, ok := builtin.Find(slug)
	if !ok {
		return core.Profile{}, core.Refuse(core.InvalidRequest, "there is no generated benchmark called that; the list is in the catalog")
	}
	p, err := drawProfile(b, seed, n)
	if err != nil {
		return core.Profile{}, err
	}
	if have, err := c.store.Profile(ctx, core.Scope{}, p.ID); err == nil && have.ManifestSHA256 == p.ManifestSHA256 {
		return have, nil
	}
	if err := measure(&p); err != nil {
		return core.Profile{}, err
	}
	p.CreatedAt = c.store.Now()
	_, err = c.store.PutProfile(ctx, c.newID(), p, noTasks)
	return p, err
}

// noTasks is for benchmarks that are computed: nothing is stored.
func noTasks(func(bundle.Task, error) bool) {}

func drawProfile(b builtin.Benchmark, seed uint64, n int) (core.Profile, error) {
	grader, err := json.Marshal(b.Grader)
	if err != nil {
		return core.Profile{}, err
	}
	g, err := graderOf(grader)
	if err != nil {
		return core.Profile{}, err
	}
	slug, name := b.Slug, b.Name
	if seed != builtin.DefaultSeed || n != builtin.DefaultSize {
		slug = fmt.Sprintf("%s-s%d-n%d", b.Slug, seed, n)
		name = fmt.Sprintf("%s (seed %d, %d tasks)", b.Name, seed, n)
	}
	return core.Profile{
		ID: core.ProfileID(slug + "@" + b.Version), Slug: slug, Version: b.Version, Name: name, Status: "active",
		Description: b.Description, Category: b.Category, Runner: b.Family, Family: b.Family,
		Generator:      &core.Generator{Slug: b.Slug, Version: b.Version, Seed: seed},
		ManifestSHA256: b.Digest(seed, n), TaskCount: n, MaxOutputTokens: int(b.MaxOutputTokens),
		Grader: g.Identity(), GraderConfig: grader, Metrics: b.Metrics, Licence: core.Licence{Data: b.License, Code: b.License},
	}, nil
}

// generated is the tasks of a draw. Only the version that this program has
// can be computed.
func generated(g core.Generator, n int) (bundle.Tasks, error) {
	b, ok := builtin.Find(g.Slug)
	if !ok || b.Version != g.Version {
		return nil, fmt.Errorf("this version of the service cannot generate %s version %s", g.Slug, g.Version)
	}
	return b.Tasks(g.Seed, n), nil
}

// measure fills in the hashes of a generated benchmark, which cover every task.
func measure(p *core.Profile) error {
	if ok, err := recall(p); ok || err != nil {
		return err
	}
	tasks, err := generated(*p.Generator, p.TaskCount)
	if err != nil {
		return err
	}
	d := newDigest()
	for t, err := range each(tasks) {
		if err == nil {
			err = d.add(t)
		}
		if err != nil {
			return err
		}
	}
	d.fill(p)
	p.DatasetSHA256 = p.PopulationSHA256
	return nil
}

func each(tasks bundle.Tasks) iter.Seq2[bundle.Task, error] {
	return func(yield func(bundle.Task, error) bool) {
		for pos := range tasks.Len() {
			if t, err := tasks.Task(pos); !yield(t, err) || err != nil {
				return
			}
		}
	}
}
