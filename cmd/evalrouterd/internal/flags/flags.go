// Package flags reads the arguments of a command: flags before and after
// operands. No value is repeated in an error, for it may be a secret in the wrong
// place.
package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v4"
)

// Set is ff's with a memory of which flags are switches.
type Set struct {
	*ff.FlagSet
	switches []string
}

// New is the flags of a command.
func New(command string) *Set { return &Set{FlagSet: ff.NewFlagSet(command)} }

// Toggle declares a flag without a value.
func (s *Set) Toggle(name, usage string) *bool {
	s.switches = append(s.switches, name)
	return s.BoolLong(name, usage)
}

// Read sets the flags and gives the operands. ff.ErrHelp asks for the help; other
// errors are parts of a sentence.
func (s *Set) Read(args []string) ([]string, error) {
	given, operands, err := s.split(args)
	if err != nil {
		return nil, err
	}
	err = s.Parse(given)
	switch {
	case err == nil, errors.Is(err, ff.ErrHelp):
		return operands, err
	case errors.Is(err, ff.ErrUnknownFlag):
		return nil, errors.New("a flag is not known")
	}
	return nil, errors.New("a flag has no valid value")
}

// split separates flags from operands, for ff stops reading flags at the
// first operand.
func (s *Set) split(args []string) (given, operands []string, err error) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, isFlag := strings.CutPrefix(a, "--")
		switch {
		case a == "--":
			return given, append(operands, args[i+1:]...), nil
		case !isFlag && strings.HasPrefix(a, "-") && a != "-":
			if a == "-h" {
				return []string{"--help"}, nil, nil
			}
			return nil, nil, errors.New("flags are written with two dashes")
		case !isFlag:
			operands = append(operands, a)
		case name != "help" && !s.has(name):
			return nil, nil, fmt.Errorf("%s is not a flag of %s", named(name), s.GetName())
		case strings.Contains(name, "=") || slices.Contains(s.switches, name) || name == "help":
			given = append(given, a)
		case i+1 == len(args):
			return nil, nil, fmt.Errorf("--%s has no value", name)
		default:
			i++
			given = append(given, a+"="+args[i])
		}
	}
	return given, operands, nil
}

func (s *Set) has(name string) bool {
	name, _, _ = strings.Cut(name, "=")
	_, ok := s.GetFlag(name)
	return ok
}

// named shows a mistyped flag; what cannot be a flag's name may be a secret in
// the wrong place.
func named(flag string) string {
	flag, _, _ = strings.Cut(flag, "=")
	if flag == "" || len(flag) > 32 || strings.Trim(flag, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return "that"
	}
	return "--" + flag
}
