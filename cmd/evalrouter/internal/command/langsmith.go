package command

import (
	"context"
	"slices"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// connectorWord selects the LangSmith connector, and connector is its program.
const (
	connectorWord = "langsmith"
	connector     = "evalrouter-langsmith"
)

// LangSmith is the entry on the help page. Everything behind the word belongs
// to the connector's own program, which knows its flags.
func LangSmith(a *App) *argv.Command {
	return &argv.Command{
		Name: connectorWord, Args: "projects|sync|status|doctor [flags]", Short: "Import agent runs from LangSmith",
		Long:     "It runs evalrouter-langsmith, a program of its own.\nevalrouter langsmith sync --help explains its flags.",
		Examples: []string{"evalrouter langsmith", "evalrouter langsmith --help"},
		Exec: func(_ context.Context, args []string) error {
			return a.replaceByConnector(nil)
		},
	}
}

// runConnector becomes the connector and answers the exit code if it cannot.
func (a *App) runConnector(args []string) int {
	a.Global.JSON = slices.Contains(args, "--json")
	err := a.replaceByConnector(args[1:])
	if err == nil {
		return exitOK
	}
	if printed := a.Fail(err); printed != nil {
		return exitFailed
	}
	return ExitCode(err)
}

func (a *App) replaceByConnector(args []string) error {
	path, err := a.FindBinary(connector)
	if err != nil {
		return &flow.Error{
			Code: api.LangSmithExtraRequired, Message: "evalrouter-langsmith is not installed",
			Facts: []string{
				"nothing was read or sent",
				"install it with: go install github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith@" + a.Version,
			},
			Err: err,
		}
	}
	return a.Exec(path, append([]string{connector}, args...))
}
