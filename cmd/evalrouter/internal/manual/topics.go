// Package manual is everything that can be read about the command line: topics
// of help, the man pages, the shell completions, one JSON document and the
// reference of docs/cli.md. All of it is rendered from the tree of declared
// commands and the tables here, so that no two of them can differ.
package manual

import (
	"fmt"
	"strings"
)

// Exit is one exit code.
type Exit struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

// Exits is every exit code. There is no 3.
func Exits() []Exit {
	return []Exit{
		{0, "success"},
		{1, "the service or the network failed, or the watched run failed; also Ctrl-C while watching, which leaves the run alone"},
		{2, "invalid input, a rejected request, or an unattended run without --yes and --max-cost; nothing was started or charged"},
		{4, "the watched run ended partial or cancelled"},
		{5, "the question was answered with no; nothing was started or charged"},
		{6, "the service stayed out of reach while watching; the run goes on"},
	}
}

// Variable is an environment variable that is read.
type Variable struct {
	Name string `json:"name"`
	// Flag is the flag that does the same and wins, "" for none.
	Flag    string `json:"flag,omitempty"`
	Meaning string `json:"meaning"`
}

// Variables is every environment variable that is read. None of them gives
// consent or a cap.
func Variables() []Variable {
	return []Variable{
		{"EVALROUTER_API_KEY", "", "the key of a hosted service; never sent to the service on this machine"},
		{"EVALROUTER_BASE_URL", "--base-url", "the service to use; local is the one on this machine"},
		{"EVALROUTER_WORKSPACE_ID", "--workspace-id", "the workspace to use"},
		{"EVALROUTER_LOCAL", "", "off: never start the service on this machine"},
		{"EVALROUTER_STATE_DIR", "", "where accepted quotes are remembered (~/.local/state/evalrouter)"},
		{"EVALROUTER_CACHE_DIR", "", "where copies of the public catalog are kept (~/.cache/evalrouter)"},
		{"EVALROUTER_READ_CACHE", "", "off: keep and use no copies of the catalog"},
		{"EVALROUTER_NO_BROWSER", "--no-browser", "1: open no browser and print addresses instead"},
		{"EVALROUTER_TUI", "", "off: the line-based shell instead of the full-screen workspace"},
		{"EVALROUTER_TUI_GUARD", "", "off: nothing gives the terminal back after a kill -9 of the workspace"},
		{"EVALROUTER_THEME", "", "mono or high-contrast: how the workspace looks"},
		{"EVALROUTER_NO_UPDATE_CHECK", "", "1: the workspace asks for no newer release"},
		{"XDG_STATE_HOME", "", "the folder above the one of EVALROUTER_STATE_DIR"},
		{"XDG_CACHE_HOME", "", "the folder above the one of EVALROUTER_CACHE_DIR"},
		{"XDG_CONFIG_HOME", "", "where sign-ins are kept, below evalrouter"},
		{"XDG_DATA_HOME", "", "where the service on this machine keeps its data"},
		{"LOCALAPPDATA", "", "on Windows, the folder above the copies of the catalog"},
		{"NO_COLOR", "--color", "set: no colour"},
		{"CLICOLOR", "--color", "0: no colour"},
		{"CLICOLOR_FORCE", "--color", "set and not 0: colour where there is no terminal, too"},
		{"CI", "--no-input", "set: never ask anything, no colour, no browser"},
		{"TERM", "", "dumb: plain lines and typed words, no single keys and no colour"},
		{"ACCESSIBLE", "", "1: plain lines and typed words, no colour, progress as sentences"},
		{"EVALROUTER_ASCII", "", "1: letters only, also in the place of our own signs"},
		{"LC_ALL", "", "with LC_CTYPE and LANG: a locale other than UTF-8 means letters only"},
		{"COLUMNS", "", "the width of tables when no terminal tells it"},
		{"HTTPS_PROXY", "", "the proxy to a hosted service; NO_PROXY names exceptions"},
	}
}

// ExitTopic is "help exit".
func ExitTopic() string {
	var b strings.Builder
	b.WriteString("Exit codes of evalrouter.\n\n")
	for _, e := range Exits() {
		hanging(&b, fmt.Sprintf("  %-4d", e.Code), e.Meaning)
	}
	b.WriteString("\nThere is no other code. With --json every error is one document on stdout; see\nevalrouter help json and evalrouter help errors.\n")
	return b.String()
}

// EnvTopic is "help env".
func EnvTopic() string {
	var b strings.Builder
	b.WriteString("Environment variables that evalrouter reads.\n\n")
	for _, v := range Variables() {
		meaning := v.Meaning
		if v.Flag != "" {
			meaning += " (flag " + v.Flag + ")"
		}
		hanging(&b, fmt.Sprintf("  %-28s", v.Name), meaning)
	}
	b.WriteString("\nNo variable sets a flag by a general rule: consent and spending caps come from\nthe command line alone. evalrouter options shows what is in force, and why.\n")
	return b.String()
}

// JSONTopic is "help json".
func JSONTopic() string {
	return `JSON of evalrouter.

With --json a command prints one document on stdout, and nothing else. Progress
and notes go to stderr. Lists are JSON by themselves when stdout is no terminal.

  a record       the service's record of the command's main request, unchanged
  a list         {"data":[...],"next_cursor":...,"truncated":...}
  a watched run  the run's record with "result", "report_url" and any "gates"
  events         one object a line
  progress       --progress json: evalrouter.progress.v1, one object a line
  an error       {"error":{"code","message","exit_code","retry_safe",
                 "charged_microusd","next":[],...}}

Amounts are strings of millionths of a US dollar: "1000000" is $1. Times are RFC
3339 in UTC. --jq EXPR filters the document with jq; a string is printed as it
is. Control characters and marks that reorder text stand escaped.

  evalrouter run arithmetic --model MODEL --max-cost 5 --yes --json
  evalrouter catalog --jq '.data[].slug'

Every command, flag, variable and code as one document: evalrouter help --json
Schemas of documents: evalrouter schema
`
}

// Topics are the words that help explains beside commands.
func Topics() []string { return []string{"exit", "env", "json", "errors"} }

const pageWidth = 80

// hanging writes text behind a head, broken at spaces.
func hanging(b *strings.Builder, head, text string) {
	line, at := head, len(head)
	for i, w := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(w) > pageWidth {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", at)
		}
		if len(line) > at {
			line += " "
		}
		line += w
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
