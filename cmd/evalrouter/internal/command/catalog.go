package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/readcache"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type catalogCmd struct {
	*App
	models, all        bool
	refresh, offline   bool
	private, browse    bool
	slug, status       string
	query, runner, can string
	list               ListFlags
}

// Catalog lists what can be evaluated and with what.
func Catalog(a *App) *argv.Command {
	c := &catalogCmd{App: a}
	fs := argv.NewFlags("catalog")
	fs.Bool(&c.models, "models", "list models instead of benchmarks")
	fs.String(&c.slug, "slug", "SLUG", "one benchmark with all its versions")
	fs.String(&c.query, "query", "TEXT", "only entries with this text")
	fs.Choice(&c.status, "status", "only versions in this state", "candidate", "active", "quarantined", "retired")
	fs.Bool(&c.all, "all", "also what is in review or unavailable")
	fs.Bool(&c.private, "private", "also your workspace's own, asked as you").Rare()
	fs.String(&c.runner, "runner", "NAME", "only benchmarks of this runner").Rare()
	fs.String(&c.can, "capability", "CAP", "only entries with this capability").Rare()
	fs.Bool(&c.refresh, "refresh", "read it now, never a local copy").Rare()
	fs.Bool(&c.offline, "offline", "a fresh local copy only, no network").Rare()
	Interactive(fs, &c.browse, "browse in the full-screen workspace")
	c.list.Declare(fs)
	return &argv.Command{
		Name: "catalog", Args: "[--models | --slug SLUG] [flags]",
		Short:    "List benchmarks and models",
		Long:     "Read without credentials, but for --private.\nAn active entry is not always ready to run; a quote decides.",
		Examples: []string{"evalrouter catalog", "evalrouter catalog --models --json"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *catalogCmd) inWorkspace() error {
	if c.models {
		return c.OpenWorkspace("models", "evalrouter catalog --models")
	}
	return c.OpenWorkspace("benchmarks", "evalrouter catalog")
}

func (c *catalogCmd) exec(ctx context.Context, args []string) error {
	if err := NoOperands(args); err != nil {
		return err
	}
	if c.models && c.slug != "" {
		return &argv.UsageError{Message: "--models and --slug are two different lists; give one"}
	}
	if c.models && (c.status != "" || c.runner != "") {
		return &argv.UsageError{Message: "--status and --runner are about benchmarks; leave them out with --models"}
	}
	if c.browse {
		return c.inWorkspace()
	}
	if c.private {
		return c.asOneself(ctx)
	}
	mode := readcache.Use
	switch {
	case c.refresh && c.offline:
		return &argv.UsageError{Message: "--refresh asks the service and --offline does not; give one"}
	case c.refresh:
		mode = readcache.Refresh
	case c.offline:
		mode = readcache.Offline
	}
	cat, err := c.publicCatalog(mode)
	if err != nil {
		return err
	}
	err = c.show(ctx, cat)
	cat.told(c.App)
	return errors.Join(cat.explain(err, c.Again(Edit{Drop: []string{"offline"}, Switches: []string{"offline"}})), cat.close())
}

// asOneself reads the catalog as the workspace sees it. Nothing of it is copied:
// the client that carries the credential knows no cache.
func (c *catalogCmd) asOneself(ctx context.Context) error {
	if c.models || c.refresh || c.offline {
		return &argv.UsageError{Message: "--private is about benchmarks and always asks the service; leave out --models, --refresh and --offline"}
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	return c.show(ctx, &catalogReader{Catalog: client.Catalog})
}

func (c *catalogCmd) show(ctx context.Context, cat *catalogReader) error {
	switch {
	case c.models:
		return c.listModels(ctx, cat.Catalog)
	case c.slug != "":
		return c.one(ctx, cat.Catalog)
	}
	return c.benchmarks(ctx, cat.Catalog)
}

func (c *catalogCmd) benchmarks(ctx context.Context, cat *evalrouter.Catalog) error {
	q := evalrouter.BenchmarkQuery{Text: c.query, Runner: c.runner, Capability: c.can, Status: c.status}
	hidden := 0
	src := Source[api.BenchmarkRecord]{
		Page: func(p evalrouter.Paging) (api.Page[api.BenchmarkRecord], error) {
			q.Paging = p
			return cat.Benchmarks(ctx, q)
		},
		All: func(p evalrouter.Paging) iter.Seq2[api.BenchmarkRecord, error] {
			q.Paging = p
			return cat.AllBenchmarks(ctx, q)
		},
	}
	// The document for programs is the service's page as it is; people get what
	// they can run.
	if !c.all && c.status == "" && !c.forPrograms() {
		src.Keep = func(b api.BenchmarkRecord) bool {
			ready := flow.Quotable(&b)
			if !ready {
				hidden++
			}
			return ready
		}
	}
	page, err := Fetch(&c.list, src)
	if err != nil {
		return err
	}
	h := Hints{Empty: "No benchmark fits.", Note: "Models: evalrouter catalog --models", Next: "evalrouter run BENCHMARK --model MODEL"}
	if hidden > 0 {
		h.Note = fmt.Sprintf("%s in review or unavailable are hidden (--all). %s", Thousands(hidden), h.Note)
	}
	return PrintList(c.App, &c.list, benchmarkColumns(), page, h)
}

func benchmarkColumns() []table.Column[api.BenchmarkRecord] {
	type rec = api.BenchmarkRecord
	return []table.Column[rec]{
		{Name: "benchmark", Whole: true, Text: func(b rec) string { return b.Slug + "@" + b.Version }},
		{Name: "tasks", Right: true, Text: func(b rec) string { return count(b.TaskCount) }},
		{Name: "name", Drop: 1, Text: func(b rec) string { return text(b.Name) }},
		{Name: "family", Drop: 2, Text: func(b rec) string { return b.Family }},
		{Name: "licence", Drop: 3, Text: func(b rec) string { return text(b.DataLicense) }},
		{Name: "ready", Drop: 4, Text: func(b rec) string { return ready(b) }},
		{Name: "status", Wide: true, Text: func(b rec) string { return b.Status }},
		{Name: "visibility", Wide: true, Text: func(b rec) string { return b.Visibility }},
		{Name: "runner", Wide: true, Text: func(b rec) string { return b.Runner }},
		{Name: "category", Wide: true, Text: func(b rec) string { return text(b.Category) }},
		{Name: "id", Wide: true, Whole: true, Text: func(b rec) string { return b.ID }},
	}
}

func ready(b api.BenchmarkRecord) string {
	switch {
	case b.QuoteAvailability == nil:
		return "unknown"
	case flow.Quotable(&b):
		return "yes"
	}
	return "no: " + text(b.QuoteAvailability.ReasonCode)
}

func (c *catalogCmd) listModels(ctx context.Context, cat *evalrouter.Catalog) error {
	q := evalrouter.ModelQuery{Text: c.query, Capability: c.can}
	page, err := Fetch(&c.list, Source[api.ManagedRoute]{
		Page: func(p evalrouter.Paging) (api.Page[api.ManagedRoute], error) {
			q.Paging = p
			return cat.Models(ctx, q)
		},
		All: func(p evalrouter.Paging) iter.Seq2[api.ManagedRoute, error] {
			q.Paging = p
			return cat.AllModels(ctx, q)
		},
	})
	if err != nil {
		return err
	}
	return PrintList(c.App, &c.list, modelColumns(), page, Hints{
		Empty: "No model fits.", Note: "Your own endpoints: evalrouter connections list", Next: "evalrouter run BENCHMARK --model MODEL",
	})
}

func modelColumns() []table.Column[api.ManagedRoute] {
	type rec = api.ManagedRoute
	price := func(get func(*api.Pricing) *usd.Micro) func(rec) string {
		return func(r rec) string {
			if r.Pricing == nil || get(r.Pricing) == nil {
				return "-"
			}
			return Money(*get(r.Pricing))
		}
	}
	return []table.Column[rec]{
		{Name: "model", Whole: true, Text: func(r rec) string { return r.ID }},
		{Name: "name", Drop: 2, Text: func(r rec) string { return r.DisplayName }},
		{Name: "provider", Drop: 1, Text: func(r rec) string { return r.Provider }},
		{Name: "in", Right: true, Text: price(func(p *api.Pricing) *usd.Micro { return p.InputMicrousd })},
		{Name: "out", Right: true, Text: price(func(p *api.Pricing) *usd.Micro { return p.OutputMicrousd })},
		{Name: "kind", Text: func(r rec) string { return map[bool]string{true: "simulated", false: "real"}[r.Simulated] }},
		{Name: "status", Wide: true, Text: func(r rec) string { return r.Status }},
		{Name: "id", Wide: true, Whole: true, Text: func(r rec) string { return r.ModelID }},
		{Name: "reasoning", Wide: true, Text: func(r rec) string { return ReasoningControls(r.Reasoning) }},
		{Name: "capabilities", Wide: true, Text: func(r rec) string { return strings.Join(r.Capabilities, ", ") }},
	}
}

func (c *catalogCmd) one(ctx context.Context, cat *evalrouter.Catalog) error {
	d, err := cat.Benchmark(ctx, c.slug)
	if errors.Is(err, api.NotFound) || errors.Is(err, api.InvalidInput) {
		return c.unknownSlug(ctx, cat)
	}
	if err != nil {
		return err
	}
	return c.Value(d, func(p *term.Page) {
		for i, b := range d.Versions {
			if i > 0 {
				p.Line("")
			}
			p.Line("%s@%s  %s", b.Slug, b.Version, text(b.Name))
			for _, row := range [][2]string{
				{"About", text(b.Description)}, {"Tasks", count(b.TaskCount)}, {"Family", b.Family},
				{"Metrics", strings.Join(b.Metrics, ", ")}, {"Licence", text(b.DataLicense)}, {"Source", text(b.SourceURL)},
				{"Revision", text(b.SourceRevision)}, {"State", b.Status}, {"Ready", ready(b)},
			} {
				if row[1] != "" {
					p.Line("  %-9s %s", row[0], row[1])
				}
			}
		}
		p.Next("evalrouter run "+d.Slug+" --model MODEL", "evalrouter catalog --models")
	})
}

// unknownSlug is the refusal with the nearest slugs that exist.
func (c *catalogCmd) unknownSlug(ctx context.Context, cat *evalrouter.Catalog) error {
	var slugs []string
	for b, err := range cat.AllBenchmarks(ctx, evalrouter.BenchmarkQuery{Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return err
		}
		slugs = append(slugs, b.Slug)
	}
	near := flow.Suggest(c.slug, slugs)
	err := &flow.Error{Code: api.BenchmarkUnknown, Message: "no benchmark has the slug " + flow.Typed(c.slug), Closest: near}
	if len(near) > 0 {
		return WithNext(err, "evalrouter catalog --slug "+near[0])
	}
	return WithNext(err, "evalrouter catalog --all")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func count(n *int) string {
	if n == nil {
		return "-"
	}
	return Thousands(*n)
}

// Count is a number with its noun: "1 call", "2,000 calls".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Money writes an amount for people, with separators: $100,000.00.
func Money(m usd.Micro) string {
	s := m.String()
	start := strings.IndexByte(s, '$') + 1
	for i := strings.IndexByte(s, '.') - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Thousands writes a count with separators: 1,319.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
