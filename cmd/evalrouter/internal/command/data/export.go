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
	resumed   bool
	overwrite bool
	look      Look
	flags     *argv.Flags
}

// Export is "evalrouter export".
func Export(a *command.App) *argv.Command {
	fs := argv.NewFlags("export")
	c := &exportCmd{App: a, formats: evalrouter.FormatJSON, flags: fs}
	fs.String(&c.formats, "format", "LIST", "such as json, csv, html or summary; see above")
	fs.String(&c.output, "output", "PATH", "a file, a folder for default names, or - (stdout)")
	fs.Bool(&c.overwrite, "overwrite", "replace an existing file")
	fs.Int(&c.version, "version", "N", "an earlier version of the result", 1, 1<<30)
	fs.Bool(&c.resumed, "include-resumed", "the run with its resumes as one result (SOB Text)")
	fs.Bool(&c.resumed, "chain", "the same as --include-resumed").Rare()
	c.look.Declare(fs)
	return &argv.Command{
		Name: "export", Args: "RUN", Short: "Save a finished run to a file",
		Long:     "A file appears whole or not at all. Existing files are kept unless --overwrite\nis given; default names go on with -2, -3. Several formats stand with commas.\nFormats: json, csv, html (a report in one file), md (a summary), github (the\nsame for a step of GitHub Actions), junit, parquet (a typed row a task), bundle\n(evidence that evalrouter verify checks offline), summary (JSON without tasks),\ninspect (a log of Inspect), inspect-json and lm-eval (a ZIP of its results and\nsamples files).\nWithout --format the name of the file says which; json is the default.",
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
	if c.resumed && c.version != 0 {
		return &argv.UsageError{Message: "a chain has the newest result of each of its runs; --version has no place beside --include-resumed"}
	}
	id, err := c.OneRun(ctx, args)
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	if c.output == "-" {
		return c.toStdout(ctx, client.Runs, id, formats)
	}
	var files []saved
	for _, f := range formats {
		s, err := c.save(ctx, client.Runs, id, f, len(formats) > 1)
		if err != nil {
			return c.advise(err, id)
		}
		files = append(files, s)
	}
	err = c.Value(map[string]any{"run_id": id, "files": files}, func(p *term.Page) {
		for _, f := range files {
			p.Line("Saved %s", f.Path)
		}
		if c.resumed {
			p.Next("evalrouter compare " + command.Short(id) + " --include-resumed")
		}
	})
	c.look.Show(c.App, files[0].Path)
	return err
}

// toStdout writes the one file to stdout, byte for byte. A terminal would read
// a model's text as commands, so it gets none.
func (c *exportCmd) toStdout(ctx context.Context, runs *evalrouter.Runs, id string, formats []string) error {
	switch {
	case len(formats) > 1:
		return &argv.UsageError{Message: "--output - takes one format; stdout holds one file"}
	case c.WantsJSON():
		return &argv.UsageError{Message: "--output - writes the file itself to stdout, so --json and --jq have no place there"}
	case c.overwrite || c.look.any():
		return &argv.UsageError{Message: "--output - saves no file, so --overwrite, --open and --reveal have no meaning"}
	case c.Term.OutTTY:
		return &argv.UsageError{Message: "stdout is a terminal, and an export holds text of a model as it came; send it to a pipe or name a file"}
	}
	_, err := runs.Export(ctx, id, evalrouter.ExportQuery{Format: formats[0], Version: c.version, IncludeResumed: c.resumed}, c.Term.Out)
	return c.advise(err, id)
}

func (c *exportCmd) advise(err error, id string) error {
	switch {
	case errors.Is(err, api.RunNotFinished):
		return command.WithNext(err, "evalrouter wait "+Unfinished(err, id))
	case c.resumed && errors.Is(err, api.ResumeUnsupported):
		return command.WithNext(err, c.Again(command.Edit{Drop: ChainFlags(), Switches: ChainFlags()}))
	}
	return err
}

// ChainFlags are the names of the flag that takes a run with its resumes.
func ChainFlags() []string { return []string{"include-resumed", "chain"} }

func (c *exportCmd) parseFormats() ([]string, error) {
	formats := strings.Split(c.formats, ",")
	if named := formatOf(c.output); named != "" && !c.flags.Given("format") && !c.folder() {
		return []string{named}, nil
	}
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
	q := evalrouter.ExportQuery{Format: format, Version: c.version, IncludeResumed: c.resumed}
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

// formatOf is the format that the name of a file asks for, "" if it says none.
func formatOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, f := range []string{
		evalrouter.FormatSummary, evalrouter.FormatScores, evalrouter.FormatInspectJSON, evalrouter.FormatLMEval, evalrouter.FormatInspect,
		evalrouter.FormatGitHub, evalrouter.FormatMarkdown, evalrouter.FormatJUnit, evalrouter.FormatBundle,
		evalrouter.FormatJSON, evalrouter.FormatCSV, evalrouter.FormatHTML, evalrouter.FormatParquet,
	} {
		if strings.HasSuffix(name, "."+extension(f)) {
			return f
		}
	}
	return ""
}

// extension is the end of a file's name: a log for Inspect's viewer is .eval,
// lm-eval's two files come in one archive.
func extension(format string) string {
	switch format {
	case evalrouter.FormatSummary:
		return "summary.json"
	case evalrouter.FormatScores:
		return "scores.jsonl"
	case evalrouter.FormatInspect:
		return "eval"
	case evalrouter.FormatInspectJSON:
		return "eval.json"
	case evalrouter.FormatLMEval:
		return "lm-eval.zip"
	case evalrouter.FormatGitHub:
		return "github.md"
	case evalrouter.FormatBundle:
		return "bundle.zip"
	case evalrouter.FormatJUnit:
		return "junit.xml"
	}
	return format
}

// folder says that --output names a folder that is there.
func (c *exportCmd) folder() bool {
	info, err := os.Stat(c.absolute())
	return err == nil && info.IsDir()
}

func (c *exportCmd) absolute() string {
	if filepath.IsAbs(c.output) {
		return c.output
	}
	return filepath.Join(c.Term.Dir, c.output)
}

func (c *exportCmd) path(id, format string, several bool) (path string, exact bool, err error) {
	ext := extension(format)
	name := "evalrouter-" + id + "." + ext
	if c.resumed {
		name = "evalrouter-" + id + "-chain." + ext
	}
	out := c.absolute()
	if c.output == "" || c.folder() {
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

// Unfinished is the run that has not finished, as the service says: of a chain the
// newest, which nobody named.
func Unfinished(err error, named string) string {
	var call *evalrouter.Error
	if errors.As(err, &call) {
		if id, ok := call.Details["run_id"].(string); ok && id != "" {
			return id
		}
	}
	return named
}
