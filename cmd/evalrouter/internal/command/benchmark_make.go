package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type iterOf[T any] = iter.Seq2[T, error]

// maxManifest bounds a manifest, as the service does.
const maxManifest = 256 << 10

// localManifest is a manifest as its author writes it: data names a file of
// this machine, in place of a source.
type localManifest struct {
	api.BenchmarkManifest
	Data string `json:"data,omitempty"`
}

type makeBenchmark struct {
	*App
	dryRun, fresh, rights bool
	name, key             string
}

func benchmarkCreate(a *App) *argv.Command {
	c := &makeBenchmark{App: a}
	fs := argv.NewFlags("create")
	fs.Bool(&c.dryRun, "dry-run", "check every row and show examples; makes nothing")
	fs.Bool(&c.fresh, "new", "make another one, though this very one is there")
	fs.Bool(&c.rights, "rights", "for a bundle: say that you may use its data so")
	fs.String(&c.name, "name", "NAME", "for a bundle: what you call it").Rare()
	fs.String(&c.key, "idempotency-key", "KEY", "repeat an earlier request with this key").Rare()
	return &argv.Command{
		Name: "create", Args: "MANIFEST|BUNDLE", Short: "Make a benchmark that only your workspace sees",
		Long:     "A manifest is a JSON file that says which column is what; see the guide. Its\ndata names a file beside it, which is uploaded first, with --dry-run too. A\nbundle of evalrouter-bench needs no manifest.",
		Examples: []string{"evalrouter benchmark create ./manifest.json --dry-run", "evalrouter benchmark create ./mine.zip --rights"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *makeBenchmark) exec(ctx context.Context, args []string) error {
	switch {
	case len(args) != 1:
		return &argv.UsageError{Message: "name one manifest or bundle", Next: "evalrouter benchmark create --help"}
	case c.fresh && c.key != "":
		return &argv.UsageError{Message: "--new and --idempotency-key exclude each other; nothing was made"}
	}
	m, err := c.manifest(ctx, args[0])
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	if c.dryRun {
		return c.preview(ctx, client, args[0], m)
	}
	key, err := c.keyOf(m)
	if err != nil {
		return err
	}
	b, err := c.create(ctx, client, key, m)
	if err != nil {
		return err
	}
	// The answer may be that of an earlier request.
	now, err := client.Benchmarks.Get(ctx, b.ProfileID)
	if err != nil {
		return err
	}
	if now.Status == api.BenchmarkArchived {
		return &flow.Error{Code: api.InvalidInput, Message: "this very benchmark was made before, as " + b.ProfileID + ", and archived; nothing was made. --new makes another one"}
	}
	slug, _, _ := strings.Cut(b.ProfileID, "@")
	return c.Value(b, func(p *term.Page) {
		p.Line("Made %s (%s): %s tasks, graded by %s, seen by your workspace only.", b.Name, b.ProfileID, Thousands(b.TaskCount), b.Task)
		p.Next("evalrouter run "+slug+" --dry-run", "evalrouter benchmark list")
	})
}

// create asks until the service has finished: a large benchmark may take it
// longer than one request may. The key makes it the same request each time.
func (c *makeBenchmark) create(ctx context.Context, client *evalrouter.Client, key evalrouter.IdempotencyKey, m api.BenchmarkManifest) (api.PrivateBenchmark, error) {
	for n := 0; ; n++ {
		b, err := client.Benchmarks.Create(ctx, key, m)
		if n == createTries || !errors.Is(err, api.OperationInProgress) && !(errors.Is(err, api.RequestTimeout) && ctx.Err() == nil) {
			return b, err
		}
		if err := c.Sleep(ctx, importPoll); err != nil {
			return b, err
		}
	}
}

// createTries bounds how often a benchmark that is being made is asked for.
const createTries = 60

// keyOf makes the same request have the same key, so that repeating the command
// makes nothing twice.
func (c *makeBenchmark) keyOf(m api.BenchmarkManifest) (evalrouter.IdempotencyKey, error) {
	switch {
	case c.key != "":
		return evalrouter.IdempotencyKey(c.key), nil
	case c.fresh:
		return evalrouter.NewIdempotencyKey(), nil
	}
	doc, err := json.Marshal(m)
	if err != nil {
		return "", &flow.Error{Code: api.InvalidInput, Message: "the manifest cannot be written as JSON", Err: err}
	}
	sum := sha256.Sum256(doc)
	return evalrouter.IdempotencyKey("benchmark-" + hex.EncodeToString(sum[:])), nil
}

// manifest reads what is to be made. Files of this machine are uploaded.
func (c *makeBenchmark) manifest(ctx context.Context, path string) (api.BenchmarkManifest, error) {
	up := &upload{App: c.App}
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		if !c.rights {
			return api.BenchmarkManifest{}, &argv.UsageError{Message: "a bundle needs --rights: say that you may use its data so; nothing was sent"}
		}
		src, err := up.send(ctx, path)
		name := c.name
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		return api.BenchmarkManifest{Name: name, Source: src.URI, RightsAttestation: true}, err
	}
	if c.rights || c.name != "" {
		return api.BenchmarkManifest{}, &argv.UsageError{Message: "--rights and --name are for bundles; a manifest says both itself. Nothing was sent"}
	}
	m, err := readManifest(path)
	if err != nil || m.Data == "" {
		return m.BenchmarkManifest, err
	}
	data := m.Data
	if !filepath.IsAbs(data) {
		data = filepath.Join(filepath.Dir(path), data)
	}
	src, err := up.send(ctx, data)
	m.Source = src.URI
	return m.BenchmarkManifest, err
}

func readManifest(path string) (m localManifest, err error) {
	bad := func(format string, args ...any) error {
		return &flow.Error{Code: api.InvalidInput, Message: "the manifest " + path + " " + fmt.Sprintf(format, args...) + "; nothing was sent"}
	}
	f, err := os.Open(path)
	if err != nil {
		return m, &argv.UsageError{Message: "the manifest cannot be read: " + pathReason(err) + "; nothing was sent"}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	switch {
	case err != nil:
		return m, bad("cannot be read: %s", pathReason(err))
	case len(raw) > maxManifest:
		return m, bad("is longer than %d bytes", maxManifest)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return m, bad("is not valid: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return m, bad("has text behind its end")
	}
	if (m.Data == "") == (m.Source == "") {
		return m, bad("names either data, a file, or source")
	}
	return m, nil
}

func (c *makeBenchmark) preview(ctx context.Context, client *evalrouter.Client, path string, m api.BenchmarkManifest) error {
	v, err := client.Benchmarks.Preview(ctx, m)
	if err != nil {
		return err
	}
	err = c.Value(v, func(p *term.Page) {
		for i, e := range v.Examples {
			p.Line("Example %d", i+1)
			for line := range strings.SplitSeq(e.Prompt, "\n") {
				p.Line("  | %s", line)
			}
			p.Line("  right: %s", strings.ReplaceAll(e.Answer, "\n", "  or  "))
		}
		for _, w := range v.Warnings {
			p.Line("Warning: %s", w)
		}
		for _, e := range v.Errors {
			where := "the file"
			if e.Row != nil {
				where = "row " + Thousands(*e.Row)
			}
			if e.Column != nil {
				where += ", column " + *e.Column
			}
			p.Line("%s: %s (%s)", where, e.Message, e.Code)
		}
		if v.OK {
			p.Line("%s rows, all of them tasks. Nothing was made.", Thousands(v.RowCount))
			p.Next("evalrouter benchmark create " + ShellWord(path))
			return
		}
		p.Line("%s of %s rows cannot be used. Nothing was made.", Thousands(v.ErrorCount), Thousands(v.RowCount))
	})
	if err == nil && !v.OK {
		return &Ended{Code: exitRejected}
	}
	return err
}

func benchmarkList(a *App) *argv.Command {
	l := &ListFlags{}
	status := ""
	fs := argv.NewFlags("list")
	fs.Choice(&status, "status", "only benchmarks in this state", api.BenchmarkActive, api.BenchmarkArchived).Value = "STATUS"
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List the benchmarks of your workspace", Flags: fs, Examples: []string{"evalrouter benchmark list --status active", "evalrouter benchmark list --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			page, err := Fetch(l, Source[api.PrivateBenchmark]{
				Page: func(p evalrouter.Paging) (api.Page[api.PrivateBenchmark], error) {
					return c.Benchmarks.List(ctx, evalrouter.BenchmarkListQuery{Status: status, Paging: p})
				},
				All: func(p evalrouter.Paging) iterOf[api.PrivateBenchmark] {
					return c.Benchmarks.All(ctx, evalrouter.BenchmarkListQuery{Status: status, Paging: p})
				},
			})
			if err != nil {
				return err
			}
			type rec = api.PrivateBenchmark
			return PrintList(a, l, []table.Column[rec]{
				{Name: "profile", Whole: true, Text: func(b rec) string { return b.ProfileID }},
				{Name: "name", Text: func(b rec) string { return b.Name }},
				{Name: "task", Drop: 1, Text: func(b rec) string { return b.Task }},
				{Name: "tasks", Right: true, Text: func(b rec) string { return Thousands(b.TaskCount) }},
				{Name: "status", Text: func(b rec) string { return b.Status }},
				{Name: "source", Wide: true, Whole: true, Text: func(b rec) string { return b.SourceURI }},
			}, page, Hints{Empty: "No benchmarks of your own yet.", Next: "evalrouter benchmark create MANIFEST --dry-run"})
		},
	}
}

func benchmarkArchive(a *App) *argv.Command {
	return &argv.Command{
		Name: "archive", Args: "PROFILE", Short: "Take a benchmark of your own out of use",
		Long: "Its runs and their results stay. This cannot be taken back.", Examples: []string{"evalrouter benchmark archive byob-3f2a9c", "evalrouter benchmark archive byob-3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one benchmark", Next: "evalrouter benchmark list"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			id, err := oneOf(args[0], "benchmark", "evalrouter benchmark list", func(yield func(string, error) bool) {
				for b, err := range client.Benchmarks.All(ctx, evalrouter.BenchmarkListQuery{Paging: evalrouter.Paging{Limit: 200}}) {
					if !yield(b.ProfileID, err) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
			b, err := client.Benchmarks.Archive(ctx, id)
			if err != nil {
				return err
			}
			return a.Value(b, func(p *term.Page) { p.Line("Archived %s (%s).", b.Name, b.ProfileID) })
		},
	}
}

// oneOf finds the id that a person typed: all of it, or a beginning of 4
// characters or more that only one has.
func oneOf(typed, what, look string, ids iterOf[string]) (string, error) {
	var found []string
	for id, err := range ids {
		switch {
		case err != nil:
			return "", err
		case id == typed:
			return id, nil
		case len(typed) >= 4 && strings.HasPrefix(id, typed):
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &argv.UsageError{Message: "there is no " + what + " " + flow.Typed(typed) + "; nothing was changed", Next: look}
	}
	return "", &argv.UsageError{Code: api.AmbiguousID, Message: "more than one " + what + " begins with " + flow.Typed(typed) + "; nothing was changed", Closest: found[:min(len(found), 5)], Next: look}
}
