package catalog

import (
	"context"
	"encoding/json"
	"io"

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
	p, grader, err := manifestProfile(m)
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
	d := newDigest()
	if err := load(ctx, m, open, d.add); err != nil {
		return Added{}, err
	}
	d.fill(&p)
	p.CreatedAt = c.store.Now()
	f, err := open()
	if err != nil {
		return Added{}, err
	}
	defer f.Close()
	made, err := c.store.PutProfile(ctx, c.newID(), p, m.Load(ctx, f))
	return Added{Profile: p, Report: report, Made: made}, err
}

func load(ctx context.Context, m bundle.Manifest, open func() (io.ReadCloser, error), use func(bundle.Task) error) error {
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close()
	for t, err := range m.Load(ctx, f) {
		if err == nil {
			err = use(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func manifestProfile(m bundle.Manifest) (core.Profile, bundle.Grader, error) {
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
