package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// options are the flags of all commands.
type options struct {
	project, state, since, until, rewind      string
	keyFile, baseURL, workspace               string
	watch, dryRun, incomplete, json, keyStdin bool
	allowHTTP, allowSkew                      bool
	poll, settle, lookback                    float64 // seconds, seconds, hours
}

// flag is one declared flag; value is "" for a switch.
type flag struct {
	name, value, usage string
	set                func(o *options, s string) error
}

func flags() []flag {
	text := func(to func(*options) *string) func(*options, string) error {
		return func(o *options, s string) error { *to(o) = s; return nil }
	}
	on := func(to func(*options) *bool) func(*options, string) error {
		return func(o *options, _ string) error { *to(o) = true; return nil }
	}
	number := func(to func(*options) *float64, lo, hi float64) func(*options, string) error {
		return func(o *options, s string) error {
			n, err := strconv.ParseFloat(s, 64)
			if err != nil || !(n >= lo) || n > hi {
				return fmt.Errorf("want a number from %g to %g", lo, hi)
			}
			*to(o) = n
			return nil
		}
	}
	return []flag{
		{"project", "ID", "the LangSmith project (see: projects)", text(func(o *options) *string { return &o.project })},
		{"state", "FILE", "the private file that remembers what was imported", text(func(o *options) *string { return &o.state })},
		{"watch", "", "keep importing until stopped", on(func(o *options) *bool { return &o.watch })},
		{"since", "TIME", "first start time, for a new state (24 h ago)", text(func(o *options) *string { return &o.since })},
		{"until", "TIME", "last start time to import, for a back-fill", text(func(o *options) *string { return &o.until })},
		{"dry-run", "", "count what would be read, and send nothing", on(func(o *options) *bool { return &o.dryRun })},
		{"rewind", "TIME", "read again from a start time; stores nothing twice", text(func(o *options) *string { return &o.rewind })},
		{"include-incomplete", "", "send runs that never ended, marked as partial", on(func(o *options) *bool { return &o.incomplete })},
		{"json", "", "one JSON document on stdout, errors too", on(func(o *options) *bool { return &o.json })},
		{"base-url", "URL", "the EvalRouter service", text(func(o *options) *string { return &o.baseURL })},
		{"workspace-id", "ID", "the EvalRouter workspace", text(func(o *options) *string { return &o.workspace })},
		{"allow-skew", "", "run although this clock is more than 10 minutes off", on(func(o *options) *bool { return &o.allowSkew })},
		{"poll", "SECONDS", "pause between two polls (30)", number(func(o *options) *float64 { return &o.poll }, 0.01, 3600)},
		{"settle", "SECONDS", "how long a run must have been over (60)", number(func(o *options) *float64 { return &o.settle }, 0, 3600)},
		{"lookback", "HOURS", "how late a run may become visible (72)", number(func(o *options) *float64 { return &o.lookback }, 1, 24*400)},
		{"key-file", "FILE", "read the LangSmith key from a file", text(func(o *options) *string { return &o.keyFile })},
		{"key-stdin", "", "read the LangSmith key from stdin", on(func(o *options) *bool { return &o.keyStdin })},
		{"allow-http", "", "allow plain http to this machine", on(func(o *options) *bool { return &o.allowHTTP })},
	}
}

func flagNamed(name string) (flag, bool) {
	all := flags()
	i := slices.IndexFunc(all, func(f flag) bool { return f.name == name })
	if i < 0 {
		return flag{}, false
	}
	return all[i], true
}

