// Package feedback is "evalrouter feedback": a few words to the people who run
// the service and make this program. Nothing is sent but what stands on the
// command line, with what looks like a secret taken out of it; no task, prompt,
// answer, log or file ever goes along.
package feedback

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/redact"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type sending struct {
	*command.App
	in    api.NewFeedback
	agent api.FeedbackAgent
}

// Command is "evalrouter feedback" and what became of it.
func Command(a *command.App) *argv.Command {
	s := &sending{App: a}
	fs := argv.NewFlags("feedback")
	fs.Choice(&s.in.Kind, "kind", "what it is about", api.FeedbackKinds()...).Value = "KIND"
	fs.Choice(&s.in.Severity, "severity", "blocker, degraded or nice_to_have", api.FeedbackSeverities()...).Value = "SEVERITY"
	fs.String(&s.in.Summary, "summary", "TEXT", "one sentence, at most 200 characters")
	fs.String(&s.in.Details, "details", "TEXT|-", "more, at most 5,000; - reads stdin")
	fs.String(&s.in.ErrorCode, "error-code", "CODE", "the code of the error")
	fs.String(&s.in.RequestID, "request-id", "ID", "the request that the error names")
	fs.Int(&s.in.HTTPStatus, "http-status", "STATUS", "the status of the answer", 100, 599).Rare()
	fs.String(&s.in.Method, "method", "METHOD", "the method of the request").Rare()
	fs.String(&s.in.Path, "path", "PATH", "the path of the request").Rare()
	fs.String(&s.agent.Name, "agent-name", "NAME", "the agent that sends this").Rare()
	fs.String(&s.agent.Version, "agent-version", "VERSION", "its version").Rare()
	fs.String(&s.agent.Model, "agent-model", "MODEL", "its model").Rare()
	fs.Bool(&s.in.ContactOK, "contact-ok", "you may be asked about it")
	return &argv.Command{
		Name: "feedback", Args: "--kind KIND --severity SEVERITY --summary TEXT [flags]", Short: "Say what is wrong with the product",
		Long: "The service stores what you write here and nothing else: no task, answer or log.\nKinds: bug, docs, confusing_behavior.",
		Examples: []string{
			"evalrouter feedback --kind docs --severity nice_to_have --summary unclear",
			"evalrouter feedback --kind bug --severity degraded --summary slow --json",
		},
		Flags: fs, Exec: s.exec, Sub: []*argv.Command{status(a)},
	}
}

func (s *sending) exec(ctx context.Context, args []string) error {
	if err := command.NoOperands(args); err != nil {
		return err
	}
	if err := s.complete(); err != nil {
		return err
	}
	hidden := 0
	r := redact.New(redact.Config{})
	for _, text := range []*string{&s.in.Summary, &s.in.Details, &s.in.Path} {
		clean, n := r.Text(*text)
		*text, hidden = clean, hidden+n.Fields+n.Values
	}
	s.in.Client = api.FeedbackClient{Name: "evalrouter", Version: s.Version}
	if s.agent.Name != "" {
		s.in.Agent = &s.agent
	}
	client, err := s.Client(ctx)
	if err != nil {
		return err
	}
	got, err := client.Feedback.Send(ctx, s.in)
	if err != nil {
		return err
	}
	if hidden > 0 {
		s.Note("What looked like a secret was taken out of it first (%s).", command.Count(hidden, "place"))
	}
	return s.Value(got, func(p *term.Page) {
		p.Line("Stored as %s.", got.FeedbackID)
		if got.DuplicateOf != nil {
			p.Line("The same was said before, as %s.", *got.DuplicateOf)
		}
		p.Next("evalrouter feedback status " + got.FeedbackID)
	})
}

// complete reads what stands elsewhere and refuses what the service would, so
// that nothing is sent in vain.
func (s *sending) complete() error {
	const next = "evalrouter feedback --help"
	if s.in.Details == "-" {
		b, err := io.ReadAll(io.LimitReader(s.Term.In, 4*api.MaxFeedbackDetails+1))
		if err != nil || !utf8.Valid(b) {
			return &argv.UsageError{Message: "the details on stdin cannot be read as text; nothing was sent", Next: next}
		}
		s.in.Details = strings.TrimSpace(string(b))
	}
	long := func(what, text string, most int) string {
		if n := utf8.RuneCountInString(text); n > most {
			return fmt.Sprintf("%s has %s characters, and at most %s are kept", what, command.Thousands(n), command.Thousands(most))
		}
		return ""
	}
	problem := ""
	switch {
	case s.in.Kind == "" || s.in.Severity == "" || strings.TrimSpace(s.in.Summary) == "":
		problem = "give --kind, --severity and --summary"
	case s.agent.Name == "" && (s.agent.Version != "" || s.agent.Model != ""):
		problem = "--agent-version and --agent-model belong to --agent-name"
	default:
		for _, f := range [][2]string{{"--error-code", s.in.ErrorCode}, {"--request-id", s.in.RequestID}, {"--method", s.in.Method}, {"--path", s.in.Path}, {"--agent-name", s.agent.Name}, {"--agent-version", s.agent.Version}, {"--agent-model", s.agent.Model}} {
			if f[1] != "" && !api.FeedbackName(f[1]) {
				problem = f[0] + " has 1 to 120 letters, digits, spaces or characters of ._/:@+()-"
			}
		}
	}
	for _, p := range []string{problem, long("the summary", s.in.Summary, api.MaxFeedbackSummary), long("the details", s.in.Details, api.MaxFeedbackDetails)} {
		if p != "" {
			return &argv.UsageError{Message: p + "; nothing was sent", Next: next}
		}
	}
	return nil
}

func status(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "status", Args: "ID", Short: "Show what became of feedback",
		Examples: []string{"evalrouter feedback status 3f2a9c", "evalrouter feedback status 3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "give the id that sending it printed", Next: "evalrouter feedback status --help"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			got, err := client.Feedback.Get(ctx, args[0])
			if err != nil {
				return err
			}
			return a.Value(got, func(p *term.Page) {
				p.Line("%s   %s   sent %s", got.FeedbackID, got.Status, got.CreatedAt.Local().Format("2 Jan 15:04"))
			})
		},
	}
}
