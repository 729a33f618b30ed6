package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

func seal(a *command.App) *argv.Command {
	note := ""
	fs := argv.NewFlags("seal")
	fs.String(&note, "note", "TEXT", "what this version is")
	return &argv.Command{
		Name: "seal", Args: "DATASET", Short: "Make a version of the approved items", Flags: fs,
		Long:     "A version never changes. Items that are not approved are left out.",
		Examples: []string{"evalrouter datasets seal orders", "evalrouter datasets seal orders --note 'November'"},
		Exec: func(ctx context.Context, args []string) error {
			client, d, _, err := named(ctx, a, args, 0)
			if err != nil {
				return err
			}
			v, err := client.Datasets.Seal(ctx, d.ID, api.NewDatasetVersion{Note: note})
			if err != nil {
				return err
			}
			return a.Value(v, func(p *term.Page) {
				p.Line("Sealed %s v%d with %s: %d added, %d changed, %d removed.", d.Name, v.Version, command.Count(v.ItemCount, "item"), v.Added, v.Changed, v.Removed)
				if v.LeftOut > 0 {
					p.Line("%s not approved and left out.", command.Count(v.LeftOut, "item"))
				}
				p.Line("sha256 %s", v.SHA256)
				p.Next("evalrouter datasets package " + d.Name + " " + strconv.Itoa(v.Version) + " --task numeric --license LICENSE --rights")
			})
		},
	}
}

func versions(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("versions")
	l.Declare(fs)
	return &argv.Command{
		Name: "versions", Args: "DATASET", Short: "List the versions of a dataset", Flags: fs,
		Examples: []string{"evalrouter datasets versions orders", "evalrouter datasets versions orders --json"},
		Exec: func(ctx context.Context, args []string) error {
			client, d, _, err := named(ctx, a, args, 0)
			if err != nil {
				return err
			}
			page, err := client.Datasets.Versions(ctx, d.ID, evalrouter.Paging{Limit: 200})
			if err != nil {
				return err
			}
			type rec = api.DatasetVersion
			columns := []table.Column[rec]{
				{Name: "version", Whole: true, Right: true, Text: func(v rec) string { return strconv.Itoa(v.Version) }},
				{Name: "items", Right: true, Text: func(v rec) string { return command.Thousands(v.ItemCount) }},
				{Name: "added", Right: true, Drop: 1, Text: func(v rec) string { return command.Thousands(v.Added) }},
				{Name: "changed", Right: true, Drop: 1, Text: func(v rec) string { return command.Thousands(v.Changed) }},
				{Name: "removed", Right: true, Drop: 1, Text: func(v rec) string { return command.Thousands(v.Removed) }},
				{Name: "state", Text: func(v rec) string {
					if v.RetractedAt != nil {
						return "retracted: " + v.RetractionReason
					}
					return "sealed"
				}},
				{Name: "note", Drop: 2, Text: func(v rec) string { return v.Note }},
				{Name: "sha256", Wide: true, Whole: true, Text: func(v rec) string { return v.SHA256 }},
			}
			return command.PrintList(a, l, columns, page, command.Hints{Empty: "No versions yet.", Next: "evalrouter datasets seal " + d.Name})
		},
	}
}

func diff(a *command.App) *argv.Command {
	return simple("diff", "DATASET FROM TO", "Say by which items two versions differ", "", []string{"evalrouter datasets diff orders 1 2", "evalrouter datasets diff orders 1 2 --json"},
		func(ctx context.Context, args []string) error {
			client, d, more, err := named(ctx, a, args, 2)
			if err != nil {
				return err
			}
			from, err := number(more[0])
			if err != nil {
				return err
			}
			to, err := number(more[1])
			if err != nil {
				return err
			}
			out, err := client.Datasets.Diff(ctx, d.ID, from, to)
			if err != nil {
				return err
			}
			return a.Value(out, func(p *term.Page) {
				for _, part := range []struct {
					mark string
					ids  []string
				}{{"+", out.Added}, {"~", out.Changed}, {"-", out.Removed}} {
					for _, id := range part.ids {
						p.Line("%s %s", part.mark, id)
					}
				}
				p.Line("%d added, %d changed, %d removed", len(out.Added), len(out.Changed), len(out.Removed))
			})
		})
}

func export(a *command.App) *argv.Command {
	format, output, overwrite := api.DatasetJSONL, "", false
	fs := argv.NewFlags("export")
	fs.Choice(&format, "format", "the form of the file (jsonl)", api.DatasetJSONL, api.DatasetJSON, api.DatasetCSV)
	fs.String(&output, "output", "FILE", "the file; DATASET-vN.FORMAT without it")
	fs.Bool(&overwrite, "overwrite", "replace an existing file")
	return &argv.Command{
		Name: "export", Args: "DATASET VERSION", Short: "Save a version to a file, the same bytes each time", Flags: fs,
		Examples: []string{"evalrouter datasets export orders 1", "evalrouter datasets export orders 1 --format csv --output orders.csv"},
		Exec: func(ctx context.Context, args []string) error {
			client, d, more, err := named(ctx, a, args, 1)
			if err != nil {
				return err
			}
			n, err := number(more[0])
			if err != nil {
				return err
			}
			if output == "" {
				output = d.Name + "-v" + strconv.Itoa(n) + "." + format
			}
			info, err := client.Datasets.ExportFile(ctx, d.ID, n, format, output, overwrite)
			if errors.Is(err, api.DestinationExists) {
				return command.WithNext(err, a.Again(command.Edit{Add: []string{"--overwrite"}}))
			}
			if err != nil {
				return err
			}
			return a.Value(map[string]any{"path": output, "bytes": info.Bytes, "sha256": info.SHA256, "version": n}, func(p *term.Page) { p.Line("Saved %s", output) })
		},
	}
}

