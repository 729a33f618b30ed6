package traces

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

func evaluators(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "evaluators", Args: "list|create|run", Short: "Rules and judges that look at traces",
		Examples: []string{"evalrouter traces evaluators create --name failed --rule error", "evalrouter traces evaluators run failed"},
		Sub:      []*argv.Command{evaluatorsList(a), evaluatorsCreate(a), evaluatorsRun(a)},
	}
}

func evaluatorsList(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("list")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List evaluators", Flags: fs, Examples: []string{"evalrouter traces evaluators list", "evalrouter traces evaluators list --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			all := client.Traces.Evaluators
			page, err := command.Fetch(l, command.Source[api.TraceEvaluator]{
				Page: func(p evalrouter.Paging) (api.Page[api.TraceEvaluator], error) { return all.List(ctx, p) },
				All:  func(p evalrouter.Paging) iter.Seq2[api.TraceEvaluator, error] { return all.All(ctx, p) },
			})
			if err != nil {
				return err
			}
			type rec = api.TraceEvaluator
			columns := []table.Column[rec]{
				{Name: "name", Whole: true, Text: func(e rec) string { return e.Name }},
				{Name: "rule", Text: func(e rec) string { return cmp.Or(e.Rule, e.Kind) }},
				{Name: "settings", Text: func(e rec) string { return string(e.Config) }},
				{Name: "severity", Text: func(e rec) string { return e.Severity }},
				{Name: "status", Text: func(e rec) string { return e.Status }},
				{Name: "id", Wide: true, Whole: true, Text: func(e rec) string { return e.ID }},
			}
			return command.PrintList(a, l, columns, page, command.Hints{Empty: "No evaluators yet.", Next: "evalrouter traces evaluators create --name NAME --rule error"})
		},
	}
}

func evaluatorsCreate(a *command.App) *argv.Command {
	in, settings, j := api.NewTraceEvaluator{Kind: api.EvaluatorRule}, []string{}, &judging{}
	fs := argv.NewFlags("create")
	fs.String(&in.Name, "name", "NAME", "what you call it (required)")
	fs.String(&in.Rule, "rule", "RULE", "what it looks for; see above")
	j.declare(fs)
	fs.Strings(&settings, "set", "NAME=VALUE", "a setting; repeatable")
	fs.Choice(&in.Severity, "severity", "of what it finds (warning)", "info", "warning", "error")
	return &argv.Command{
		Name: "create", Args: "--name NAME [flags]", Short: "Make a rule or a judge", Flags: fs,
		Long:     "Rules: error, tool_error, tool_loop (times), empty_output, truncated, slow (ms),\ntokens (tokens), cost (microusd), phrase (phrase). Settings of a judge:\nmax_output_tokens (512), max_trace_bytes (16384).",
		Examples: []string{"evalrouter traces evaluators create --name failed --rule error", "evalrouter traces evaluators create --name slow --rule slow --set ms=30000", "evalrouter traces evaluators create --name polite --prompt-file polite.txt"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			given, err := j.into(a, &in, settings)
			if err != nil {
				return err
			}
			if in.Name == "" || in.Rule == "" && in.Kind == api.EvaluatorRule {
				return &argv.UsageError{Message: "--name is required, and --rule or --prompt", Next: "evalrouter traces evaluators create --help"}
			}
			config, err := config(given)
			if err != nil {
				return err
			}
			in.Config = config
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			e, err := client.Traces.Evaluators.Create(ctx, in)
			if err != nil {
				return err
			}
			return a.Value(e, func(p *term.Page) {
				p.Line("Made evaluator %s.", e.Name)
				next := "evaluators run"
				if e.Kind == api.EvaluatorJudge {
					next = "judge"
				}
				p.Next("evalrouter traces " + next + " " + command.ShellWord(e.Name))
			})
		},
	}
}

