package guide

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/schema"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// described is a document that has a schema.
type described struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Schema is "evalrouter schema".
func Schema(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "schema", Args: "[NAME]", Short: "Print the JSON Schema of a document",
		Long:     "Without a name: the documents that have one. Makes no request.",
		Examples: []string{"evalrouter schema", "evalrouter schema quote"},
		Exec: func(_ context.Context, args []string) error {
			switch {
			case len(args) > 1:
				return command.NoOperands(args[1:])
			case len(args) == 0:
				return listSchemas(a)
			}
			text := schema.Text(args[0])
			if text == "" {
				return &argv.UsageError{Message: "there is no schema of " + flow.Typed(args[0]), Closest: flow.Suggest(args[0], schema.Names()), Next: "evalrouter schema"}
			}
			if a.WantsJSON() {
				return a.Value(json.RawMessage(text), func(*term.Page) {})
			}
			_, err := io.WriteString(a.Term.Out, text)
			return err
		},
	}
}

func listSchemas(a *command.App) error {
	var list []described
	for _, name := range schema.Names() {
		d := described{Name: name}
		var head struct{ Title string }
		if err := json.Unmarshal([]byte(schema.Text(name)), &head); err != nil {
			return fmt.Errorf("read schema %s: %w", name, err)
		}
		d.Title = head.Title
		list = append(list, d)
	}
	return a.Value(map[string]any{"data": list}, func(p *term.Page) {
		for _, d := range list {
			p.Line("%-12s %s", d.Name, d.Title)
		}
		p.Next("evalrouter schema quote")
	})
}