func retract(a *command.App) *argv.Command {
	reason := ""
	fs := argv.NewFlags("retract")
	fs.String(&reason, "reason", "TEXT", "why (required)")
	return &argv.Command{
		Name: "retract", Args: "DATASET VERSION --reason TEXT", Short: "Say that a version was a mistake", Flags: fs,
		Examples: []string{"evalrouter datasets retract orders 1 --reason 'wrong answers'", "evalrouter datasets retract orders 1 --reason test --json"},
		Exec: func(ctx context.Context, args []string) error {
			if reason == "" {
				return &argv.UsageError{Message: "--reason is required", Next: "evalrouter datasets retract --help"}
			}
			client, d, more, err := named(ctx, a, args, 1)
			if err != nil {
				return err
			}
			n, err := number(more[0])
			if err != nil {
				return err
			}
			v, err := client.Datasets.Retract(ctx, d.ID, n, reason)
			if err != nil {
				return err
			}
			return a.Value(v, func(p *term.Page) { p.Line("%s v%d is retracted. Runs that used it keep it.", d.Name, v.Version) })
		},
	}
}

type packCmd struct {
	*command.App
	m              api.BenchmarkManifest
	answer, prompt string
	tokens         int
	rights         bool
}

func pack(a *command.App) *argv.Command {
	c := &packCmd{App: a, answer: "expected", tokens: 512}
	fs := argv.NewFlags("package")
	fs.Choice(&c.m.Task, "task", "how answers are graded (required)", "exact_match", "numeric", "regex_match", "json_field_match")
	fs.String(&c.m.Name, "name", "NAME", "the benchmark's name; DATASET vN without it")
	fs.String(&c.prompt, "prompt", "TEMPLATE", "what the model is asked ({{question}})")
	fs.String(&c.answer, "answer", "COLUMN", "the column with the expected answer (expected)").Rare()
	fs.Int(&c.tokens, "max-output-tokens", "N", "longest answer to ask for (512)", 1, 1_000_000).Rare()
	fs.String(&c.m.DataLicense, "license", "LICENSE", "the licence of the items (required)")
	fs.Bool(&c.rights, "rights", "you may use the items so (required)")
	return &argv.Command{
		Name: "package", Args: "DATASET VERSION [flags]", Short: "Make a private benchmark of a version", Flags: fs,
		Long:     "Columns are id, input, expected, question (the last message of a user), and\ninput_NAME and expected_NAME for the members of objects.",
		Examples: []string{"evalrouter datasets package orders 1 --task numeric --license CC0-1.0 --rights", "evalrouter datasets package orders 1 --task exact_match --license MIT --rights"},
		Exec:     c.exec,
	}
}

func (c *packCmd) exec(ctx context.Context, args []string) error {
	if c.m.Task == "" || c.m.DataLicense == "" || !c.rights {
		return &argv.UsageError{Message: "--task, --license and --rights are required", Next: "evalrouter datasets package --help"}
	}
	client, d, more, err := named(ctx, c.App, args, 1)
	if err != nil {
		return err
	}
	n, err := number(more[0])
	if err != nil {
		return err
	}
	src, err := client.Datasets.Package(ctx, d.ID, n)
	if err != nil {
		return err
	}
	m := c.m
	m.Source, m.SHA256, m.Bytes, m.RightsAttestation, m.MaxOutputTokens = src.URI, src.SHA256, src.Bytes, true, int64(c.tokens)
	if m.Name == "" {
		m.Name = d.Name + " v" + strconv.Itoa(n)
	}
	m.PromptTemplate = c.prompt
	if m.PromptTemplate == "" {
		m.PromptTemplate = "{{question}}"
	}
	m.Columns = map[string]api.ColumnNames{"answer": {c.answer}, "id": {"id"}}
	for _, column := range src.Columns {
		if strings.Contains(m.PromptTemplate, "{{"+column+"}}") {
			m.Columns[column] = api.ColumnNames{column}
		}
	}
	// The same version with the same settings is the same benchmark.
	doc, err := json.Marshal(m)
	if err != nil {
		return &flow.Error{Code: api.InvalidInput, Message: "the manifest cannot be written as JSON", Err: err}
	}
	sum := sha256.Sum256(doc)
	b, err := client.Benchmarks.Create(ctx, evalrouter.IdempotencyKey("dataset-"+hex.EncodeToString(sum[:])), m)
	if err != nil {
		return err
	}
	return c.Value(b, func(p *term.Page) {
		p.Line("Made benchmark %s (%s) of %s v%d with %s.", b.Name, b.ProfileID, d.Name, n, command.Count(b.TaskCount, "task"))
		p.Next("evalrouter run " + strings.TrimSuffix(b.ProfileID, "@1") + " --model MODEL --max-cost USD")
	})
}
