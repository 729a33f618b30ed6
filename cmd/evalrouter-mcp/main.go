// Command evalrouter-mcp serves an agent over the Model Context Protocol, on
// stdin and stdout: it browses, quotes, watches and compares. It starts a run
// only for a quote that a person approved with `evalrouter approve`.
//
// It is a program of its own so that the command line carries no protocol.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-mcp/internal/agent"
	"github.com/evalrouter/evalrouter/lib/approval"
	"github.com/evalrouter/evalrouter/lib/connect"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/process"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	evalrouter "github.com/evalrouter/evalrouter/lib"
)

const usage = `Usage: evalrouter-mcp [--base-url URL] [--workspace-id ID] [--allow-http]

Serves an agent over the Model Context Protocol, on stdin and stdout. It reads
and quotes; a run starts only for a quote that a person approved in a terminal:
evalrouter approve QUOTE
`

func main() { os.Exit(serve()) }

func serve() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := connect.Place{
		Program: "evalrouter-mcp", Version: process.Version(), Env: os.LookupEnv, Environ: os.Environ, Now: time.Now, Sleep: process.Sleep, Chance: rand.Float64,
	}
	p.Home, _ = os.UserHomeDir() // "" without one; whoever needs it refuses
	fs := flag.NewFlagSet("evalrouter-mcp", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&p.BaseURL, "base-url", "", "")
	fs.StringVar(&p.Workspace, "workspace-id", "", "")
	fs.BoolVar(&p.AllowHTTP, "allow-http", false, "")
	showVersion := fs.Bool("version", false, "")
	err := fs.Parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return 0
	case plain.Credential(os.Args[1:]):
		fmt.Fprintln(os.Stderr, "error: "+plain.ArgumentRefused+" (invalid_input)")
		return 2
	case err != nil || fs.NArg() > 0:
		fmt.Fprintf(os.Stderr, "error: that is not how evalrouter-mcp is called (command_unknown)\n\n%s", usage)
		return 2
	case *showVersion:
		fmt.Println("evalrouter-mcp", p.Version)
		return 0
	}
	d, err := desk(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: "+plain.Block(err.Error()))
		return 2
	}
	err = agent.Serve(ctx, d, &mcp.StdioTransport{})
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, "error: "+plain.Block(err.Error()))
		return 1
	}
	return 0
}

// desk is what the tools work with. It asks no service.
func desk(p connect.Place) (*agent.Desk, error) {
	who, err := p.Profile()
	if err != nil {
		return nil, err
	}
	state, err := who.Dirs.State.Path()
	if err != nil {
		return nil, err
	}
	return &agent.Desk{
		Connect: func(ctx context.Context) (*evalrouter.Client, error) { return p.Client(ctx, who) },
		Approvals: &approval.Book{
			Dir: state, BaseURL: who.BaseURL.Value, WorkspaceID: who.Workspace.Value, Disk: flow.OS{}, Now: p.Now,
		},
		Journal: &flow.Journal{Dir: state, Disk: flow.OS{}, Now: p.Now, Sleep: p.Sleep},
		Version: p.Version, Now: p.Now, Sleep: p.Sleep,
	}, nil
}
