package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/traces"
)

func items(a *command.App) *argv.Command {
	l, state := &command.ListFlags{}, ""
	fs := argv.NewFlags("items")
	fs.Choice(&state, "review", "only those that are", api.ReviewPending, api.ReviewApproved, api.ReviewRejected)
	l.Declare(fs)
	return &argv.Command{
		Name: "items", Args: "DATASET", Short: "List the items of a dataset", Flags: fs,
		Examples: []string{"evalrouter datasets items orders --review pending", "evalrouter datasets items orders --json"},
		Exec: func(ctx context.Context, args []string) error {
			client, d, _, err := named(ctx, a, args, 0)
			if err != nil {
				return err
			}
			page, err := command.Fetch(l, command.Source[api.DatasetItem]{
				Page: func(p evalrouter.Paging) (api.Page[api.DatasetItem], error) {
					return client.Datasets.Items(ctx, d.ID, state, p)
				},
				All: func(p evalrouter.Paging) iter.Seq2[api.DatasetItem, error] {
					return client.Datasets.AllItems(ctx, d.ID, state, p)
				},
			})
			if err != nil {
				return err
			}
			type rec = api.DatasetItem
			columns := []table.Column[rec]{
				{Name: "item", Whole: true, Text: func(x rec) string { return traces.Tail(x.ID) }},
				{Name: "review", Text: func(x rec) string { return x.Review }},
				{Name: "input", Text: func(x rec) string { return text(x.Input) }},
				{Name: "expected", Drop: 1, Text: func(x rec) string { return text(x.Expected) }},
				{Name: "revision", Wide: true, Right: true, Text: func(x rec) string { return command.Thousands(x.Revision) }},
				{Name: "id", Wide: true, Whole: true, Text: func(x rec) string { return x.ID }},
			}
			return command.PrintList(a, l, columns, page, command.Hints{Empty: "No such items.", Next: "evalrouter datasets review " + d.Name + " ITEM --approve"})
		},
	}
}

type addCmd struct {
	*command.App
	input, expected, trace, span, file string
	fromOutput                         bool
}

func add(a *command.App) *argv.Command {
	c := &addCmd{App: a}
	fs := argv.NewFlags("add")
	fs.String(&c.trace, "trace", "TRACE", "make the item of a trace: its input is copied")
	fs.String(&c.span, "step", "ID", "of this step, not of the root").Rare()
	fs.Bool(&c.fromOutput, "expect-output", "what came out is the expected answer")
	fs.String(&c.input, "input", "TEXT", "the input: JSON, or any other text")
	fs.String(&c.expected, "expected", "TEXT", "the expected answer: JSON, or any other text")
	fs.String(&c.file, "file", "FILE", "objects with input and expected, one a line")
	return &argv.Command{
		Name: "add", Args: "DATASET [flags]", Short: "Add items: from a trace, a file, or as given", Flags: fs,
		Long:     "What an item takes from a trace is copied; the trace may expire. Of the lines of\na file every 500 are added together.",
		Examples: []string{"evalrouter datasets add orders --trace 5f0c1f9d2ab4 --expected 42", "evalrouter datasets add orders --file items.jsonl"}, Exec: c.exec,
	}
}

func (c *addCmd) exec(ctx context.Context, args []string) error {
	if c.file != "" && (c.trace != "" || c.input != "" || c.expected != "") || c.file == "" && c.trace == "" && c.input == "" {
		return &argv.UsageError{Message: "give --trace, --input or --file", Next: "evalrouter datasets add --help"}
	}
	client, d, _, err := named(ctx, c.App, args, 0)
	if err != nil {
		return err
	}
	all, err := c.read(ctx, client)
	if err != nil {
		return err
	}
	added := api.Page[api.DatasetItem]{Data: []api.DatasetItem{}}
	for from := 0; from < len(all); from += 500 {
		page, err := client.Datasets.AddItems(ctx, d.ID, api.NewDatasetItems{Items: all[from:min(from+500, len(all))]})
		if err != nil {
			return err
		}
		added.Data = append(added.Data, page.Data...)
	}
	return c.Value(added, func(p *term.Page) {
		p.Line("Added %s to %s.", command.Count(len(added.Data), "item"), d.Name)
		p.Next("evalrouter datasets items " + d.Name + " --review pending")
	})
}

func (c *addCmd) read(ctx context.Context, client *evalrouter.Client) ([]api.NewDatasetItem, error) {
	if c.file != "" {
		raw, err := c.ReadInput(c.file)
		if err != nil {
			return nil, err
		}
		return lines(raw)
	}
	x := api.NewDatasetItem{Input: value(c.input), Expected: value(c.expected)}
	if c.trace != "" {
		id, err := traces.One(ctx, client, []string{c.trace})
		if err != nil {
			return nil, err
		}
		x.Source = &api.NewItemSource{TraceID: id, SpanID: c.span, ExpectedFromOutput: c.fromOutput}
	}
	return []api.NewDatasetItem{x}, nil
}

