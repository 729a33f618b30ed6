package argv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// UsageError is a command line that cannot be understood. Nothing was done.
type UsageError struct {
	// Code is invalid_input when empty.
	Code    api.Code
	Message string
	Closest []string
	// Next is a command that would work, "" if none is known.
	Next string
}

// Error is the message alone; the facts around it are for the printer.
func (e *UsageError) Error() string { return e.Message }

// Is makes errors.Is(err, api.InvalidInput) work.
func (e *UsageError) Is(target error) bool {
	c, ok := target.(api.Code)
	return ok && c == e.code()
}

func (e *UsageError) code() api.Code {
	if e.Code == "" {
		return api.InvalidInput
	}
	return e.Code
}

// Parsed is an understood command line.
type Parsed struct {
	// Path is the selected command behind its parents, the root first.
	Path []*Command
	// Help says that a help page was asked for instead of the command, and All
	// that it should hold every flag.
	Help, All bool

	run func(context.Context) error
}

// Command is the selected command.
func (p *Parsed) Command() *Command { return p.Path[len(p.Path)-1] }

// Name is the words that select the command.
func (p *Parsed) Name() string { return names(p.Path) }

// Run executes the selected command.
func (p *Parsed) Run(ctx context.Context) error { return p.run(ctx) }

// Parse reads args against the tree. Flags may stand before or behind
// operands, "--" ends them, and --flag=value equals --flag value. A tree can
// be parsed once. The result is not nil even with an error: it tells how far
// the reading came, so that the error can be printed the way that was asked. An
// error that knows no better command names the help of this one.
func Parse(root *Command, args []string) (*Parsed, error) {
	p, err := parse(root, args)
	var usage *UsageError
	if errors.As(err, &usage) && usage.Next == "" {
		usage.Next = p.Name() + " --help"
	}
	return p, err
}

func parse(root *Command, args []string) (*Parsed, error) {
	tree := root.ff(nil)
	n := &normalizer{path: []*Command{root}}
	p := &Parsed{Path: n.path}
	if hasWord(args, "--help") || hasWord(args, "-h") {
		path, unknown := helpPath(root, args)
		p.Path, p.Help, p.All = path, true, hasWord(args, "--all")
		if unknown != "" {
			return p, unknownCommand(path, unknown)
		}
		return p, nil
	}
	flat, err := n.normalize(args)
	p.Path = n.path
	if err != nil {
		_ = tree.Parse(n.flagsSoFar()) // for --json, which decides how the error is printed
		return p, err
	}
	if err := tree.Parse(flat); err != nil {
		if refused := p.Command().Flags.firstFailure(); refused != nil {
			return p, refused
		}
		return p, &UsageError{Message: fmt.Sprintf("the flags of %s cannot be read", p.Name())}
	}
	if c := p.Command(); c.Exec == nil {
		return p, &UsageError{Message: p.Name() + " needs a subcommand", Closest: c.childNames(), Next: p.Name() + " --help"}
	}
	p.run = tree.Run
	return p, nil
}

type normalizer struct {
	path     []*Command
	words    []string   // the words that selected path[1:]
	flags    [][]string // by depth
	operands []string
	seen     map[*Flag]bool
}

func (n *normalizer) current() *Command { return n.path[len(n.path)-1] }

func (n *normalizer) normalize(args []string) ([]string, error) {
	n.flags, n.seen = [][]string{nil}, map[*Flag]bool{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case n.current().Raw:
			n.operands = append(n.operands, args[i:]...)
			i = len(args)
		case a == "--":
			n.operands = append(n.operands, args[i+1:]...)
			i = len(args)
		case a == "-" || !strings.HasPrefix(a, "-"):
			if err := n.word(a); err != nil {
				return nil, err
			}
		default:
			used, err := n.flag(a, args[i+1:])
			if err != nil {
				return nil, err
			}
			i += used
		}
	}
	out := n.flagsSoFar()
	if len(n.operands) > 0 {
		out = append(append(out, "--"), n.operands...)
	}
	return out, nil
}

