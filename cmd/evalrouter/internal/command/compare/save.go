package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/comparison"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/data"
)

// target is where a comparison goes: a new folder, or a file with a folder of
// its sources beside it.
type target struct {
	folder string // "" where file is set
	file   string // NAME.json
	chosen bool   // by the person: used exactly, or refused
}

const document, page, sources = "comparison.json", "comparison.html", "sources"

// destination decides where to save before anything is asked of the service.
func (f *Flags) destination(a *command.App, name string) (target, error) {
	out := f.output
	if out == "" {
		return target{folder: filepath.Join(a.Term.Dir, name)}, nil
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(a.Term.Dir, out)
	}
	t := target{folder: out, chosen: true}
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case "":
	case ".json":
		t = target{file: out, chosen: true}
	default:
		return t, &argv.UsageError{Message: "--output is the name of a new folder, or of a file that ends in .json; nothing was compared"}
	}
	for _, p := range t.names() {
		if _, err := os.Lstat(p); err == nil {
			return t, exists(p)
		}
	}
	return t, nil
}

func exists(p string) error {
	return &flow.Error{Code: api.DestinationExists, Message: p + " exists already; nothing was compared or written", Facts: []string{"a comparison never replaces one; choose another name"}}
}

// base is NAME of NAME.json.
func (t target) base() string { return strings.TrimSuffix(t.file, filepath.Ext(t.file)) }

// names are the paths that must be free.
func (t target) names() []string {
	if t.file == "" {
		return []string{t.folder}
	}
	return []string{t.file, t.base() + ".html", t.base() + "-" + sources}
}

// inside is the folder of sources as the document names it.
func (t target) inside() string {
	if t.file == "" {
		return sources
	}
	return filepath.Base(t.base()) + "-" + sources
}

// saving is one comparison on its way to the disk. Everything is made in a
// folder of its own beside the target, which gets its name at the end: a
// comparison is there whole or not at all.
type saving struct {
	*command.App
	flags *Flags
	work  Work
	to    target
	html  bool
	stage string
}

func (s *saving) save(ctx context.Context, client *evalrouter.Client) (api.Comparison, []file, error) {
	dir := filepath.Dir(s.to.names()[0])
	stage, err := os.MkdirTemp(dir, ".evalrouter-*.part") // made with mode 0700
	if err != nil {
		return api.Comparison{}, nil, s.unwritable(err)
	}
	s.stage = stage
	defer os.RemoveAll(stage)
	if err := os.Mkdir(filepath.Join(stage, sources), 0o700); err != nil {
		return api.Comparison{}, nil, s.unwritable(err)
	}
	var members []comparison.Member
	get := s.fetch
	if s.flags.resumed {
		get = s.fetchChain
	}
	for _, id := range s.work.Runs {
		m, err := get(ctx, client, id)
		if err != nil {
			return api.Comparison{}, nil, s.refused(err)
		}
		members = append(members, m)
	}
	doc, err := comparison.Make(members, comparison.Options{
		GeneratedAt: s.Now(), Version: s.Version, GroupID: s.work.Group, Evidence: s.flags.evidence, WithoutRaw: s.flags.withoutRaw, Statistics: s.flags.stats,
	})
	if err != nil {
		return doc, nil, s.refused(err)
	}
	if err := s.write(doc); err != nil {
		return doc, nil, err
	}
	files, err := s.publish(doc)
	return doc, files, err
}

// wanted is one export to download, and what its file is called.
type wanted struct {
	run, kind, name string
	evalrouter.ExportQuery
}

// fetch downloads what is compared of one run and reads it from the disk.
func (s *saving) fetch(ctx context.Context, client *evalrouter.Client, id string) (comparison.Member, error) {
	format, kind := s.flags.export()
	first := wanted{id, kind, id + ".summary.json", evalrouter.ExportQuery{Format: format}}
	if kind == api.SourceFull {
		first.name = id + ".json"
	}
	list := []wanted{first}
	if s.flags.stats {
		list = append(list, scores(id, 0))
	}
	files, err := s.download(ctx, client, list)
	if err != nil {
		return comparison.Member{}, err
	}
	return member(s.opened, files)
}

