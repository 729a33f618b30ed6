// Package argv is the command line as a tree of declared commands.
//
// ff parses, but ff stops reading flags at the first operand, lets a switch
// swallow the word behind it, and lets a repeated flag win silently. For a
// command that spends money each of these is a wrong purchase waiting to
// happen, so the tree is declared here, Parse puts every flag in front of the
// operands and refuses what is ambiguous, and only then hands over to ff. The
// help pages are rendered from the same declaration.
package argv

import (
	"context"

	"github.com/peterbourgon/ff/v4"
)

// Command is one command or group of commands.
type Command struct {
	// Name is the word that selects the command.
	Name string
	// Args shows the operands and the flags worth a place on the usage line.
	Args string
	// Short is one sentence without a full stop.
	Short string
	// Long is more text, at most a few lines of 80 columns.
	Long string
	// Examples are whole command lines that work.
	Examples []string
	// Raw commands get every word behind their name as it stands, flags too:
	// another program reads them. --help is still answered here.
	Raw bool
	// Hidden commands are left out of the list of commands.
	Hidden bool
	// Flags may be nil when the command has none of its own.
	Flags *Flags
	// Shared are flags that work behind every command of the tree. Only the
	// root has them.
	Shared *Flags
	Sub    []*Command
	// Exec runs the command. It is nil for a group that needs a subcommand.
	Exec func(ctx context.Context, args []string) error
}

// ff converts the tree, giving every flag set the shared flags as its parent so
// that they work behind the command too.
func (c *Command) ff(shared *Flags) *ff.Command {
	if c.Flags == nil {
		c.Flags = NewFlags(c.Name)
	}
	if c.Shared != nil {
		shared = c.Shared
		shared.attach(nil)
	}
	c.Flags.attach(shared)
	out := &ff.Command{
		Name: c.Name, Usage: c.Name + " " + c.Args, ShortHelp: c.Short, LongHelp: c.Long,
		Flags: c.Flags.set, Exec: c.Exec,
	}
	for _, s := range c.Sub {
		out.Subcommands = append(out.Subcommands, s.ff(shared))
	}
	return out
}

// Find descends the tree along names. It returns nil when one is unknown.
func (c *Command) Find(names ...string) []*Command {
	path := []*Command{c}
	for _, n := range names {
		if c = c.child(n); c == nil {
			return nil
		}
		path = append(path, c)
	}
	return path
}

func (c *Command) child(name string) *Command {
	for _, s := range c.Sub {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func (c *Command) childNames() []string {
	var names []string
	for _, s := range c.Sub {
		if !s.Hidden {
			names = append(names, s.Name)
		}
	}
	return names
}