// parse reads the words behind a command. No message repeats a value: it may be
// a mistyped key.
func (o *options) parse(c command, args []string) error {
	allowed := append(slices.Clone(c.flags), c.rare...)
	seen := map[string]bool{}
	for i := 0; i < len(args); i++ {
		name, val, hasValue := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		f, ok := flagNamed(name)
		switch {
		case !strings.HasPrefix(args[i], "--"):
			return usage(c.name, "%s takes flags only, and word %d is none", c.name, i+1)
		case !ok || !slices.Contains(allowed, name):
			return usage(c.name, "%s does not have the flag that is word %d", c.name, i+1)
		case seen[name]:
			return usage(c.name, "--%s stands twice; it counts once", name)
		case f.value == "" && hasValue:
			return usage(c.name, "--%s is a switch and takes no value", name)
		case f.value != "" && !hasValue:
			if i++; i == len(args) || strings.HasPrefix(args[i], "--") {
				return usage(c.name, "--%s needs a value: %s", name, f.value)
			}
			val = args[i]
		}
		if f.value != "" && val == "" {
			return usage(c.name, "--%s needs a value: %s", name, f.value)
		}
		seen[name] = true
		if err := f.set(o, val); err != nil {
			return usage(c.name, "--%s: %s", name, err)
		}
	}
	return nil
}

func usage(command, format string, args ...any) error {
	next := "evalrouter-langsmith --help"
	if command != "" {
		next = "evalrouter-langsmith " + command + " --help"
	}
	return &refusal{code: api.InvalidInput, message: fmt.Sprintf(format, args...), next: []string{next}}
}

func unknownCommand(word string) error {
	e := &refusal{code: api.CommandUnknown, message: "there is no such command", next: []string{"evalrouter-langsmith --help"}}
	for _, c := range commands() {
		if word != "" && (strings.HasPrefix(c.name, word) || strings.HasPrefix(word, c.name)) {
			e.next = []string{"evalrouter-langsmith " + c.name + " --help"}
		}
	}
	return e
}

// moment reads a point in time: RFC 3339 with its zone, or a date, which means
// its beginning in UTC.
func moment(flag, s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC(), nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Time{}, usage("sync", "--%s: want a time with its zone such as 2026-11-29T08:00:00Z, or a date", flag)
}

const column = 26

// page is the help page of a command.
func (c command) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n  evalrouter-langsmith %s [flags]\n", c.short, c.name)
	if c.long != "" {
		fmt.Fprintf(&b, "\n%s\n", c.long)
	}
	for _, s := range []struct {
		title string
		names []string
	}{{"Flags", c.flags}, {"More flags", c.rare}} {
		if len(s.names) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", s.title)
		for _, n := range s.names {
			f, _ := flagNamed(n) // a test holds the names to the list
			head := strings.TrimSpace("  --" + f.name + " " + f.value)
			fmt.Fprintf(&b, "  %-*s%s\n", column-2, head, f.usage)
		}
	}
	b.WriteString("\nExamples\n")
	for _, e := range c.examples {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

func rootPage() string {
	var b strings.Builder
	b.WriteString("Import completed agent runs from LangSmith into EvalRouter.\n\n  evalrouter-langsmith COMMAND [flags]\n\nCommands\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-*s%s\n", column-2, c.name, strings.ToLower(c.short[:1])+c.short[1:])
	}
	b.WriteString(`
Environment
  LANGSMITH_API_KEY         the source key; it goes to LangSmith only
  LANGSMITH_WORKSPACE_ID    needed by keys of an organisation
  LANGSMITH_ENDPOINT        LangSmith's address, for the EU or self-hosted
  EVALROUTER_TRACE_KEY      the ingest key of the trace connection
  EVALROUTER_TRACE_CONNECTION_ID
                            the trace connection that receives the runs
  EVALROUTER_BASE_URL       the EvalRouter service
  EVALROUTER_WORKSPACE_ID   the EvalRouter workspace

Exit codes
  0  everything that had ended was imported, or --watch was stopped
  1  LangSmith or EvalRouter failed or refused the key
  2  invalid input, configuration or state; nothing was read or sent
  4  some runs go on, were rejected or were sent incomplete

Imports are automatic only while sync --watch runs. The state file resumes them
after a restart. Inputs and outputs are bounded and redacted before they are
sent; only what LangSmith recorded can be imported.
`)
	return b.String()
}
