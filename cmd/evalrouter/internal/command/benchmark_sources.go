package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// upload is a file on its way into the workspace.
type upload struct {
	*App
	format string
}

func benchmarkUpload(a *App) *argv.Command {
	u := &upload{App: a}
	fs := argv.NewFlags("upload")
	fs.Choice(&u.format, "format", "what the file is, where its name does not say so", api.SourceJSONL, api.SourceCSV, api.SourceParquet, api.SourcePackage).Value = "FORMAT"
	return &argv.Command{
		Name: "upload", Args: "FILE", Short: "Send a file to your workspace",
		Long:     "JSONL, CSV and Parquet up to 64 MiB and 100,000 rows, and bundles up to 100 MiB.\nAn upload that broke off goes on when the command is repeated. A file that is\nthere already is not sent again.",
		Examples: []string{"evalrouter benchmark upload ./questions.csv", "evalrouter benchmark upload ./questions.csv --json"},
		Flags:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one file", Next: "evalrouter benchmark upload --help"}
			}
			src, err := u.send(ctx, args[0])
			if err != nil {
				return err
			}
			return a.Value(src, func(p *term.Page) {
				describeSource(p, src)
				p.Next("evalrouter benchmark create MANIFEST --dry-run", "evalrouter benchmark sources")
			})
		},
	}
}

func describeSource(p *term.Page, s api.BenchmarkSource) {
	p.Line("%s   %s, %s bytes", s.URI, s.Format, Thousands(int(s.Bytes)))
	switch {
	case s.RowCount != nil && s.Columns != nil:
		p.Line("%s rows, columns: %s", Thousands(*s.RowCount), strings.Join(s.Columns, ", "))
	case s.RowCount != nil:
		p.Line("%s tasks", Thousands(*s.RowCount))
	}
}

// send makes a completed source of a file, or finds the one that it was made
// into before.
func (u *upload) send(ctx context.Context, path string) (api.BenchmarkSource, error) {
	f, n, err := u.announce(path)
	if err != nil {
		return api.BenchmarkSource{}, err
	}
	defer f.Close()
	client, err := u.Client(ctx)
	if err != nil {
		return api.BenchmarkSource{}, err
	}
	src, found, err := alike(ctx, client.Sources, n)
	if err == nil && !found {
		src, err = client.Sources.Create(ctx, n)
	}
	if err != nil {
		return src, err
	}
	if src.ReceivedBytes > 0 && src.ReceivedBytes < src.Bytes {
		u.Note("Going on behind %s of %s bytes.", Thousands(int(src.ReceivedBytes)), Thousands(int(src.Bytes)))
	}
	src, err = client.Sources.Upload(ctx, src, f, nil)
	if err != nil {
		return src, WithNext(err, "evalrouter benchmark upload "+ShellWord(path))
	}
	if src.Status != api.SourceCompleted {
		return src, &flow.Error{Code: api.InvalidInput, Message: fmt.Sprintf("the service cannot use %s: %s (%s); nothing was made of it", path, text(src.ErrorMessage), text(src.ErrorCode))}
	}
	return src, nil
}

// announce opens a file and says what it is. It is read once for its hash.
func (u *upload) announce(path string) (*os.File, api.NewBenchmarkSource, error) {
	n := api.NewBenchmarkSource{FileName: sourceName(path), Format: u.format}
	if n.Format == "" {
		if n.Format = formatOf(path); n.Format == "" {
			return nil, n, &argv.UsageError{Message: "the name of " + path + " does not say what it is; nothing was sent", Next: "evalrouter benchmark upload " + ShellWord(path) + " --format csv"}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, n, &argv.UsageError{Message: "the file cannot be read: " + pathReason(err) + "; nothing was sent"}
	}
	sum := sha256.New()
	n.Bytes, err = io.Copy(sum, f)
	n.SHA256 = hex.EncodeToString(sum.Sum(nil))
	most := int64(api.MaxSourceBytes)
	if n.Format == api.SourcePackage {
		most = api.MaxPackageBytes
	}
	switch {
	case err != nil:
		err = &argv.UsageError{Message: "the file cannot be read: " + pathReason(err) + "; nothing was sent"}
	case n.Bytes == 0:
		err = &argv.UsageError{Message: path + " is empty; nothing was sent"}
	case n.Bytes > most:
		err = &argv.UsageError{Code: api.SourceTooLarge, Message: fmt.Sprintf("%s has %s bytes, and a source at most %s; nothing was sent", path, Thousands(int(n.Bytes)), Thousands(int(most)))}
	default:
		return f, n, nil
	}
	f.Close()
	return nil, n, err
}

func pathReason(err error) string {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Path + ": " + at.Err.Error()
	}
	return err.Error()
}

// sourceName is the name of a file as a source may have it.
func sourceName(path string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(path))
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
		name = "_" + name
	}
	return name[:min(len(name), 200)]
}

func formatOf(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".ndjson":
		return api.SourceJSONL
	case ".csv":
		return api.SourceCSV
	case ".parquet":
		return api.SourceParquet
	case ".zip":
		return api.SourcePackage
	}
	return ""
}

