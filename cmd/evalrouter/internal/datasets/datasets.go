// Package datasets is the commands about datasets.
package datasets

import (
	"context"
	"encoding/json"
	"iter"
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

// Datasets is "evalrouter datasets".
func Datasets(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "datasets", Args: "COMMAND DATASET [flags]",
		Short:    "Turn what agents did into benchmarks",
		Examples: []string{"evalrouter datasets create orders", "evalrouter datasets add orders --trace 5f0c1f9d2ab4"},
		Sub: []*argv.Command{
			list(a), create(a), items(a), add(a), edit(a), review(a), seal(a), versions(a), diff(a), export(a), retract(a), pack(a), archive(a),
		},
	}
}

// simple is a command without flags of its own.
func simple(name, args, short, long string, examples []string, exec func(context.Context, []string) error) *argv.Command {
	return &argv.Command{Name: name, Args: args, Short: short, Long: long, Examples: examples, Exec: exec}
}

func list(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("list")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List datasets", Flags: fs, Examples: []string{"evalrouter datasets list", "evalrouter datasets list --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			page, err := command.Fetch(l, command.Source[api.DatasetRecord]{
				Page: func(p evalrouter.Paging) (api.Page[api.DatasetRecord], error) { return client.Datasets.List(ctx, p) },
				All:  func(p evalrouter.Paging) iter.Seq2[api.DatasetRecord, error] { return client.Datasets.All(ctx, p) },
			})
			if err != nil {
				return err
			}
			type rec = api.DatasetRecord
			columns := []table.Column[rec]{
				{Name: "name", Whole: true, Text: func(d rec) string { return d.Name }},
				{Name: "items", Right: true, Text: func(d rec) string { return command.Thousands(d.ItemCount) }},
				{Name: "approved", Right: true, Text: func(d rec) string { return command.Thousands(d.ReviewedCount) }},
				{Name: "version", Right: true, Text: func(d rec) string { return version(d.LatestVersion) }},
				{Name: "description", Drop: 1, Text: func(d rec) string { return d.Description }},
				{Name: "id", Wide: true, Whole: true, Text: func(d rec) string { return d.ID }},
			}
			return command.PrintList(a, l, columns, page, command.Hints{Empty: "No datasets yet.", Next: "evalrouter datasets create NAME"})
		},
	}
}

func version(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

func create(a *command.App) *argv.Command {
	in, policy, reviewers := api.NewDataset{}, api.NewReviewPolicy{}, 0
	about, self := "", false
	fs := argv.NewFlags("create")
	fs.String(&about, "description", "TEXT", "what it is for")
	fs.Int(&reviewers, "reviewers", "N", "how many people must approve an item (1)", 1, 3)
	fs.Bool(&self, "allow-self-review", "who wrote an item may review it")
	return &argv.Command{
		Name: "create", Args: "NAME [flags]", Short: "Make an empty dataset", Flags: fs,
		Examples: []string{"evalrouter datasets create orders", "evalrouter datasets create mine --allow-self-review"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name the dataset", Next: "evalrouter datasets create --help"}
			}
			in.Name = args[0]
			if about != "" {
				in.Description = &about
			}
			if reviewers != 0 {
				policy.ReviewersRequired = &reviewers
			}
			policy.AllowSelf = &self
			in.ReviewPolicy = &policy
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			d, err := client.Datasets.Create(ctx, in)
			if err != nil {
				return err
			}
			return a.Value(d, func(p *term.Page) {
				p.Line("Created dataset %s.", d.Name)
				p.Next("evalrouter datasets add " + d.Name + " --trace TRACE")
			})
		},
	}
}

func archive(a *command.App) *argv.Command {
	return simple("archive", "DATASET", "Take a dataset out of use; its versions stay", "", []string{"evalrouter datasets archive orders", "evalrouter datasets archive orders --json"},
		func(ctx context.Context, args []string) error {
			client, d, _, err := named(ctx, a, args, 0)
			if err != nil {
				return err
			}
			if d, err = client.Datasets.Archive(ctx, d.ID); err != nil {
				return err
			}
			return a.Value(d, func(p *term.Page) { p.Line("Archived %s.", d.Name) })
		})
}

// named finds the dataset of the first operand and gives the others, of which
// there are so many.
func named(ctx context.Context, a *command.App, args []string, more int) (*evalrouter.Client, api.DatasetRecord, []string, error) {
	if len(args) != 1+more {
		return nil, api.DatasetRecord{}, nil, &argv.UsageError{Message: "name a dataset" + map[int]string{1: " and one thing of it", 2: " and two things of it"}[more], Next: "evalrouter datasets --help"}
	}
	client, err := a.Client(ctx)
	if err != nil {
		return nil, api.DatasetRecord{}, nil, err
	}
	for d, err := range client.Datasets.All(ctx, evalrouter.Paging{Limit: 200}) {
		switch {
		case err != nil:
			return nil, d, nil, err
		case d.Name == args[0], d.ID == args[0]:
			return client, d, args[1:], nil
		}
	}
	return nil, api.DatasetRecord{}, nil, &argv.UsageError{Message: "there is no dataset " + flow.Typed(args[0]) + "; nothing was changed", Next: "evalrouter datasets list"}
}

// number reads the number of a version.
func number(typed string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(typed, "v"))
	if err != nil || n < 1 {
		return 0, &argv.UsageError{Message: "a version is a number, such as 1"}
	}
	return n, nil
}

// text is a JSON text as it reads, and any other value as JSON.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return "-"
	}
	return string(raw)
}