func scores(id string, version int) wanted {
	return wanted{id, api.SourceScores, id + ".scores.jsonl", evalrouter.ExportQuery{Format: evalrouter.FormatScores, Version: version}}
}

// fetchChain downloads what is compared of a run with its resumes. The chain's
// export says which results of which runs it was made of, and only these are
// downloaded besides: a resume that begins meanwhile changes nothing.
func (s *saving) fetchChain(ctx context.Context, client *evalrouter.Client, id string) (m comparison.Member, err error) {
	q := evalrouter.ExportQuery{Format: evalrouter.FormatSummary, IncludeResumed: true}
	files, err := s.download(ctx, client, []wanted{{id, api.SourceChain, id + ".chain.json", q}})
	if err != nil {
		return m, err
	}
	if m, err = member(s.opened, files); err != nil {
		return m, err
	}
	var list []wanted
	runs := m.Chain.Runs
	if s.flags.evidence || s.flags.withoutRaw {
		for _, r := range runs {
			list = append(list, wanted{r.RunID, api.SourceFull, r.RunID + ".json", evalrouter.ExportQuery{Format: evalrouter.FormatJSON, Version: r.ResultVersion}})
		}
	}
	if s.flags.stats {
		newest := runs[len(runs)-1]
		list = append(list, scores(newest.RunID, newest.ResultVersion))
	}
	more, err := s.download(ctx, client, list)
	if err != nil {
		return m, err
	}
	return member(s.opened, append(files, more...))
}

func (s *saving) opened(name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.stage, sources, path.Base(name)))
}

func (s *saving) download(ctx context.Context, client *evalrouter.Client, list []wanted) (out []api.ComparedSource, err error) {
	for _, w := range list {
		if !filepath.IsLocal(w.name) || filepath.Base(w.name) != w.name {
			return nil, fmt.Errorf("export run %s: the service names a run that is no file", w.run)
		}
		info, err := client.Runs.ExportFile(ctx, w.run, w.ExportQuery, filepath.Join(s.stage, sources, w.name), false)
		if errors.Is(err, api.RunNotFinished) {
			return nil, command.WithNext(err, "evalrouter wait "+data.Unfinished(err, w.run))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, api.ComparedSource{Path: path.Join(s.to.inside(), w.name), SHA256: info.SHA256, Bytes: info.Bytes, Kind: w.kind})
	}
	return out, nil
}

// member reads the saved exports of one run, or of one chain: its own comes before
// those of its runs.
func member(open func(string) (io.ReadCloser, error), files []api.ComparedSource) (m comparison.Member, err error) {
	for _, f := range files {
		r, err := open(f.Path)
		if err != nil {
			return m, fmt.Errorf("open %s: %w", f.Path, err)
		}
		err = read(&m, f, r)
		r.Close()
		if err != nil {
			return m, fmt.Errorf("read %s: %w", f.Path, err)
		}
	}
	return m, nil
}

func read(m *comparison.Member, f api.ComparedSource, r io.Reader) (err error) {
	switch {
	case f.Kind == api.SourceScores:
		m.ScoresFile = &f
		m.Scores, err = comparison.ReadScores(r)
	case f.Kind == api.SourceChain:
		m.Source = f
		m.Summary, m.Chain, err = comparison.ReadChain(r)
	case f.Kind == api.SourceFull && m.Chain != nil:
		one, tasks, err := comparison.ReadFull(r)
		m.Tasks = tasks
		m.Runs = append(m.Runs, comparison.ChainMember{Source: f, Run: one.RunID, Version: one.ResultVersion, Tasks: tasks})
		return err
	case f.Kind == api.SourceFull:
		m.Source = f
		m.Summary, m.Tasks, err = comparison.ReadFull(r)
	default:
		m.Source = f
		m.Summary, err = comparison.ReadSummary(r)
	}
	return err
}

