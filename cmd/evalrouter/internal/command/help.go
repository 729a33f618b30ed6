package command

import (
	"io"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

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
