package traces

import (
	"context"
	"errors"
	"slices"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// judging is what makes an evaluator one that asks a model.
type judging struct{ prompt, file string }

func (j *judging) declare(fs *argv.Flags) {
	fs.String(&j.prompt, "prompt", "TEXT", "a judge: by what a model judges traces")
	fs.String(&j.file, "prompt-file", "FILE", "the same from a file, or stdin for -")
}

// into makes a judge of what is asked for.
func (j *judging) into(a *command.App, in *api.NewTraceEvaluator, settings []string) ([]string, error) {
	switch {
	case j.prompt == "" && j.file == "":
		return settings, nil
	case j.prompt != "" && j.file != "" || in.Rule != "":
		return nil, &argv.UsageError{Message: "an evaluator has a rule, a --prompt or a --prompt-file, and one of them; nothing was made", Next: "evalrouter traces evaluators create --help"}
	case j.file != "":
		raw, err := a.ReadInput(j.file)
		if err != nil {
			return nil, err
		}
		j.prompt = string(raw)
	}
	in.Kind = api.EvaluatorJudge
	return append(slices.Clone(settings), "prompt="+j.prompt), nil
}

// evaluator finds an evaluator by its name or id.
func evaluator(ctx context.Context, client *evalrouter.Client, name string) (api.TraceEvaluator, error) {
	for e, err := range client.Traces.Evaluators.All(ctx, evalrouter.Paging{Limit: 200}) {
		if err != nil || e.Name == name || e.ID == name {
			return e, err
		}
	}
	return api.TraceEvaluator{}, &argv.UsageError{Message: "there is no evaluator " + flow.Typed(name), Next: "evalrouter traces evaluators list"}
}

func judge(a *command.App) *argv.Command {
	limit := 200
	fs := argv.NewFlags("judge")
	fs.Int(&limit, "traces", "N", "ask about the newest N traces (200)", 1, 1_000)
	return &argv.Command{
		Name: "judge", Args: "EVALUATOR [TRACE...]", Short: "Make a judge's questions about traces a benchmark", Flags: fs,
		Long:     "Makes a private benchmark of one question for each trace that is complete and\nnot judged yet. Nothing is spent: run quotes it and asks you, and the model of\nthat run is the judge. verdicts takes its answers over.",
		Examples: []string{"evalrouter traces judge polite", "evalrouter traces judge polite 5f0c1f9d2ab4"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return &argv.UsageError{Message: "name one evaluator", Next: "evalrouter traces evaluators list"}
			}
			if len(args) > 1 && fs.Given("traces") {
				return &argv.UsageError{Message: "--traces is for the newest traces; with traces by name it says nothing"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			e, err := evaluator(ctx, client, args[0])
			if err != nil {
				return err
			}
			in := api.NewTraceQuestions{Limit: limit}
			for _, name := range args[1:] {
				id, err := One(ctx, client, []string{name})
				if err != nil {
					return err
				}
				in.TraceIDs = append(in.TraceIDs, id)
			}
			q, err := client.Traces.Evaluators.Questions(ctx, e.ID, in)
			if err != nil {
				return err
			}
			return a.Value(q, func(p *term.Page) { asked(p, e, q) })
		},
	}
}

func asked(p *term.Page, e api.TraceEvaluator, q api.TraceQuestions) {
	if q.ProfileID == nil {
		p.Line("There is nothing to ask %s: %s judged before, %s not complete yet.", e.Name, command.Count(q.JudgedBefore, "trace"), command.Count(q.Collecting, "trace"))
		p.Next("evalrouter traces list")
		return
	}
	p.Line("Made %s of %s. Nothing was spent.", command.Count(q.Questions, "question"), e.Name)
	p.Line("What stands in these traces is sent to the model that you choose as the judge.")
	if q.JudgedBefore+q.Collecting > 0 {
		p.Line("Left out: %d judged before, %d not complete yet.", q.JudgedBefore, q.Collecting)
	}
	p.Next("evalrouter run "+strings.TrimSuffix(*q.ProfileID, "@1")+" --full --model MODEL --max-cost USD", "evalrouter traces verdicts RUN")
}

func verdicts(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "verdicts", Args: "RUN", Short: "Take over what a judge said in a run",
		Long:     "Every verdict becomes an evaluation of its trace, and what failed a finding. An\nanswer without a verdict becomes nothing. Doing it again changes nothing.",
		Examples: []string{"evalrouter traces verdicts 3f2a9c01", "evalrouter traces verdicts 3f2a9c01 --json"},
		Exec: func(ctx context.Context, args []string) error {
			id, err := a.OneRun(ctx, args)
			if err != nil {
				return err
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			v, err := client.Traces.Evaluators.Take(ctx, id)
			switch {
			case errors.Is(err, api.RunNotFinished):
				return command.WithNext(err, "evalrouter wait "+command.Short(id))
			case err != nil:
				return command.WithNext(err, "evalrouter traces evaluators list")
			}
			return a.Value(v, func(p *term.Page) { taken(p, v) })
		},
	}
}

func taken(p *term.Page, v api.TraceVerdicts) {
	p.Line("%d passed, %d failed; %s new, %s new.", v.Passed, v.Failed, command.Count(v.Kept, "evaluation"), command.Count(v.Findings, "finding"))
	if v.NoVerdict > 0 {
		p.Line("Without a verdict, because the last line was not as it was asked for: %s. Such traces are not judged.", command.Count(v.NoVerdict, "answer"))
	}
	if v.Unanswered > 0 {
		p.Line("Without an answer, and not judged: %s.", command.Count(v.Unanswered, "trace"))
	}
	if v.Gone > 0 {
		p.Line("About traces that are no longer kept: %s.", command.Count(v.Gone, "verdict"))
	}
	p.Next("evalrouter traces findings list --status open")
}