// config reads settings: a value is a number where it is one.
func config(settings []string) (json.RawMessage, error) {
	out := map[string]any{}
	for _, s := range settings {
		name, v, ok := strings.Cut(s, "=")
		if !ok || name == "" || v == "" {
			return nil, &argv.UsageError{Message: "--set is a name and a value, such as times=3"}
		}
		out[name] = v
		if n := json.Number(v); name != "phrase" && name != "prompt" {
			if _, err := n.Int64(); err == nil {
				out[name] = n
			}
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, &flow.Error{Code: api.InvalidInput, Message: "the settings cannot be written as JSON", Err: err}
	}
	return b, nil
}

func evaluatorsRun(a *command.App) *argv.Command {
	dry, limit := false, 200
	fs := argv.NewFlags("run")
	fs.Bool(&dry, "dry-run", "say what it would find, and keep nothing")
	fs.Int(&limit, "traces", "N", "look at the newest N traces (200)", 1, 1_000)
	return &argv.Command{
		Name: "run", Args: "EVALUATOR", Short: "Look at the newest traces that are complete", Flags: fs,
		Long:     "Looking again finds nothing twice.",
		Examples: []string{"evalrouter traces evaluators run failed", "evalrouter traces evaluators run failed --dry-run"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one evaluator", Next: "evalrouter traces evaluators list"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			e, err := evaluator(ctx, client, args[0])
			if err != nil {
				return err
			}
			look := client.Traces.Evaluators.Run
			if dry {
				look = client.Traces.Evaluators.Preview
			}
			r, err := look(ctx, e.ID, limit)
			if err != nil && e.Kind == api.EvaluatorJudge {
				return command.WithNext(err, "evalrouter traces judge "+command.ShellWord(e.Name))
			}
			if err != nil {
				return err
			}
			return a.Value(r, func(p *term.Page) {
				p.Line("Looked at %s: it shows in %d, and %s new.", command.Count(r.Evaluated, "trace"), r.Matched, command.Count(r.Findings, "finding"))
				for _, h := range r.Hits[:min(len(r.Hits), 20)] {
					p.Line("  %s  %s  %s", Tail(h.TraceID), h.Title, h.Detail)
				}
				p.Next("evalrouter traces findings list --status open")
			})
		},
	}
}

func findings(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "findings", Args: "list|set|promote", Short: "What evaluators found",
		Examples: []string{"evalrouter traces findings list --status open", "evalrouter traces findings promote 3f2a9c01 --dataset orders"},
		Sub:      []*argv.Command{findingsList(a), findingsSet(a), findingsPromote(a)},
	}
}

func findingsList(a *command.App) *argv.Command {
	l, f := &command.ListFlags{}, evalrouter.FindingFilter{}
	fs := argv.NewFlags("list")
	fs.Choice(&f.Status, "status", "only those that are", api.FindingOpen, api.FindingConfirmed, api.FindingDismissed, api.FindingFixed)
	fs.Choice(&f.Severity, "severity", "only those as severe", "info", "warning", "error")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List findings, those first that were seen last", Flags: fs,
		Examples: []string{"evalrouter traces findings list --status open", "evalrouter traces findings list --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			all := client.Traces.Findings
			page, err := command.Fetch(l, command.Source[api.TraceFinding]{
				Page: func(p evalrouter.Paging) (api.Page[api.TraceFinding], error) { return all.List(ctx, f, p) },
				All:  func(p evalrouter.Paging) iter.Seq2[api.TraceFinding, error] { return all.All(ctx, f, p) },
			})
			if err != nil {
				return err
			}
			type rec = api.TraceFinding
			columns := []table.Column[rec]{
				{Name: "finding", Whole: true, Text: func(f rec) string { return command.Short(f.ID) }},
				{Name: "severity", Text: func(f rec) string { return f.Severity }},
				{Name: "status", Text: func(f rec) string { return f.Status }},
				{Name: "traces", Right: true, Text: func(f rec) string { return command.Thousands(f.Occurrences) }},
				{Name: "title", Text: func(f rec) string { return f.Title }},
				{Name: "last", Drop: 1, Whole: true, Text: func(f rec) string { return Tail(f.TraceID) }},
				{Name: "id", Wide: true, Whole: true, Text: func(f rec) string { return f.ID }},
			}
			return command.PrintList(a, l, columns, page, command.Hints{Empty: "No findings.", Next: "evalrouter traces evaluators list"})
		},
	}
}

