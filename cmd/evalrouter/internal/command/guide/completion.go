package guide

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
)

// Completion is "evalrouter completion".
func Completion(a *command.App, root *argv.Command) *argv.Command {
	full := false
	fs := argv.NewFlags("completion")
	fs.Bool(&full, "full", "also flags and the names known on this machine")
	return &argv.Command{
		Name: "completion", Args: "zsh|bash|fish|powershell", Short: "Print the Tab completion of a shell",
		Long:     "Names of commands only, without any request. With --full also subcommands, flags\nand what this machine knows of benchmarks, models and runs; nobody is asked.",
		Examples: []string{"evalrouter completion bash", "evalrouter completion zsh --full"},
		Flags:    fs,
		Exec: func(_ context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one shell: zsh, bash, fish or powershell", Next: "evalrouter completion bash"}
			}
			if !slices.Contains(manual.Shells(), args[0]) {
				return &argv.UsageError{Message: "there is no completion for " + flow.Typed(args[0]) + "; there is one for zsh, bash, fish and powershell", Closest: flow.Suggest(args[0], manual.Shells()), Next: "evalrouter completion --help"}
			}
			_, err := io.WriteString(a.Term.Out, manual.Completion(root, args[0], full))
			return err
		},
	}
}

// Known gives the names that this machine knows, without asking anybody.
type Known interface {
	// Names are the values of an operand or a flag: "benchmark", "model" or
	// "run". What is not known is left out.
	Names(kind string) []string
}

// Words is the hidden command that a full completion asks: the candidates for
// the last of its operands, a line each. It is silent about every error.
func Words(a *command.App, root *argv.Command, known Known) *argv.Command {
	return &argv.Command{
		Name: manual.Asker, Args: "WORD...", Short: "Answer a full completion", Hidden: true, Raw: true,
		Exec: func(_ context.Context, words []string) error {
			var b strings.Builder
			for _, c := range candidates(root, known, words) {
				b.WriteString(c + "\n")
			}
			_, err := io.WriteString(a.Term.Out, b.String())
			return err
		},
	}
}

func candidates(root *argv.Command, known Known, words []string) (out []string) {
	if len(words) == 0 {
		return nil
	}
	before, cur := words[:len(words)-1], words[len(words)-1]
	c, flag, operands := locate(root, before)
	var all []string
	switch {
	case flag != nil && flag.Value == "":
	case flag != nil:
		all = values(flag, known)
	case strings.HasPrefix(cur, "-"):
		for _, fs := range []*argv.Flags{c.Flags, root.Shared} {
			if fs == nil {
				continue
			}
			for _, f := range fs.List() {
				all = append(all, "--"+f.Long)
			}
		}
		all = append(all, "--help")
	case len(c.Sub) > 0:
		for _, s := range c.Sub {
			if !s.Hidden {
				all = append(all, s.Name)
			}
		}
	case operands == 0:
		all = operandNames(c, known)
	}
	for _, s := range all {
		if strings.HasPrefix(s, cur) && printable(s) {
			out = append(out, s)
		}
	}
	return out
}

// locate reads the words before the cursor: the command that they select, the
// flag that waits for its value, and how many operands there are.
func locate(root *argv.Command, words []string) (c *argv.Command, flag *argv.Flag, operands int) {
	c = root
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.HasPrefix(w, "-") && w != "-" {
			f := find(strings.TrimLeft(w, "-"), c.Flags, root.Shared)
			if f == nil || f.Value == "" || strings.Contains(w, "=") {
				continue
			}
			if i == len(words)-1 {
				return c, f, operands
			}
			i++
			continue
		}
		if path := c.Find(w); path != nil && operands == 0 {
			c = path[1]
			continue
		}
		operands++
	}
	return c, nil, operands
}

func find(name string, sets ...*argv.Flags) *argv.Flag {
	for _, fs := range sets {
		if fs == nil {
			continue
		}
		for _, f := range fs.List() {
			if f.Long == name || f.Short != 0 && string(f.Short) == name {
				return f
			}
		}
	}
	return nil
}

// values are what a flag takes: the words of a choice, or names that are known.
func values(f *argv.Flag, known Known) []string {
	switch {
	case f.Long == "model":
		return known.Names("model")
	case f.Long == "slug":
		return known.Names("benchmark")
	case f.Long == "from":
		return known.Names("run")
	case strings.Contains(f.Value, "|") && strings.ToLower(f.Value) == f.Value:
		return strings.Split(f.Value, "|")
	}
	return nil
}

// operandNames are what a command's first operand may be.
func operandNames(c *argv.Command, known Known) []string {
	switch {
	case c.Name == "run":
		return known.Names("benchmark")
	case strings.HasPrefix(c.Args, "RUN") || strings.HasPrefix(c.Args, "[RUN]"):
		return known.Names("run")
	case c.Name == "completion":
		return manual.Shells()
	}
	return nil
}

// printable keeps names away from the shell that it could read as something
// else than a name.
func printable(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@+-/") == ""
}
