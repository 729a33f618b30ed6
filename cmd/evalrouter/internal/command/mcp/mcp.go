// Package mcp is "evalrouter mcp".
package mcp

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// contextServer is the program that serves agents. It is one of its own so that
// the protocol weighs nothing here.
const contextServer = "evalrouter-mcp"

// MCP serves agents over stdin and stdout, by way of evalrouter-mcp.
func MCP(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "mcp", Args: "[flags]", Short: "Serve an agent over MCP, on stdin and stdout", Raw: true,
		Long:     "It runs evalrouter-mcp, a program of its own. An agent can look, quote, watch\nand compare with it. It starts only what a person approved in a terminal:\nevalrouter approve QUOTE",
		Examples: []string{"evalrouter mcp", "evalrouter mcp --help"},
		Exec: func(_ context.Context, words []string) error {
			path, err := a.FindBinary(contextServer)
			if err != nil {
				return &argv.UsageError{
					Code: api.MCPExtraRequired, Message: "mcp is done by " + contextServer + ", which is not installed; nothing was read or sent",
					Next: "go install github.com/evalrouter/evalrouter/cmd/" + contextServer + "@" + a.ModuleVersion(),
				}
			}
			return a.Exec(path, append(append([]string{contextServer}, place(a.Global)...), words...))
		},
	}
}

// place is the flags that say where and as whom, for another program of ours.
func place(g command.Global) (words []string) {
	if g.BaseURL != "" {
		words = append(words, "--base-url", g.BaseURL)
	}
	if g.Workspace != "" {
		words = append(words, "--workspace-id", g.Workspace)
	}
	if g.AllowHTTP {
		words = append(words, "--allow-http")
	}
	return words
}
