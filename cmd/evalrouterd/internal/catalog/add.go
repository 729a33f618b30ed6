package catalog

import (
	"context"
	"encoding/json"
	"io"
	"iter"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Added is what admitting a benchmark did.
type Added struct {
	Profile core.Profile
	Report  bundle.Report
	// Made is false when this very benchmark was there already.
	Made bool
}

// Add admits a benchmark from its manifest and data file. open gives the file
// from its start; it is read three times: to check every byte and every gold
// answer, to hash the tasks, and to store them. Nothing is admitted unless
// all of it is right.
func (c *Catalog) Add(ctx context.Context, m bundle.Manifest, open func() (io.ReadCloser, error)) (Added, error) {
	p, grader, err := ProfileOf(m)
	if err != nil {
		return Added{}, err
	}
	report, err := m.Check(ctx, open, grader)
	if err != nil {
		return Added{}, err
	}
	if err := report.Err(); err != nil {
		return Added{Report: report}, err
	}
	p, made, err := c.Admit(ctx, p, func() iter.Seq2[bundle.Task, error] { return load(ctx, m, open) })
	return Added{Profile: p, Report: report, Made: made}, err
}

// Admit admits a profile whose tasks are those that tasks yields, each time it
// is called: it is called twice, to hash them and to store them. made is false
// when this very profile was there already.
func (c *Catalog) Admit(ctx context.Context, p core.Profile, tasks func() iter.Seq2[bundle.Task, error]) (_ core.Profile, made bool, err error) {
	d := newDigest()
	for t, err := range tasks() {
		if err == nil {
			err = d.add(t)
		}
		if err != nil {
			return p, false, err
		}
	}
	d.fill(&p)
	p.CreatedAt = c.store.Now()
	made, err = c.store.PutProfile(ctx, c.newID(), p, tasks())
	return p, made, err
}

func load(ctx context.Context, m bundle.Manifest, open func() (io.ReadCloser, error)) iter.Seq2[bundle.Task, error] {
	return func(yield func(bundle.Task, error) bool) {
		f, err := open()
		if err != nil {
			yield(bundle.Task{}, err)
			return
		}
		defer f.Close()
		for t, err := range m.Load(ctx, f) {
			if !yield(t, err) {
				return
			}
		}
	}
}

// ProfileOf is the profile that a manifest declares, before its tasks are
// known, and the grader of it.
func ProfileOf(m bundle.Manifest) (core.Profile, bundle.Grader, error) {
	cfg, err := json.Marshal(m.Grader)
	if err != nil {
		return core.Profile{}, nil, err
	}
	g, err := graderOf(cfg)
	if err != nil {
		return core.Profile{}, nil, err
	}
	return core.Profile{
		ID: core.ProfileID(m.Slug + "@" + m.Version), Slug: m.Slug, Version: m.Version, Name: m.Name, Status: "active",
		Description: m.Description, Category: m.Category, Runner: m.Family, Family: m.Family,
		ManifestSHA256: m.Digest(), DatasetSHA256: m.Data.SHA256, MaxOutputTokens: int(m.MaxOutputTokens),
		Grader: g.Identity(), GraderConfig: cfg, Needs: families.Needs(m.Grader.Kind), Sampling: bundle.SamplingOf(g), Metrics: m.Metrics,
		Source:  core.Source{URL: m.Source.URL, Revision: m.Source.Revision, Path: m.Source.Path},
		Licence: core.Licence{Data: m.License.Data, Code: m.License.Code, URL: m.License.URL},
	}, g, nil
}
