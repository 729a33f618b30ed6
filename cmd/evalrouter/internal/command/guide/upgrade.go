package guide

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// advice is how this program is brought up to date, as JSON.
type advice struct {
	Version   string   `json:"version"`
	Installed string   `json:"installed"` // module or checkout
	Commands  []string `json:"commands"`
}

// Upgrade is "evalrouter upgrade". It prints what to run and runs nothing: how a
// program came onto a machine is how it should be replaced.
func Upgrade(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "upgrade", Short: "Print how this installation is upgraded",
		Long:     "Nothing is asked, downloaded or installed.",
		Examples: []string{"evalrouter upgrade", "evalrouter upgrade --json"},
		Exec: func(_ context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			v := advice{Version: a.Version, Installed: "checkout", Commands: []string{"git pull", "./scripts/setup"}}
			if strings.HasPrefix(a.Version, "v") && !strings.Contains(a.Version, "+dirty") {
				v.Installed = "module"
				v.Commands = []string{"go install github.com/evalrouter/evalrouter/cmd/evalrouter@latest", "go install github.com/evalrouter/evalrouter/cmd/evalrouterd@latest"}
			}
			return a.Value(v, func(p *term.Page) {
				p.Line("evalrouter %s, built from a %s. To upgrade:", v.Version, v.Installed)
				for _, c := range v.Commands {
					p.Line("  %s", c)
				}
				p.Line("A service that runs here ends with: evalrouter local stop")
			})
		},
	}
}
