package command

import (
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// workspace is the program with the full-screen workspace.
const workspace = "evalrouter-tui"

// Interactive declares -i of a list that the workspace shows too.
func Interactive(fs *argv.Flags, wanted *bool, usage string) {
	fs.Bool(wanted, "interactive", usage).WithShort('i')
}

// HasWorkspace says that the full-screen workspace can be opened here, and that
// the person has not asked for plain lines.
func (a *App) HasWorkspace() bool {
	_, err := a.FindBinary(workspace)
	return err == nil && a.Attended() && a.Term.OutTTY && !a.Term.Simple() && a.Term.Get("EVALROUTER_TUI") != "off"
}

// OpenWorkspace becomes the full-screen workspace at a place of it, for the same
// service and workspace that this command was given. line is what does the same
// without it.
func (a *App) OpenWorkspace(at, line string) error {
	why := ""
	path, err := a.FindBinary(workspace)
	switch {
	case !a.Attended() || !a.Term.OutTTY:
		why = "-i needs a terminal, and neither --json nor --no-input"
	case a.Term.Get("EVALROUTER_TUI") == "off":
		why = "-i opens the full-screen workspace, which EVALROUTER_TUI=off forbids"
	case a.Term.Simple():
		why = "-i opens the full-screen workspace, and this terminal gets plain lines (ACCESSIBLE=1, or it calls itself dumb)"
	case err != nil:
		why = "-i opens the full-screen workspace, and evalrouter-tui is not installed beside this program"
	default:
		return a.Exec(path, append(a.workspaceArgs(), "--at", at))
	}
	return WithNext(&flow.Error{Code: api.UnsupportedFeature, Message: why, Facts: []string{"nothing was read"}, Err: err}, line)
}

// workspaceArgs name the program and the service for it.
func (a *App) workspaceArgs() []string {
	args := []string{workspace}
	if a.Global.BaseURL != "" {
		args = append(args, "--base-url", a.Global.BaseURL)
	}
	if a.Global.Workspace != "" {
		args = append(args, "--workspace-id", a.Global.Workspace)
	}
	if a.Global.AllowHTTP {
		args = append(args, "--allow-http")
	}
	return args
}