func (n *normalizer) flagsSoFar() []string {
	out := append([]string{}, n.flags[0]...)
	for i, w := range n.words {
		out = append(append(out, w), n.flags[i+1]...)
	}
	return out
}

// word is an operand or the name of a subcommand.
func (n *normalizer) word(a string) error {
	c := n.current()
	if len(n.operands) == 0 {
		if sub := c.child(a); sub != nil {
			n.path, n.words, n.flags = append(n.path, sub), append(n.words, a), append(n.flags, nil)
			return nil
		}
	}
	if len(c.Sub) > 0 {
		return unknownCommand(n.path, a)
	}
	n.operands = append(n.operands, a)
	return nil
}

// flag reads one flag and says how many of the following words belong to it.
func (n *normalizer) flag(a string, rest []string) (int, error) {
	c := n.current()
	name, val, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
	f := c.Flags.lookup(name)
	dashes := len(a) - len(strings.TrimLeft(a, "-"))
	if f == nil || dashes > 2 || dashes == 1 && name == f.Long || dashes == 2 && name != f.Long {
		return 0, n.unknownFlag(name)
	}
	if n.seen[f] && !f.Repeat {
		return 0, &UsageError{Message: fmt.Sprintf("--%s stands twice; it counts once", f.Long)}
	}
	n.seen[f] = true
	used := 0
	switch {
	case f.Value == "" && hasValue:
		return 0, &UsageError{Message: fmt.Sprintf("--%s is a switch and takes no value", f.Long)}
	case f.Value == "": // ff would take a following "t", "0" or "true" as its value
		val = "true"
	case !hasValue && len(rest) == 0, hasValue && val == "", !hasValue && rest[0] == "":
		return 0, &UsageError{Message: fmt.Sprintf("--%s needs a value: %s", f.Long, f.Value)}
	case !hasValue && strings.HasPrefix(rest[0], "--") && c.Flags.lookup(strings.TrimLeft(rest[0], "-")) != nil:
		return 0, &UsageError{Message: fmt.Sprintf("--%s needs a value, and the next word is the flag %s", f.Long, rest[0])}
	case !hasValue:
		val, used = rest[0], 1
	}
	at := len(n.flags) - 1
	n.flags[at] = append(n.flags[at], "--"+f.Long+"="+val)
	return used, nil
}

func (n *normalizer) unknownFlag(name string) error {
	known := n.current().Flags.names()
	return &UsageError{
		Message: fmt.Sprintf("%s has no flag %s", names(n.path), flow.Typed("--"+name)),
		Closest: flow.Suggest("--"+name, known),
		Next:    names(n.path) + " --help",
	}
}

func unknownCommand(path []*Command, word string) error {
	c := path[len(path)-1]
	e := &UsageError{Code: api.CommandUnknown, Closest: flow.Suggest(word, c.childNames())}
	e.Message = fmt.Sprintf("there is no command %s", flow.Typed(word))
	if len(path) > 1 {
		e.Message = fmt.Sprintf("%s has no command %s", names(path), flow.Typed(word))
	}
	e.Next = names(path) + " --help"
	if len(e.Closest) > 0 {
		e.Next = names(path) + " " + e.Closest[0] + " --help"
	}
	return e
}

// hasWord looks for a word in front of "--".
func hasWord(args []string, w string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case w:
			return true
		}
	}
	return false
}

// helpPath is the command that a help page is asked for. Operands and the
// values of flags are skipped; a word that a group does not know is returned.
func helpPath(root *Command, args []string) (path []*Command, unknown string) {
	path = []*Command{root}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		c := path[len(path)-1]
		if strings.HasPrefix(args[i], "-") {
			f := c.Flags.lookup(strings.TrimLeft(args[i], "-"))
			if f != nil && f.Value != "" {
				i++
			}
			continue
		}
		if sub := c.child(args[i]); sub != nil {
			path = append(path, sub)
		} else if len(c.Sub) > 0 {
			return path, args[i]
		}
	}
	return path, ""
}

func names(path []*Command) string {
	var out []string
	for _, c := range path {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}
