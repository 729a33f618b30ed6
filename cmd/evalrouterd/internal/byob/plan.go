package byob

import (
	"context"
	"errors"
	"io"
	"iter"
	"regexp"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datafile"
)

// plan is a manifest with its source at hand.
type plan struct {
	source  core.DataSource
	profile core.Profile
	kind    string
	// tasks yields them from the first; check says what is wrong with them.
	tasks func() iter.Seq2[bundle.Task, error]
	check func(context.Context) (bundle.Report, error)
	close func() error
	// warnings are sentences about what is no fault.
	warnings []string
}

var workspaceURI = regexp.MustCompile(`^workspace://([^/]+)/`)

// find is the source that a manifest names.
func (s *Service) find(ctx context.Context, sc core.Scope, uri string) (core.DataSource, error) {
	var src core.DataSource
	var err error
	if m := workspaceURI.FindStringSubmatch(uri); m != nil {
		src, err = s.Sources.Source(ctx, sc, core.SourceID(m[1]))
		if err == nil && src.URI != uri {
			err = core.Missing("source")
		}
	} else {
		src, err = s.Sources.SourceByURI(ctx, sc, uri)
	}
	switch {
	case errors.Is(err, &core.Refusal{Code: core.NotFound}):
		return src, &Invalid{core.ManifestInvalid, "the workspace has no source that is called so; nothing was made. Upload or import it first", []Field{{"source", "source_unknown"}}}
	case err != nil:
		return src, err
	case src.Status == core.SourceFailed:
		return src, core.Refuse(core.SourceNotReady, "the source cannot be used: %s", src.Reason)
	case src.Status != core.SourceCompleted:
		return src, core.Refuse(core.SourceNotReady, "the source is %s and cannot be used; nothing was made", src.Status)
	}
	return src, nil
}

// plan reads a manifest and its source. slug names what would be made.
func (s *Service) plan(ctx context.Context, sc core.Scope, m Manifest, slug string) (*plan, error) {
	src, err := s.find(ctx, sc, m.Source)
	if err != nil {
		return nil, err
	}
	var p problems
	m.common(src, &p)
	if src.Format == core.FormatPackage {
		return s.planPackage(ctx, src, m, slug, &p)
	}
	m.mapping(src, &p)
	if m.MaxOutputTokens < 1 || m.MaxOutputTokens > 1_000_000 {
		p.add("max_output_tokens", "out_of_range")
	}
	if m.License == "" {
		p.add("data_license", "required")
	}
	// Whatever else is wrong is found before the file is opened.
	if _, _, err := readBack(m.translate(src, slug, bundle.Data{File: "data", Format: "jsonl", SHA256: src.SHA256}), &p); err != nil {
		return nil, err
	}
	f, data, err := s.table(ctx, src)
	if err != nil {
		return nil, err
	}
	read, g, err := readBack(m.translate(src, slug, data), &p)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	profile, _, err := catalog.ProfileOf(read)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	profile.DatasetSHA256 = src.SHA256
	return &plan{
		source: src, profile: owned(profile, sc, src), kind: m.Task, close: f.Close,
		tasks: func() iter.Seq2[bundle.Task, error] { return read.Load(ctx, f.section()) },
		check: func(ctx context.Context) (bundle.Report, error) {
			return read.Check(ctx, func() (io.ReadCloser, error) { return io.NopCloser(f.section()), nil }, g)
		},
	}, nil
}

// owned makes a profile one of a workspace, which is not yet seen.
func owned(p core.Profile, sc core.Scope, src core.DataSource) core.Profile {
	p.Workspace, p.Status, p.Category = sc.Workspace, "candidate", "private"
	p.Source = core.Source{Path: src.FileName}
	if rest, ok := strings.CutPrefix(src.URI, "hf://"); ok {
		name, at, _ := strings.Cut(rest, "@")
		p.Source.URL = "hf://" + name
		p.Source.Revision, p.Source.Path, _ = strings.Cut(at, "/")
	}
	return p
}

