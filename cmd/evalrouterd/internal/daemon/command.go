package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v4"
	"github.com/peterbourgon/ff/v4/ffhelp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/flags"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// command is one entry of the program: its words, what it is for, and a
// function that declares its flags and gives what it does.
type command struct {
	words    string
	operands string
	help     string
	flags    func(*flagSet) action
}

// action does a command's work with its operands.
type action func(ctx context.Context, sys System, operands []string) error

// flagSet declares the flags that several commands have.
type flagSet struct{ *flags.Set }

func (f *flagSet) toggle(name, usage string) *bool { return f.Toggle(name, usage) }

func commands() []command {
	return []command{
		{"serve", "", "run the service; callers need an API key", serveCommand},
		{"local", "", "run the on-demand service of this machine", localCommand},
		{"catalog add", "", "admit a benchmark from a manifest and a data file, or draw a generated one", catalogAddCommand},
		{"catalog list", "", "list the benchmarks of an installation", catalogListCommand},
		{"credits grant", "WORKSPACE USD", "give a workspace credit", creditsGrantCommand},
		{"feedback list", "", "show what people said about the product, newest first", feedbackListCommand},
		{"feedback mark", "ID STATUS", "say what became of it: received, triaged, resolved or declined", feedbackMarkCommand},
		{"keys create", "", "make an API key; it is shown once", keysCreateCommand},
		{"keys list", "", "list the API keys of a workspace", keysListCommand},
		{"keys rotate", "PREFIX", "make an API key's successor; both are good for a while", keysSucceedCommand},
		{"keys revoke", "PREFIX", "end an API key at once; its prefix was shown when it was made", keysRevokeCommand},
		{"keys reset", "", "replace a lost master key; stored keys become void", keysResetCommand},
		{"accounts list", "", "list accounts, and who waits to be let in", accountsListCommand},
		{"accounts approve", "EMAIL", "let in who registered, and make them a member of a workspace", accountsApproveCommand},
		{"accounts disable", "EMAIL", "keep an account out: its sign-ins and the keys that it made end", accountsStateCommand(core.UserDisabled)},
		{"accounts enable", "EMAIL", "let an account in again that was kept out; keys that ended stay so", accountsStateCommand(core.UserActive)},
		{"accounts password", "EMAIL", "give an account another password, which its owner forgot", accountsPasswordCommand},
		{"audit-log", "", "show who changed what about accounts, members and keys", auditLogCommand},
		{"keys rotate-master", "", "make another master key and seal every provider key with it, while no service runs", keysRotateCommand},
		{"migrate-to", "[POSTGRES]", "move an installation from its data directory to an empty PostgreSQL", migrateCommand},
		{"backup", "FILE", "copy the database of a data directory, beside a service that runs", backupCommand},
		{"restore", "", "say that the database was restored, or restore it from a backup: nobody is called before an acknowledgement", restoreCommand},
		{"recover", "", "show what a restored database stopped, and let calls be made again", recoverCommand},
		{"audit", "", "recompute every balance and invariant from the record", auditCommand},
		{"version", "", "print the version", versionCommand},
	}
}

// Run is the program. It returns the exit status.
func Run(ctx context.Context, args []string, sys System) int {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-version") {
		args = []string{"version"}
	}
	if len(args) == 0 || slices.Contains([]string{"help", "--help", "-h", "-help"}, args[0]) {
		out, status := sys.Stdout, exitOK
		if len(args) == 0 {
			out, status = sys.Stderr, exitRefused
		}
		writeHelp(out)
		return status
	}
	if plain.Credential(args) {
		return sys.report(refuse("secret_in_arguments", "%s", plain.ArgumentRefused))
	}
	c, rest, err := find(args)
	if err != nil {
		return sys.report(err)
	}
	return sys.report(c.run(ctx, rest, sys))
}

// find matches the longest command at the start of the arguments.
func find(args []string) (command, []string, error) {
	for n := min(2, len(args)); n > 0; n-- {
		for _, c := range commands() {
			if c.words == strings.Join(args[:n], " ") {
				return c, args[n:], nil
			}
		}
	}
	var below []string
	for _, c := range commands() {
		if rest, ok := strings.CutPrefix(c.words, args[0]+" "); ok {
			below = append(below, rest)
		}
	}
	if len(below) > 0 {
		return command{}, nil, refuse("command_unknown", "evalrouterd %s is followed by one of: %s", args[0], strings.Join(below, ", "))
	}
	return command{}, nil, refuse("command_unknown", "there is no such command; evalrouterd help lists them")
}

func (c command) run(ctx context.Context, args []string, sys System) error {
	f := &flagSet{flags.New("evalrouterd " + c.words)}
	do := c.flags(f)
	operands, err := f.Read(args)
	if err != nil {
		if errors.Is(err, ff.ErrHelp) {
			fmt.Fprint(sys.Stdout, strings.TrimSpace("evalrouterd "+c.words+" "+c.operands)+": "+c.help+"\n\n"+strings.ReplaceAll(ffhelp.Flags(f).String(), "`", ""))
			return nil
		}
		return refuse("invalid_input", "%s; evalrouterd %s --help lists the flags", err, c.words)
	}
	switch want := len(strings.Fields(c.operands)); {
	case len(operands) == want, strings.HasPrefix(c.operands, "[") && len(operands) == 0:
		return do(ctx, sys, operands)
	case want == 0:
		return refuse("invalid_input", "evalrouterd %s takes nothing but flags; evalrouterd %s --help lists them", c.words, c.words)
	case len(operands) < want:
		return refuse("invalid_input", "something is missing: evalrouterd %s %s", c.words, c.operands)
	default:
		return refuse("invalid_input", "that is too much: evalrouterd %s %s", c.words, c.operands)
	}
}

func writeHelp(w io.Writer) {
	fmt.Fprintln(w, "evalrouterd is the EvalRouter service.")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-32s %s\n", strings.TrimSpace(c.words+" "+c.operands), c.help)
	}
	fmt.Fprintln(w, "\nEvery command takes --help. --data is the data directory; without it, that of the on-demand service.")
	fmt.Fprintln(w, "--database names a PostgreSQL that several processes share; "+databaseVariable+" does so for every command but local.")
}