// write puts the document, and the page if it is wanted, into the stage.
func (s *saving) write(doc api.Comparison) error {
	if err := writeNew(filepath.Join(s.stage, document), func(w io.Writer) error { return encode(w, doc) }); err != nil {
		return s.unwritable(err)
	}
	if !s.html {
		return nil
	}
	if err := writeNew(filepath.Join(s.stage, page), func(w io.Writer) error { return report.Comparison(w, doc) }); err != nil {
		return s.unwritable(err)
	}
	return nil
}

func encode(w io.Writer, doc api.Comparison) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeNew writes a file that only its owner can read and that was not there.
func writeNew(name string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Sync(), f.Close())
}

// publish gives the stage its name. A default name moves on to the next free
// one; a chosen name is used exactly.
func (s *saving) publish(doc api.Comparison) ([]file, error) {
	if s.to.file != "" {
		return s.publishFile(doc)
	}
	folder := s.to.folder
	for n := 2; ; n++ {
		_, err := os.Lstat(folder)
		if err == nil && s.to.chosen {
			return nil, exists(folder)
		}
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, s.unwritable(err)
		}
		folder = fmt.Sprintf("%s-%d", s.to.folder, n)
	}
	if err := os.Rename(s.stage, folder); err != nil {
		return nil, s.unwritable(err)
	}
	out := []file{{filepath.Join(folder, document), kindReport}}
	if s.html {
		out = append(out, file{filepath.Join(folder, page), kindReport})
	}
	return append(out, kept(doc, folder)...), nil
}

// publishFile links the files to their names, which fails where one is taken,
// and takes back what it did when one does.
func (s *saving) publishFile(doc api.Comparison) (out []file, err error) {
	side := s.to.base() + "-" + sources
	if _, err := os.Lstat(side); err == nil {
		return nil, exists(side)
	}
	if err := os.Rename(filepath.Join(s.stage, sources), side); err != nil {
		return nil, s.unwritable(err)
	}
	done := []string{side}
	defer func() {
		if err != nil {
			for _, p := range done {
				os.RemoveAll(p)
			}
		}
	}()
	links := [][2]string{{document, s.to.file}}
	if s.html {
		links = append(links, [2]string{page, s.to.base() + ".html"})
	}
	for _, l := range links {
		if err := os.Link(filepath.Join(s.stage, l[0]), l[1]); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return nil, exists(l[1])
			}
			return nil, s.unwritable(err)
		}
		done = append(done, l[1])
		out = append(out, file{l[1], kindReport})
	}
	return append(out, kept(doc, filepath.Dir(s.to.file))...), nil
}

// sourcesOf are the files that a series was made of, a chain's own first.
func sourcesOf(s api.ComparisonSeries) []api.ComparedSource {
	out := append([]api.ComparedSource{s.Source}, s.Members...)
	if s.Scores != nil {
		out = append(out, *s.Scores)
	}
	return out
}

// shown is what of a saved comparison one names to look at it again, as one would
// type it here.
func (t target) shown(a *command.App, saved string) string {
	if t.file == "" {
		saved = filepath.Dir(saved)
	}
	if rel, err := filepath.Rel(a.Term.Dir, saved); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return saved
}

// kept are the saved sources of a comparison.
func kept(doc api.Comparison, folder string) (out []file) {
	for _, s := range doc.Series {
		for _, x := range sourcesOf(s) {
			out = append(out, file{filepath.Join(folder, filepath.FromSlash(x.Path)), x.Kind})
		}
	}
	return out
}

func (s *saving) unwritable(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	reason := err.Error()
	switch {
	case errors.As(err, &p):
		reason = p.Err.Error()
	case errors.As(err, &l):
		reason = l.Err.Error()
	}
	return command.WithNext(&flow.Error{Code: api.ExportWriteFailed, Message: s.to.names()[0] + " could not be written: " + reason + "; nothing was left", Err: err},
		s.Again(command.Edit{Drop: []string{"output"}}))
}
