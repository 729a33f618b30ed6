package command

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pack/schema"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

func (a *App) schemaCommand() *argv.Command {
	names := strings.Join(schema.Names(), "|")
	return &argv.Command{
		Name: "schema", Args: names, Short: "Print the JSON Schema of a file of a package", Operands: [2]int{1, 1},
		Long:     "package is evalrouter.json; tasks and fixtures are one line of their files. A\nschema cannot say everything: validate decides.",
		Examples: []string{Program + " schema package", Program + " schema tasks"},
		Run: func(_ context.Context, operands []string) error {
			text, ok := schema.Text(operands[0])
			if !ok {
				return &argv.UsageError{Message: "there is no schema of this name; want one of " + names, Next: Program + " schema --help"}
			}
			a.write(string(text))
			return nil
		},
	}
}
