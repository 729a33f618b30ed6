package command

import (
	"io"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// bare is evalrouter without a command. A script gets the help page and an
// error; a person gets the full-screen workspace, or the line-based shell.
func (a *App) bare(root *argv.Command) error {
	if !a.Attended() || !a.Term.OutTTY {
		if a.WantsJSON() {
			return &argv.UsageError{Message: "evalrouter needs a command", Next: "evalrouter --help"}
		}
		if _, err := io.WriteString(a.Term.Err, argv.Help([]*argv.Command{root}, false)); err != nil {
			return err
		}
		return &Ended{Code: exitRejected}
	}
	if !a.HasWorkspace() {
		return a.Shell() // which has the same journeys in lines
	}
	path, err := a.FindBinary(workspace)
	if err != nil {
		return a.Shell()
	}
	return a.Exec(path, a.workspaceArgs())
}
