// Package argv is the command line of evalrouter-bench: one level of commands
// whose flags may stand before or behind the operands.
//
// ff parses, but stops at the first operand, lets a switch swallow the word
// behind it and a repeated flag win silently. So flags are put in front and
// what is ambiguous is refused before ff sees the line.
package argv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v4"
)

// Flag is one declared flag.
type Flag struct {
	Long string
	// Value is the placeholder of the value, "" for a switch.
	Value string
	Usage string
	// Repeat allows the flag more than once.
	Repeat bool
	// Set takes the value, "true" for a switch.
	Set func(string) error
}

// Switch is a flag without a value.
func Switch(p *bool, long, usage string) Flag {
	return Flag{Long: long, Usage: usage, Set: func(string) error { *p = true; return nil }}
}

// Text is a flag with a text, never empty.
func Text(p *string, long, value, usage string) Flag {
	return Flag{Long: long, Value: value, Usage: usage, Set: func(s string) error { *p = s; return nil }}
}

// Command is one command.
type Command struct {
	Name string
	// Args shows the operands on the usage line.
	Args string
	// Short is one sentence without a full stop.
	Short string
	// Long is more text, at most a few lines of 80 columns.
	Long     string
	Examples []string
	Flags    []Flag
	// Operands is how many operands the command takes at least and at most.
	Operands [2]int
	Run      func(ctx context.Context, operands []string) error
}

// UsageError is a command line that cannot be understood. Nothing was done.
type UsageError struct {
	Message string
	// Next is a command line that helps.
	Next string
}

func (e *UsageError) Error() string { return e.Message }

// Parse reads the words behind a command's name and answers its operands. It
// never repeats a refused value: it may be a mistyped secret.
func Parse(c *Command, shared []Flag, args []string) (operands []string, err error) {
	next := "evalrouter-bench " + c.Name + " --help"
	all := append(append([]Flag{}, c.Flags...), shared...)
	flags, operands, err := split(c.Name, all, args)
	if err == nil {
		err = parse(c.Name, all, flags)
	}
	if err != nil {
		return nil, &UsageError{Message: err.Error(), Next: next}
	}
	if n := len(operands); n < c.Operands[0] {
		return nil, &UsageError{Message: fmt.Sprintf("%s needs %s", c.Name, c.Args), Next: next}
	} else if n > c.Operands[1] {
		return nil, &UsageError{Message: fmt.Sprintf("%s takes no more than %s", c.Name, c.Args), Next: next}
	}
	return operands, nil
}

// split takes a line apart. A flag comes out as --name=value.
func split(name string, all []Flag, args []string) (flags, operands []string, err error) {
	seen := map[string]bool{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return flags, append(operands, args[i+1:]...), nil
		}
		if a == "-" || !strings.HasPrefix(a, "-") {
			operands = append(operands, a)
			continue
		}
		word, value, has := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		f := find(all, word)
		switch {
		case f == nil:
			return nil, nil, fmt.Errorf("%s has no such flag", name)
		case seen[f.Long] && !f.Repeat:
			return nil, nil, fmt.Errorf("--%s stands twice; it counts once", f.Long)
		case f.Value == "" && has:
			return nil, nil, fmt.Errorf("--%s is a switch and takes no value", f.Long)
		case f.Value == "":
			value = "true"
		case !has && (i+1 == len(args) || strings.HasPrefix(args[i+1], "--")):
			return nil, nil, fmt.Errorf("--%s needs a value: %s", f.Long, f.Value)
		case !has:
			i++
			value = args[i]
		}
		if value == "" {
			return nil, nil, fmt.Errorf("--%s needs a value: %s", f.Long, f.Value)
		}
		seen[f.Long] = true
		flags = append(flags, "--"+f.Long+"="+value)
	}
	return flags, operands, nil
}

func find(all []Flag, word string) *Flag {
	for i := range all {
		if all[i].Long == word {
			return &all[i]
		}
	}
	return nil
}

func parse(name string, all []Flag, flags []string) error {
	set := ff.NewFlagSet(name)
	var refused error
	for i := range all {
		set.Value(0, all[i].Long, &value{flag: &all[i], refused: &refused}, all[i].Usage)
	}
	if err := set.Parse(flags); err != nil {
		if refused != nil {
			return refused
		}
		return fmt.Errorf("the flags of %s cannot be read", name)
	}
	return nil
}

// value is what ff sees of a flag. It keeps the refusal, because ff would
// repeat the refused text.
type value struct {
	flag    *Flag
	refused *error
}

func (v *value) Set(s string) error {
	if err := v.flag.Set(s); err != nil {
		*v.refused = fmt.Errorf("--%s: %w", v.flag.Long, err)
		return errors.New("refused")
	}
	return nil
}

func (v *value) String() string { return "" }

// Help is the page of a command.
func Help(program string, c *Command, shared []Flag) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n  %s\n", c.Short, strings.TrimSpace(program+" "+c.Name+" "+c.Args))
	if c.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Long)
	}
	b.WriteString("\nFlags\n")
	for _, f := range append(append([]Flag{}, c.Flags...), shared...) {
		Row(&b, strings.TrimSpace("--"+f.Long+" "+f.Value), f.Usage)
	}
	b.WriteString("\nExamples\n")
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

// Row writes a name and what it means into a help page.
func Row(b *strings.Builder, name, meaning string) {
	const column = 26
	head := "  " + name
	if len(head) > column-2 {
		fmt.Fprintf(b, "%s\n", head)
		head = ""
	}
	fmt.Fprintf(b, "%-*s%s\n", column, head, meaning)
}