// lines reads an item a line.
func lines(raw []byte) ([]api.NewDatasetItem, error) {
	var out []api.NewDatasetItem
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	for {
		var x api.NewDatasetItem
		err := d.Decode(&x)
		if errors.Is(err, io.EOF) && len(out) > 0 {
			return out, nil
		}
		if err != nil {
			return nil, &flow.Error{Code: api.InvalidInput, Message: "the file has no objects with input, expected, metadata and source alone; nothing was added", Err: err}
		}
		out = append(out, x)
	}
}

// value is JSON where the text is some, and the text itself otherwise.
func value(typed string) json.RawMessage {
	switch {
	case typed == "":
		return nil
	case json.Valid([]byte(typed)) && strings.ContainsRune(`{["`, rune(typed[0])):
		return json.RawMessage(typed)
	}
	b, err := json.Marshal(typed)
	if err != nil { // a text always is
		return nil
	}
	return b
}

// one finds an item by its id, or by the end or beginning of one.
func one(ctx context.Context, client *evalrouter.Client, d api.DatasetRecord, typed string) (api.DatasetItem, error) {
	var found []api.DatasetItem
	for x, err := range client.Datasets.AllItems(ctx, d.ID, "", evalrouter.Paging{Limit: 200}) {
		switch {
		case err != nil:
			return x, err
		case x.ID == typed:
			return x, nil
		case len(typed) >= 4 && (strings.HasSuffix(x.ID, typed) || strings.HasPrefix(x.ID, typed)):
			found = append(found, x)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return api.DatasetItem{}, &argv.UsageError{Message: "there is no item " + flow.Typed(typed) + " in " + d.Name + "; nothing was changed", Next: "evalrouter datasets items " + d.Name}
	}
	return api.DatasetItem{}, &argv.UsageError{Code: api.AmbiguousID, Message: "more than one item goes by " + flow.Typed(typed) + "; nothing was changed", Next: "evalrouter datasets items " + d.Name}
}

func edit(a *command.App) *argv.Command {
	input, expected, out := "", "", false
	fs := argv.NewFlags("edit")
	fs.String(&input, "input", "TEXT", "another input: JSON, or any other text")
	fs.String(&expected, "expected", "TEXT", "another expected answer")
	fs.Bool(&out, "withdraw", "take it out; versions that have it keep it")
	return &argv.Command{
		Name: "edit", Args: "DATASET ITEM [flags]", Short: "Change an item, or withdraw it", Flags: fs,
		Examples: []string{"evalrouter datasets edit orders 9d1c55aa --expected 42", "evalrouter datasets edit orders 9d1c55aa --withdraw"},
		Exec: func(ctx context.Context, args []string) error {
			if out == (input != "" || expected != "") {
				return &argv.UsageError{Message: "give --input, --expected or both, or --withdraw", Next: "evalrouter datasets edit --help"}
			}
			client, d, more, err := named(ctx, a, args, 1)
			if err != nil {
				return err
			}
			x, err := one(ctx, client, d, more[0])
			if err != nil {
				return err
			}
			if out {
				if err := client.Datasets.WithdrawItem(ctx, d.ID, x.ID); err != nil {
					return err
				}
				return a.Value(map[string]any{"ok": true, "item_id": x.ID}, func(p *term.Page) { p.Line("Item %s is out of %s.", traces.Tail(x.ID), d.Name) })
			}
			if x, err = client.Datasets.EditItem(ctx, d.ID, x.ID, api.UpdateDatasetItem{Input: value(input), Expected: value(expected)}); err != nil {
				return err
			}
			return a.Value(x, func(p *term.Page) {
				p.Line("Item %s is at revision %d and %s.", traces.Tail(x.ID), x.Revision, x.Review)
			})
		},
	}
}

func review(a *command.App) *argv.Command {
	approve, reject, note := false, false, ""
	fs := argv.NewFlags("review")
	fs.Bool(&approve, "approve", "the item is good as it stands")
	fs.Bool(&reject, "reject", "it is not")
	fs.String(&note, "note", "TEXT", "why")
	return &argv.Command{
		Name: "review", Args: "DATASET ITEM --approve|--reject", Short: "Say whether an item is good as it stands", Flags: fs,
		Long:     "Shows what is reviewed. Who edits the item later voids the review.",
		Examples: []string{"evalrouter datasets review orders 9d1c55aa --approve", "evalrouter datasets review orders 9d1c55aa --reject --note 'no answer'"},
		Exec: func(ctx context.Context, args []string) error {
			if approve == reject {
				return &argv.UsageError{Message: "give --approve or --reject", Next: "evalrouter datasets review --help"}
			}
			client, d, more, err := named(ctx, a, args, 1)
			if err != nil {
				return err
			}
			x, err := one(ctx, client, d, more[0])
			if err != nil {
				return err
			}
			in := api.NewItemReview{Decision: api.ReviewRejected, Digest: x.Digest, Note: note}
			if approve {
				in.Decision = api.ReviewApproved
			}
			if x, err = client.Datasets.Review(ctx, d.ID, x.ID, in); err != nil {
				return err
			}
			return a.Value(x, func(p *term.Page) {
				p.Line("input: %s", text(x.Input))
				p.Line("expected: %s", text(x.Expected))
				p.Line("Item %s is %s.", traces.Tail(x.ID), x.Review)
			})
		},
	}
}