// alike finds a source with the same bytes and name that is whole, or still on
// its way.
func alike(ctx context.Context, sources *evalrouter.Sources, n api.NewBenchmarkSource) (api.BenchmarkSource, bool, error) {
	for _, status := range []string{api.SourceCompleted, api.SourceVerifying, api.SourcePending} {
		for s, err := range sources.All(ctx, evalrouter.SourceQuery{Status: status, Paging: evalrouter.Paging{Limit: 200}}) {
			if err != nil {
				return s, false, err
			}
			if s.SHA256 == n.SHA256 && s.Bytes == n.Bytes && s.FileName == n.FileName && s.Format == n.Format && strings.HasPrefix(s.URI, "workspace://") {
				return s, true, nil
			}
		}
	}
	return api.BenchmarkSource{}, false, nil
}

func benchmarkImport(a *App) *argv.Command {
	return &argv.Command{
		Name: "import", Args: "hf://ORG/DATASET@REVISION FILE...", Short: "Fetch files of a public data set",
		Long:     "The service fetches them, at the commit that the revision is at, and answers\nwith a receipt: commit, size and SHA-256 of each. A manifest names a file as\nhf://ORG/DATASET@COMMIT/FILE.",
		Examples: []string{"evalrouter benchmark import hf://acme/sums@main test.parquet", "evalrouter benchmark import hf://acme/sums@main test.parquet --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) < 2 {
				return &argv.UsageError{Message: "name a data set with its revision, and one file or more of it; nothing was fetched", Next: "evalrouter benchmark import --help"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			im, err := client.Sources.Import(ctx, api.NewBenchmarkImport{Source: args[0], Files: args[1:]})
			for err == nil && im.Status == api.ImportRunning {
				if err = a.Sleep(ctx, importPoll); err == nil {
					im, err = client.Sources.ImportStatus(ctx, im.ID)
				}
			}
			if err != nil {
				return err
			}
			if im.Status != api.ImportCompleted {
				return &flow.Error{Code: api.InvalidInput, Message: fmt.Sprintf("%s was not imported: %s (%s)", im.Source, text(im.ErrorMessage), text(im.ErrorCode))}
			}
			return a.Value(im, func(p *term.Page) {
				p.Line("Imported from commit %s:", text(im.Commit))
				for _, f := range im.Files {
					p.Line("%s   %s bytes, SHA-256 %s", f.URI, Thousands(int(f.Bytes)), f.SHA256)
				}
				p.Next("evalrouter benchmark create MANIFEST --dry-run", "evalrouter benchmark sources")
			})
		},
	}
}

// importPoll is the time between two looks at an import.
const importPoll = 2 * time.Second

func benchmarkSources(a *App) *argv.Command {
	l := &ListFlags{}
	status := ""
	fs := argv.NewFlags("sources")
	fs.Choice(&status, "status", "only sources in this state", api.SourcePending, api.SourceVerifying, api.SourceCompleted, api.SourceFailed, api.SourceArchived).Value = "STATUS"
	l.Declare(fs)
	return &argv.Command{
		Name: "sources", Short: "List the files of your workspace", Flags: fs, Examples: []string{"evalrouter benchmark sources --status completed", "evalrouter benchmark sources --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			page, err := Fetch(l, Source[api.BenchmarkSource]{
				Page: func(p evalrouter.Paging) (api.Page[api.BenchmarkSource], error) {
					return c.Sources.List(ctx, evalrouter.SourceQuery{Status: status, Paging: p})
				},
				All: func(p evalrouter.Paging) iterOf[api.BenchmarkSource] {
					return c.Sources.All(ctx, evalrouter.SourceQuery{Status: status, Paging: p})
				},
			})
			if err != nil {
				return err
			}
			return PrintList(a, l, sourceColumns(page.Data), page, Hints{Empty: "No sources.", Next: "evalrouter benchmark upload FILE"})
		},
	}
}

func sourceColumns(all []api.BenchmarkSource) []table.Column[api.BenchmarkSource] {
	type rec = api.BenchmarkSource
	n := Unique(all, func(s rec) string { return s.ID })
	rows := func(s rec) string {
		if s.RowCount == nil {
			return "-"
		}
		return Thousands(*s.RowCount)
	}
	return []table.Column[rec]{
		{Name: "source", Whole: true, Text: func(s rec) string { return s.ID[:min(n, len(s.ID))] }},
		{Name: "file", Text: func(s rec) string { return s.FileName }},
		{Name: "status", Text: func(s rec) string { return s.Status }},
		{Name: "rows", Right: true, Text: rows},
		{Name: "bytes", Right: true, Drop: 1, Text: func(s rec) string { return Thousands(int(s.Bytes)) }},
		{Name: "error", Wide: true, Text: func(s rec) string { return text(s.ErrorCode) }},
		{Name: "uri", Wide: true, Whole: true, Text: func(s rec) string { return s.URI }},
	}
}

func benchmarkArchiveSource(a *App) *argv.Command {
	return &argv.Command{
		Name: "archive-source", Args: "SOURCE", Short: "Take a file out of use and drop its bytes",
		Long: "Benchmarks that were made of it stay. This cannot be taken back.", Examples: []string{"evalrouter benchmark archive-source 3f2a9c", "evalrouter benchmark archive-source 3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one source", Next: "evalrouter benchmark sources"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			id, err := oneOf(args[0], "source", "evalrouter benchmark sources", func(yield func(string, error) bool) {
				for s, err := range client.Sources.All(ctx, evalrouter.SourceQuery{Paging: evalrouter.Paging{Limit: 200}}) {
					if !yield(s.ID, err) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
			src, err := client.Sources.Archive(ctx, id)
			if err != nil {
				return err
			}
			return a.Value(src, func(p *term.Page) { p.Line("Archived source %s (%s).", src.FileName, src.ID) })
		},
	}
}
