// Package shell is the line-based shell: the journeys of the workspace in plain
// lines, for terminals without it and for people who hear or feel their screen.
//
// It has no way of its own to spend, name or recover anything. Everything it
// does is a command of this program, whose line it prints, so that using it
// teaches the commands. What is typed may be a choice, or any command.
package shell

import (
	"context"
	"errors"
	"strings"

	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Shell is one session.
type Shell struct {
	*command.App
	// Run runs one command line, without the program's name.
	Run func(ctx context.Context, args []string) int
	// Interrupts makes a context that ends with the next Ctrl-C, and only that.
	Interrupts func() (context.Context, context.CancelFunc)
}

// choice is one line of a menu.
type choice struct {
	key, text string
	do        func(*Shell) error
}

// errLeave ends the session.
var errLeave = errors.New("leave")

// home is the first menu.
func home() []choice {
	return []choice{
		{"1", "Run a benchmark", func(s *Shell) error { return s.page("run") }},
		{"2", "Run history", (*Shell).history},
		{"3", "Results", (*Shell).results},
		{"4", "Browse benchmarks", (*Shell).benchmarks},
		{"5", "Browse models", (*Shell).models},
		{"6", "Your model endpoints", func(s *Shell) error { return s.page("connections", "list") }},
		{"7", "Billing", func(s *Shell) error { return s.page("credits") }},
		{"8", "Account and settings", func(s *Shell) error { return s.page("options") }},
		{"9", "Help", func(s *Shell) error { return s.page("help") }},
		{"0", "Exit", func(*Shell) error { return errLeave }},
	}
}

// Start shows the menu until the person leaves.
func (s *Shell) Start() error {
	s.Note("EvalRouter %s - run benchmarks under a reviewed quote and a hard cap", s.Version)
	for {
		err := s.menu()
		switch {
		case errors.Is(err, errLeave), errors.Is(err, term.ErrDeclined):
			s.Note("Runs that were started go on. Come back: evalrouter status")
			return nil
		case err != nil:
			return err
		}
	}
}

func (s *Shell) menu() error {
	s.Note("")
	for _, c := range home() {
		s.Note("  %s  %s", c.key, c.text)
	}
	typed, err := s.ask("Number, or a command such as catalog: ")
	if err != nil {
		return err
	}
	for _, c := range home() {
		if typed == c.key || strings.EqualFold(typed, c.text) {
			return c.do(s)
		}
	}
	switch strings.ToLower(typed) {
	case "":
		return nil
	case "exit", "quit", "q", "bye":
		return errLeave
	}
	words, err := split(typed)
	if err != nil {
		s.Note("That is no command: %s.", err)
		return nil
	}
	if words[0] == "evalrouter" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	return s.page(words...)
}

// page runs a command and keeps what it printed in view until a key.
func (s *Shell) page(args ...string) error {
	s.command(args...)
	return s.back()
}

// command prints the line of a command and runs it.
func (s *Shell) command(args ...string) int {
	line := "evalrouter"
	for _, w := range args {
		line += " " + command.ShellWord(w)
	}
	s.Note("")
	s.Note("$ %s", line)
	ctx, stop := s.Interrupts()
	defer stop()
	return s.Run(ctx, args)
}

// left says that a command's question was left by Ctrl-C, which leaves the shell
// too: the terminal has only one reader.
func (s *Shell) left() error {
	if s.Term.Abandoned {
		return errLeave
	}
	return nil
}

func (s *Shell) back() error {
	if err := s.left(); err != nil {
		return err
	}
	ctx, stop := s.Interrupts()
	defer stop()
	return s.Term.Pause(ctx, "Enter, Escape or Left goes back. ")
}

func (s *Shell) ask(prompt string) (string, error) {
	if err := s.left(); err != nil {
		return "", err
	}
	ctx, stop := s.Interrupts()
	defer stop()
	typed, err := s.Term.Ask(ctx, prompt)
	return strings.TrimSpace(typed), err
}

// history is the list of runs, then one of them.
func (s *Shell) history() error {
	for {
		s.command("status")
		id, err := s.ask("Run to open (the beginning of its id), r to read again, Enter to go back: ")
		switch {
		case err != nil || id == "":
			return ignoreDeclined(err)
		case id == "r":
			continue
		}
		if err := s.run(id); err != nil {
			return err
		}
	}
}

// run is one run with what can be done about it.
func (s *Shell) run(id string) error {
	if s.command("status", id) != 0 {
		return s.back()
	}
	for {
		typed, err := s.ask("w watch, r results, e export, o open in the browser, c cancel, Enter to go back: ")
		if err != nil || typed == "" {
			return ignoreDeclined(err)
		}
		switch typed {
		case "w":
			s.command("wait", id)
		case "r":
			s.command("results", id, "--diff")
		case "e":
			s.command("export", id, "--format", "json,csv")
		case "o":
			s.command("open", id)
		case "c":
			if sure, err := s.ask("Stop the run? Type cancel to say yes: "); err == nil && sure == "cancel" {
				s.command("cancel", id)
			}
		default:
			s.Note("That is none of them: %s.", flow.Typed(typed))
		}
	}
}

func (s *Shell) results() error {
	s.command("status")
	id, err := s.ask("Run (the beginning of its id), Enter to go back: ")
	if err != nil || id == "" {
		return ignoreDeclined(err)
	}
	return s.page("results", id, "--diff", "--all-metrics")
}

func (s *Shell) benchmarks() error {
	return s.browse("Benchmark to read about, Enter to go back: ", []string{"catalog"}, func(name string) []string {
		slug, _, _ := strings.Cut(name, "@")
		return []string{"catalog", "--slug", slug}
	})
}

func (s *Shell) models() error {
	return s.browse("Model to read about, Enter to go back: ", []string{"catalog", "--models"}, func(name string) []string {
		return []string{"catalog", "--models", "--wide", "--filter", "model=" + name}
	})
}

// browse is a list, then pages of its rows, then the list again. It only reads.
func (s *Shell) browse(prompt string, list []string, one func(name string) []string) error {
	for {
		s.command(list...)
		name, err := s.ask(prompt)
		if err != nil || name == "" {
			return ignoreDeclined(err)
		}
		if err := s.page(one(name)...); err != nil {
			return err
		}
	}
}

// ignoreDeclined makes leaving a question a way back instead of a way out.
func ignoreDeclined(err error) error {
	if errors.Is(err, term.ErrDeclined) {
		return nil
	}
	return err
}
