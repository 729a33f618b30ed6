package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type exportCmd struct {
	*command.App
	formats   string
	output    string
	version   int
	overwrite bool
}

// Export is "evalrouter export".
func Export(a *command.App) *argv.Command {
	c := &exportCmd{App: a, formats: evalrouter.FormatJSON}
	fs := argv.NewFlags("export")
	fs.String(&c.formats, "format", "LIST", "json, csv, summary, inspect, inspect-json, lm-eval")
	fs.String(&c.output, "output", "PATH", "a file, or a folder for default names")
	fs.Bool(&c.overwrite, "overwrite", "replace an existing file")
	fs.Int(&c.version, "version", "N", "an earlier version of the result", 1, 1<<30)
	return &argv.Command{
		Name: "export", Args: "RUN", Short: "Save a finished run to a file",
		Long:     "A file appears whole or not at all. Existing files are kept unless --overwrite\nis given; default names go on with -2, -3. Several formats stand with commas.\ninspect is an .eval log of Inspect, inspect-json the same as JSON; lm-eval is a\nZIP of its results and samples files. json is the default.",
		Examples: []string{"evalrouter export 3f2a9c --format json,csv", "evalrouter export 3f2a9c --format csv --output result.csv"},
		Flags:    fs, Exec: c.exec,
	}
}

// saved is one written file, as JSON.
type saved struct {
	Format  string `json:"format"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Version int    `json:"result_version"`
}

func (c *exportCmd) exec(ctx context.Context, args []string) error {
	formats, err := c.parseFormats()
	if err != nil {
		return err
	}
	id, err := c.OneRun(ctx, args)
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	var files []saved
	for _, f := range formats {
		s, err := c.save(ctx, client.Runs, id, f, len(formats) > 1)
		if errors.Is(err, api.RunNotFinished) {
			return command.WithNext(err, "evalrouter wait "+id)
		}
		if err != nil {
			return err
		}
		files = append(files, s)
	}
	return c.Value(map[string]any{"run_id": id, "files": files}, func(p *term.Page) {
		for _, f := range files {
			p.Line("Saved %s", f.Path)
		}
	})
}

func (c *exportCmd) parseFormats() ([]string, error) {
	formats := strings.Split(c.formats, ",")
	for i, f := range formats {
		formats[i] = strings.TrimSpace(f)
		ok := formats[i] != "" && strings.Trim(formats[i], "abcdefghijklmnopqrstuvwxyz-") == ""
		if !ok || slices.Contains(formats[:i], formats[i]) {
			return nil, &argv.UsageError{Message: "--format is a list of different formats such as json,csv"}
		}
	}
	return formats, nil
}

// save writes one format. A name that the person chose is used exactly; a
// default name moves on to the next free one.
func (c *exportCmd) save(ctx context.Context, runs *evalrouter.Runs, id, format string, several bool) (saved, error) {
	path, exact, err := c.path(id, format, several)
	if err != nil {
		return saved{}, err
	}
	q := evalrouter.ExportQuery{Format: format, Version: c.version}
	base, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	for n := 1; ; n++ {
		if n > 1 {
			path = fmt.Sprintf("%s-%d%s", base, n, ext)
		}
		if !exact {
			if _, err := os.Lstat(path); err == nil {
				continue
			}
		}
		info, err := runs.ExportFile(ctx, id, q, path, c.overwrite && exact)
		if errors.Is(err, api.DestinationExists) && !exact {
			continue
		}
		if errors.Is(err, api.DestinationExists) {
			return saved{}, command.WithNext(&flow.Error{
				Code: api.DestinationExists, Message: path + " exists already; nothing was written", Err: err,
			}, c.Again(command.Edit{Add: []string{"--overwrite"}}))
		}
		if errors.Is(err, api.ExportWriteFailed) {
			return saved{}, command.WithNext(&flow.Error{
				Code: api.ExportWriteFailed, Message: path + " could not be written" + cause(err) + "; no file was left",
				Err: err,
			}, c.Again(command.Edit{Drop: []string{"output"}}))
		}
		if err != nil {
			return saved{}, err
		}
		return saved{format, path, info.Bytes, info.SHA256, info.ResultVersion}, nil
	}
}

// cause is what the file system said, without paths.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return ": " + err.Error()
		}
		err = inner
	}
}

// extension is the end of a file's name: a log for Inspect's viewer is .eval,
// lm-eval's two files come in one archive.
func extension(format string) string {
	switch format {
	case evalrouter.FormatSummary:
		return "summary.json"
	case evalrouter.FormatInspect:
		return "eval"
	case evalrouter.FormatInspectJSON:
		return "eval.json"
	case evalrouter.FormatLMEval:
		return "lm-eval.zip"
	}
	return format
}

func (c *exportCmd) path(id, format string, several bool) (path string, exact bool, err error) {
	ext := extension(format)
	name := "evalrouter-" + id + "." + ext
	out := c.output
	if out == "" {
		return filepath.Join(c.Term.Dir, name), false, nil
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(c.Term.Dir, out)
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return filepath.Join(out, name), false, nil
	}
	if strings.HasSuffix(c.output, string(filepath.Separator)) {
		return "", false, &argv.UsageError{Message: "the folder of --output does not exist"}
	}
	if several {
		return strings.TrimSuffix(out, filepath.Ext(out)) + "." + ext, true, nil
	}
	return out, true, nil
}
