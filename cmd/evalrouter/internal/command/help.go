package command

import (
	"context"
	"io"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

const exitTopic = `Exit codes of evalrouter.

  0   success
  1   the service or the network failed, or the watched run failed; also
      Ctrl-C while watching, which leaves the run alone
  2   invalid input, a rejected request, or an unattended run without --yes
      and --max-cost; nothing was started or charged
  4   the watched run ended partial or cancelled
  5   the question was answered with no; nothing was started or charged
  6   the service stayed out of reach while watching; the run goes on

With --json every error is one document on stdout:
  {"error":{"code":...,"message":...,"exit_code":...,"retry_safe":...,
            "charged_microusd":...,"next":[...]}}
`

const envTopic = `Environment variables that evalrouter reads.

  EVALROUTER_API_KEY       the key of a hosted service; never sent to the
                           service on this machine
  EVALROUTER_BASE_URL      the service to use
  EVALROUTER_WORKSPACE_ID  the workspace to use
  EVALROUTER_LOCAL=off     never start the service on this machine
  EVALROUTER_STATE_DIR     where accepted quotes are remembered
                           (~/.local/state/evalrouter)
  EVALROUTER_TUI=off       no full-screen workspace
  XDG_DATA_HOME            where the service on this machine keeps its data
  CI                       set: never ask anything
  TERM=dumb, ACCESSIBLE=1  plain lines and typed words, no single keys
  COLUMNS                  the width of tables when no terminal tells it

No variable sets a flag: consent and spending caps come from the command line
alone. evalrouter options shows what is in force, and why.
`

func helpCommand(a *App, root *argv.Command) *argv.Command {
	return &argv.Command{
		Name: "help", Args: "[COMMAND... | exit | env]", Short: "Explain a command or a topic",
		Examples: []string{"evalrouter help run", "evalrouter help exit"},
		Exec: func(_ context.Context, args []string) error {
			text := ""
			switch {
			case len(args) == 1 && args[0] == "exit":
				text = exitTopic
			case len(args) == 1 && args[0] == "env":
				text = envTopic
			default:
				path := root.Find(args...)
				if path == nil {
					return unknownTopic(root, args)
				}
				text = argv.Help(path, false)
			}
			_, err := io.WriteString(a.Term.Out, text)
			return err
		},
	}
}

func unknownTopic(root *argv.Command, args []string) error {
	known := []string{"exit", "env"}
	for _, c := range root.Sub {
		known = append(known, c.Name)
	}
	return &argv.UsageError{
		Code: api.CommandUnknown, Message: "there is no help on " + flow.Typed(args[len(args)-1]),
		Closest: flow.Suggest(args[len(args)-1], known), Next: "evalrouter --help",
	}
}

// bare is evalrouter without a command. A script gets the help page and an
// error; a person gets the full-screen workspace, or a page to start from.
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
	if a.Term.Get("EVALROUTER_TUI") != "off" {
		if path, err := a.FindBinary("evalrouter-tui"); err == nil {
			return a.Exec(path, []string{"evalrouter-tui"})
		}
	}
	p := a.Term.OutPage()
	p.Line("EvalRouter %s - run benchmarks under a reviewed quote and a hard cap", a.Version)
	p.Line("")
	for _, row := range [][3]string{
		{"Try it now", "evalrouter demo", "offline, no account"},
		{"Look around", "evalrouter catalog", "what can be run"},
		{"Your model", "evalrouter connections create", "OpenAI-compatible"},
		{"Run", "evalrouter run BENCHMARK --model MODEL", "quote first"},
	} {
		p.Line("  %-11s  %-38s  %s", row[0], row[1], row[2])
	}
	p.Line("")
	p.Line("Everything else: evalrouter --help      Settings: evalrouter options")
	return p.Failure()
}