// table is the rows of a source as a file that bundle reads.
func (s *Service) table(ctx context.Context, src core.DataSource) (*spool, bundle.Data, error) {
	data := bundle.Data{File: "data", Format: src.Format}
	f, err := s.whole(ctx, src)
	if err != nil {
		return nil, data, err
	}
	if f.sum != src.SHA256 {
		return nil, data, errors.Join(errors.New("the bytes of source "+string(src.ID)+" have changed"), f.Close())
	}
	if src.Format == core.FormatParquet {
		lines, err := s.spool(func(w io.Writer) error {
			_, err := datafile.Lines(ctx, f, f.size, w)
			return err
		})
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, data, err
		}
		f, data.Format = lines, core.FormatJSONL
	}
	data.SHA256, data.Bytes = f.sum, f.size
	return f, data, nil
}

// planPackage takes everything but the name from the package.
func (s *Service) planPackage(ctx context.Context, src core.DataSource, m Manifest, slug string, p *problems) (*plan, error) {
	for path, given := range map[string]bool{
		"task": m.Task != "", "columns": len(m.Columns) > 0, "prompt_template": m.Template != "", "grader_options": len(m.Options) > 0, "answer_format": m.AnswerFormat != "",
		"max_output_tokens": m.MaxOutputTokens != 0,
	} {
		if given {
			p.add(path, "in_the_package")
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	f, err := s.whole(ctx, src)
	if err != nil {
		return nil, err
	}
	made, err := s.openPackage(ctx, f, src, m, slug, p)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return made, nil
}

func (s *Service) openPackage(ctx context.Context, f *spool, src core.DataSource, m Manifest, slug string, p *problems) (*plan, error) {
	fsys, err := pack.OpenBundle(f, f.size)
	if err != nil {
		return nil, err
	}
	// The validator runs again: what it said when the source came in may have
	// been an older one's word.
	rep, err := pack.Validate(ctx, fsys, pack.Options{Graders: families.Grader, Sealed: true})
	if err == nil {
		err = rep.Err()
	}
	var refused *pack.Refusal
	if errors.As(err, &refused) {
		for _, f := range refused.Report.Findings {
			if f.Severity == pack.Error {
				p.add("source", f.Rule)
			}
		}
		return nil, p.err()
	}
	if err != nil {
		return nil, err
	}
	man, err := pack.Open(fsys, pack.Options{Graders: families.Grader, Sealed: true})
	if err != nil {
		return nil, err
	}
	if m.License != "" && m.License != man.License.Data {
		p.add("data_license", "source_differs")
	}
	profile, g, err := catalog.ProfileOf(bundle.Manifest{
		Slug: slug, Version: "1", Name: m.Name, Description: man.Description, Family: "generic", Data: bundle.Data{SHA256: src.SHA256}, License: bundle.License{Data: man.License.Data, Code: man.License.Code},
		Grader: man.Config(), MaxOutputTokens: man.Limits.MaxOutputTokens, Metrics: []string{"accuracy"},
	})
	if err != nil {
		return nil, err
	}
	if _, judged := g.(bundle.Judged); judged {
		p.add("source", "grader_not_offered")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	profile.ManifestSHA256 = rep.Package
	var warnings []string
	if man.License.Data == pack.NotGranted {
		warnings = append(warnings, "the package says that no licence was granted")
	}
	return &plan{
		warnings: warnings,
		source:   src, profile: owned(profile, core.Scope{Workspace: src.Workspace}, src), kind: man.Grader.Kind, close: f.Close,
		tasks: func() iter.Seq2[bundle.Task, error] { return pack.Tasks(ctx, fsys, man) },
		check: func(context.Context) (bundle.Report, error) {
			return bundle.Report{Rows: rep.Tasks, Tasks: rep.Tasks}, nil
		},
	}, nil
}
