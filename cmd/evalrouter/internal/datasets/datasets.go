// Package datasets is the commands about datasets.
package datasets

import (
	"context"
	"encoding/json"
	"errors"
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
	c := &argv.Command{
		Name: "datasets", Args: "COMMAND DATASET [flags]",
		Short:    "Turn what agents did into benchmarks",
		Examples: []string{"evalrouter datasets create orders", "evalrouter datasets add orders --trace 5f0c1f9d2ab4"},
		Sub: []*argv.Command{
			list(a), create(a), update(a), items(a), add(a), edit(a), review(a), seal(a), versions(a), diff(a), export(a), retract(a), pack(a), archive(a),
		},
	}
	for _, sub := range c.Sub {
		exec := sub.Exec
		sub.Exec = func(ctx context.Context, args []string) error { return advise(exec(ctx, args), args) }
	}
	return c
}

// advise names what helps after a refusal; the first operand is the dataset.
func advise(err error, args []string) error {
	if err == nil || len(args) == 0 {
		return err
	}
	of := func(verb string) string { return "evalrouter datasets " + verb + " " + command.ShellWord(args[0]) }
	for code, next := range map[api.Code]string{
		api.SelfReview:       of("update") + " --allow-self-review",
		api.NothingApproved:  of("items") + " --review pending",
		api.NothingChanged:   of("versions"),
		api.VersionRetracted: of("seal"),
		api.DuplicateItem:    of("items"),
		api.ItemChanged:      of("items"),
		api.DatasetArchived:  "evalrouter datasets create NAME",
		api.NameTaken:        of("items"),
	} {
		if errors.Is(err, code) {
			return command.WithNext(err, next)
		}
	}
	return err
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

// settings is the flags of what is set of a dataset.
type settings struct {
	fs           *argv.Flags
	about        string
	reviewers    int
	self, others bool
}

func (s *settings) declare(fs *argv.Flags) {
	s.fs = fs
	fs.String(&s.about, "description", "TEXT", "what it is for")
	fs.Int(&s.reviewers, "reviewers", "N", "how many people must approve an item (1)", 1, 3)
	fs.Bool(&s.self, "allow-self-review", "who wrote an item may review it")
	fs.Bool(&s.others, "forbid-self-review", "others review it (the default)")
}

// given are nil where a flag was not.
func (s *settings) given(of string) (about *string, policy *api.NewReviewPolicy, err error) {
	if s.self && s.others {
		return nil, nil, &argv.UsageError{Message: "give --allow-self-review or --forbid-self-review", Next: "evalrouter datasets " + of + " --help"}
	}
	policy = &api.NewReviewPolicy{}
	if s.fs.Given("description") {
		about = &s.about
	}
	if s.fs.Given("reviewers") {
		policy.ReviewersRequired = &s.reviewers
	}
	if s.self || s.others {
		policy.AllowSelf = &s.self
	}
	if *policy == (api.NewReviewPolicy{}) {
		policy = nil
	}
	return about, policy, nil
}

func create(a *command.App) *argv.Command {
	in, set := api.NewDataset{}, settings{}
	fs := argv.NewFlags("create")
	set.declare(fs)
	return &argv.Command{
		Name: "create", Args: "NAME [flags]", Short: "Make an empty dataset", Flags: fs,
		Examples: []string{"evalrouter datasets create orders", "evalrouter datasets create mine --allow-self-review"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name the dataset", Next: "evalrouter datasets create --help"}
			}
			in.Name = args[0]
			var err error
			if in.Description, in.ReviewPolicy, err = set.given("create"); err != nil {
				return err
			}
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

func update(a *command.App) *argv.Command {
	set := settings{}
	fs := argv.NewFlags("update")
	set.declare(fs)
	return &argv.Command{
		Name: "update", Args: "DATASET [flags]", Short: "Change who reviews, or the description", Flags: fs,
		Long:     "What is approved stays so; reviews that come follow the new settings.",
		Examples: []string{"evalrouter datasets update orders --allow-self-review", "evalrouter datasets update orders --forbid-self-review --reviewers 2"},
		Exec: func(ctx context.Context, args []string) error {
			in := api.UpdateDataset{}
			var err error
			if in.Description, in.ReviewPolicy, err = set.given("update"); err != nil {
				return err
			}
			if in == (api.UpdateDataset{}) {
				return &argv.UsageError{Message: "say what to change", Next: "evalrouter datasets update --help"}
			}
			client, d, _, err := named(ctx, a, args, 0)
			if err != nil {
				return err
			}
			if d, err = client.Datasets.Update(ctx, d.ID, in); err != nil {
				return err
			}
			return a.Value(d, func(p *term.Page) {
				self := "whoever wrote an item does not review it"
				if d.ReviewPolicy.AllowSelf {
					self = "whoever wrote an item may review it"
				}
				p.Line("An item of %s is approved by %s; %s.", d.Name, people(d.ReviewPolicy.ReviewersRequired), self)
			})
		},
	}
}

func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return strconv.Itoa(n) + " people"
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
