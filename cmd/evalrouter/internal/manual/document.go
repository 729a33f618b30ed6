package manual

import (
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// Document is the whole command line as one JSON document, for programs that
// drive it.
type Document struct {
	Schema    string     `json:"schema"`
	Program   string     `json:"program"`
	Version   string     `json:"version"`
	Flags     []Flag     `json:"flags"`
	Commands  []Command  `json:"commands"`
	Exits     []Exit     `json:"exit_codes"`
	Variables []Variable `json:"environment"`
	Errors    []Coded    `json:"errors"`
}

// Coded is an error code with its exit code.
type Coded struct {
	Problem
	Exit int `json:"exit_code"`
}

// Command is one command that can be run.
type Command struct {
	Name     string   `json:"name"` // its words, without the program's
	Usage    string   `json:"usage"`
	Summary  string   `json:"summary"`
	Details  string   `json:"details,omitempty"`
	Examples []string `json:"examples"`
	Flags    []Flag   `json:"flags"`
}

// Flag is one flag.
type Flag struct {
	Name   string `json:"name"`
	Short  string `json:"short,omitempty"`
	Value  string `json:"value,omitempty"`
	Usage  string `json:"usage"`
	Repeat bool   `json:"repeatable,omitempty"`
	Rare   bool   `json:"rare,omitempty"`
	Env    string `json:"env,omitempty"`
}

// DocumentSchema names the form of a Document.
const DocumentSchema = "evalrouter.commands.v1"

// Describe makes the document of a tree.
func Describe(root *argv.Command, version string, exit func(Problem) int) Document {
	d := Document{
		Schema: DocumentSchema, Program: root.Name, Version: version, Flags: append(flags(root.Shared), flags(root.Flags)...),
		Exits: Exits(), Variables: Variables(),
	}
	for _, p := range Problems() {
		d.Errors = append(d.Errors, Coded{p, exit(p)})
	}
	each(root, func(path []*argv.Command) {
		c := path[len(path)-1]
		if c.Exec == nil || len(path) == 1 {
			return
		}
		d.Commands = append(d.Commands, describe(root.Name, words(path[1:]), c))
	})
	return d
}

func describe(program, name string, c *argv.Command) Command {
	return Command{
		Name: name, Usage: strings.TrimSpace(program + " " + name + " " + c.Args), Summary: c.Short + ".", Details: c.Long,
		Examples: append([]string{}, c.Examples...), Flags: flags(c.Flags),
	}
}

func flags(fs *argv.Flags) []Flag {
	out := []Flag{}
	if fs == nil {
		return out
	}
	for _, f := range fs.List() {
		g := Flag{Name: "--" + f.Long, Value: f.Value, Usage: f.Usage, Repeat: f.Repeat, Rare: f.More}
		if f.Short != 0 {
			g.Short = "-" + string(f.Short)
		}
		for _, v := range Variables() {
			if v.Flag == g.Name && strings.HasPrefix(v.Name, "EVALROUTER_") {
				g.Env = v.Name
			}
		}
		out = append(out, g)
	}
	return out
}

// each visits every command that people see, parents first.
func each(root *argv.Command, visit func(path []*argv.Command)) {
	var walk func([]*argv.Command)
	walk = func(path []*argv.Command) {
		visit(path)
		for _, c := range path[len(path)-1].Sub {
			if !c.Hidden {
				walk(append(append([]*argv.Command{}, path...), c))
			}
		}
	}
	walk([]*argv.Command{root})
}

func words(path []*argv.Command) string {
	var out []string
	for _, c := range path {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

// Only is the document about one command of a larger tree: path leads to it.
func (d Document) Only(path []*argv.Command) Document {
	root, parents := path[0], words(path[1:len(path)-1])
	d.Program, d.Flags, d.Commands = root.Name, append(flags(root.Shared), flags(root.Flags)...), nil
	each(path[len(path)-1], func(below []*argv.Command) {
		c := below[len(below)-1]
		if c.Exec == nil {
			return
		}
		d.Commands = append(d.Commands, describe(root.Name, strings.TrimSpace(parents+" "+words(below)), c))
	})
	return d
}
