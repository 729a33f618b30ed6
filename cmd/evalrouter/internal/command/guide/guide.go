// Package guide is the commands that explain the others: help, completion and
// the schemas of documents. What they print is made by package manual.
package guide

import (
	"context"
	"io"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Exit is the exit code of an explained error.
func Exit(p manual.Problem) int { return command.ExitOfCode(p.Code, p.Status) }

// Help is "evalrouter help". It explains the commands of root.
func Help(a *command.App, root *argv.Command) *argv.Command {
	return &argv.Command{
		Name: "help", Args: "[COMMAND... | exit | env | json | errors [CODE]]", Short: "Explain a command or a topic",
		Long:     "With --json: every command, flag, variable and code as one document.",
		Examples: []string{"evalrouter help run", "evalrouter help exit", "evalrouter help errors watch_lost", "evalrouter help --json"},
		Exec: func(_ context.Context, args []string) error {
			text, v, err := explain(a, root, args)
			if err != nil {
				return err
			}
			if a.WantsJSON() {
				return a.Value(v, func(*term.Page) {})
			}
			_, err = io.WriteString(a.Term.Out, text)
			return err
		},
	}
}

// explain is a page as text, and what it says as a value.
func explain(a *command.App, root *argv.Command, args []string) (text string, v any, err error) {
	all := manual.Describe(root, a.Version, Exit)
	if len(args) == 2 && args[0] == "errors" {
		p, ok := manual.Find(args[1])
		if !ok {
			return "", nil, unknownCode(args[1])
		}
		return manual.ErrorTopic(p, Exit(p)), manual.Coded{Problem: p, Exit: Exit(p)}, nil
	}
	if len(args) == 1 {
		switch args[0] {
		case "exit":
			return manual.ExitTopic(), map[string]any{"exit_codes": all.Exits}, nil
		case "env":
			return manual.EnvTopic(), map[string]any{"environment": all.Variables}, nil
		case "json":
			return manual.JSONTopic(), map[string]any{"text": manual.JSONTopic()}, nil
		case "errors":
			return manual.ErrorsTopic(Exit), map[string]any{"errors": all.Errors}, nil
		}
	}
	path := root.Find(args...)
	if path == nil {
		return "", nil, unknownTopic(root, args)
	}
	if len(path) > 1 {
		all = manual.Describe(path[len(path)-1], a.Version, Exit).Only(path)
	}
	return argv.Help(path, false), all, nil
}

func unknownCode(typed string) error {
	var known []string
	for _, p := range manual.Problems() {
		known = append(known, string(p.Code))
	}
	return &argv.UsageError{Message: "there is no error code " + flow.Typed(typed), Closest: flow.Suggest(typed, known), Next: "evalrouter help errors"}
}

func unknownTopic(root *argv.Command, args []string) error {
	known := manual.Topics()
	for _, c := range root.Sub {
		if !c.Hidden {
			known = append(known, c.Name)
		}
	}
	last := args[len(args)-1]
	return &argv.UsageError{
		Code: api.CommandUnknown, Message: "there is no help on " + flow.Typed(last),
		Closest: flow.Suggest(last, known), Next: "evalrouter --help",
	}
}