// oneFinding finds a finding by its id, or by a beginning that only one has.
func oneFinding(ctx context.Context, a *command.App, args []string) (*evalrouter.Client, api.TraceFinding, error) {
	if len(args) != 1 {
		return nil, api.TraceFinding{}, &argv.UsageError{Message: "name one finding", Next: "evalrouter traces findings list"}
	}
	client, err := a.Client(ctx)
	if err != nil {
		return nil, api.TraceFinding{}, err
	}
	var found []api.TraceFinding
	for f, err := range client.Traces.Findings.All(ctx, evalrouter.FindingFilter{}, evalrouter.Paging{Limit: 200}) {
		if err != nil {
			return nil, f, err
		}
		if f.ID == args[0] || len(args[0]) >= 4 && strings.HasPrefix(f.ID, args[0]) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return nil, api.TraceFinding{}, &argv.UsageError{Message: "there is no finding, or more than one, that is called " + flow.Typed(args[0]) + "; nothing was changed", Next: "evalrouter traces findings list"}
	}
	return client, found[0], nil
}

func findingsSet(a *command.App) *argv.Command {
	status, note := "", ""
	fs := argv.NewFlags("set")
	fs.Choice(&status, "status", "what it is", api.FindingOpen, api.FindingConfirmed, api.FindingDismissed, api.FindingFixed)
	fs.String(&note, "note", "TEXT", "why")
	return &argv.Command{
		Name: "set", Args: "FINDING [flags]", Short: "Say what you think of a finding", Flags: fs,
		Examples: []string{"evalrouter traces findings set 3f2a9c01 --status confirmed", "evalrouter traces findings set 3f2a9c01 --status fixed --note 'since 1.4'"},
		Exec: func(ctx context.Context, args []string) error {
			in := api.UpdateTraceFinding{}
			if status != "" {
				in.Status = &status
			}
			if note != "" {
				in.Note = &note
			}
			if in == (api.UpdateTraceFinding{}) {
				return &argv.UsageError{Message: "give --status or --note", Next: "evalrouter traces findings set --help"}
			}
			client, f, err := oneFinding(ctx, a, args)
			if err != nil {
				return err
			}
			if f, err = client.Traces.Findings.Update(ctx, f.ID, in); err != nil {
				return err
			}
			return a.Value(f, func(p *term.Page) { p.Line("%s: %s.", f.Title, f.Status) })
		},
	}
}

func findingsPromote(a *command.App) *argv.Command {
	dataset, expected, whole := "", "", false
	fs := argv.NewFlags("promote")
	fs.String(&dataset, "dataset", "DATASET", "where the item goes (required)")
	fs.String(&expected, "expected", "TEXT", "the expected answer")
	fs.Bool(&whole, "whole-run", "of the whole run, not of the step")
	return &argv.Command{
		Name: "promote", Args: "FINDING --dataset DATASET", Short: "Make a dataset item of a finding", Flags: fs,
		Examples: []string{"evalrouter traces findings promote 3f2a9c01 --dataset orders", "evalrouter traces findings promote 3f2a9c01 --dataset orders --expected 42"},
		Exec: func(ctx context.Context, args []string) error {
			client, f, err := oneFinding(ctx, a, args)
			if err != nil {
				return err
			}
			in := api.NewPromotion{WholeRun: whole}
			for d, err := range client.Datasets.All(ctx, evalrouter.Paging{Limit: 200}) {
				if err != nil {
					return err
				}
				if d.Name == dataset || d.ID == dataset {
					in.DatasetID = d.ID
				}
			}
			if in.DatasetID == "" {
				return &argv.UsageError{Message: "--dataset names no dataset; nothing was changed", Next: "evalrouter datasets list"}
			}
			if expected != "" {
				if in.Expected, err = json.Marshal(expected); err != nil {
					return err
				}
			}
			x, err := client.Traces.Findings.Promote(ctx, f.ID, in)
			if err != nil {
				return err
			}
			return a.Value(x, func(p *term.Page) {
				p.Line("Item %s of %s is %s.", Tail(x.ID), dataset, x.Review)
				p.Next("evalrouter datasets review " + dataset + " " + Tail(x.ID) + " --approve")
			})
		},
	}
}
