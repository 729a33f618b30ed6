package run

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/gate"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Status is "evalrouter status": the list of runs, or one run.
func Status(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("status")
	var live bool
	command.Interactive(fs, &live, "keep the list live in the full-screen workspace")
	l.Declare(fs)
	var gates gate.Gates
	gates.Declare(fs)
	return &argv.Command{
		Name: "status", Args: "[RUN]", Short: "List runs, or show one",
		Examples: []string{"evalrouter status", "evalrouter status --filter status=running --json"},
		Flags:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if live && len(args) > 0 {
				return &argv.UsageError{Message: "-i shows the list of runs; Enter opens one"}
			}
			if live {
				return a.OpenWorkspace("runs", "evalrouter status")
			}
			if len(args) > 0 {
				return one(ctx, a, args, &gates)
			}
			if gates.Any() {
				return &argv.UsageError{Message: "a gate such as --min-score is for one run; name it"}
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			page, err := command.Fetch(l, command.Source[api.RunRecord]{
				Page: func(p evalrouter.Paging) (api.Page[api.RunRecord], error) {
					return c.Runs.List(ctx, evalrouter.RunQuery{Paging: p})
				},
				All: func(p evalrouter.Paging) iter.Seq2[api.RunRecord, error] {
					return c.Runs.All(ctx, evalrouter.RunQuery{Paging: p})
				},
			})
			if err != nil {
				return err
			}
			h := command.Hints{Empty: "No runs yet.", Next: "evalrouter catalog"}
			if len(page.Data) > 0 {
				h.Next = "evalrouter results " + command.Short(page.Data[0].ID)
				if !page.Data[0].Status.Terminal() {
					h.Next = "evalrouter wait " + command.Short(page.Data[0].ID)
				}
			}
			return command.PrintList(a, l, columns(page.Data), page, h)
		},
	}
}

// columns shows ids as short as this list allows.
func columns(runs []api.RunRecord) []table.Column[api.RunRecord] {
	type rec = api.RunRecord
	n := command.Unique(runs, func(r rec) string { return r.ID })
	return []table.Column[rec]{
		{Name: "run", Whole: true, Text: func(r rec) string { return r.ID[:min(n, len(r.ID))] }},
		{Name: "status", Whole: true, Drop: 1, Text: func(r rec) string { return string(r.Status) }},
		{Name: "benchmark", Text: func(r rec) string { return profileOf(r) }},
		{Name: "model", Drop: 2, Text: func(r rec) string { return r.Model.Name() }},
		{Name: "score", Whole: true, Text: headlineText},
		{Name: "n", Whole: true, Right: true, Text: func(r rec) string { return graded(r) }},
		{Name: "kind", Whole: true, Text: func(r rec) string { return map[bool]string{true: "simulated", false: "real"}[r.Simulated] }},
		{Name: "done", Right: true, Drop: 4, Text: func(r rec) string {
			return fmt.Sprintf("%s/%s", command.Thousands(flow.Processed(r)), command.Thousands(r.PlannedCount))
		}},
		{Name: "spent", Right: true, Drop: 3, Text: func(r rec) string { return command.Money(r.SpendMicrousd) }},
		{Name: "cap", Right: true, Wide: true, Text: func(r rec) string { return command.Money(r.CapMicrousd) }},
		{Name: "resumes", Wide: true, Whole: true, Text: func(r rec) string {
			if r.ContinuedFromRunID == nil {
				return "-"
			}
			return command.Short(*r.ContinuedFromRunID)
		}},
		{Name: "started", Drop: 5, Text: func(r rec) string { return r.CreatedAt.Local().Format("2 Jan 15:04") }, Sort: byTime},
		{Name: "id", Wide: true, Whole: true, Text: func(r rec) string { return r.ID }},
	}
}

func byTime(a, b api.RunRecord) int { return a.CreatedAt.Compare(b.CreatedAt) }

func profileOf(r api.RunRecord) string {
	if len(r.Profiles) == 0 {
		return "-"
	}
	return r.Profiles[0].ID
}

// headlineText is a score with its interval, as short as a table needs it. n
// and whether it is simulated stand in the next columns, which are never left
// out.
func headlineText(r api.RunRecord) string {
	h := r.Headline
	switch {
	case h == nil || h.Denominator == 0:
		return "-"
	case h.Interval == nil:
		return fmt.Sprintf("%.1f %%", 100*h.Value)
	}
	return fmt.Sprintf("%.1f %% [%.1f, %.1f]", 100*h.Value, 100*h.Interval.Lower, 100*h.Interval.Upper)
}

func graded(r api.RunRecord) string {
	if r.Headline == nil {
		return "-"
	}
	return command.Thousands(r.Headline.Denominator)
}

// looked is a run with the gates that it was held against, as JSON.
type looked struct {
	api.RunRecord
	Gates []gate.Check `json:"gates,omitempty"`
}

func one(ctx context.Context, a *command.App, args []string, gates *gate.Gates) error {
	id, err := a.OneRun(ctx, args)
	if err != nil {
		return err
	}
	c, err := a.Client(ctx)
	if err != nil {
		return err
	}
	if err := gates.Prepare(ctx, a.OneRun, c.Runs); err != nil {
		return err
	}
	r, err := c.Runs.Get(ctx, id)
	if err != nil {
		return err
	}
	doc := looked{RunRecord: r}
	switch {
	case !gates.Any():
		return a.Value(r, func(p *term.Page) { showRun(p, r) })
	case !r.Status.Terminal():
		return command.WithNext(&flow.Error{Code: api.RunNotFinished, Message: "the run goes on; gates are for its end", RunID: r.ID}, "evalrouter wait "+command.Short(r.ID))
	}
	doc.Gates = gates.Judge(r)
	if err := a.Value(doc, func(p *term.Page) { showGates(p, doc.Gates); showRun(p, r) }); err != nil && !term.Closed(err) {
		return err
	}
	return held(a, doc.Gates, r.ID)
}

func showRun(p *term.Page, r api.RunRecord) {
	p.Line("Run      %s   %s", r.ID, r.Name)
	mark := ""
	if r.Simulated {
		mark = "   simulated"
	}
	p.Line("What     %s   %s%s", profileOf(r), r.Model.Name(), mark)
	state := string(r.Status)
	if r.TerminalReason != nil && *r.TerminalReason != "completed" {
		state += "   " + strings.ReplaceAll(*r.TerminalReason, "_", " ")
	}
	if r.WaitingReason != nil {
		state += "   waiting: " + strings.ReplaceAll(*r.WaitingReason, "_", " ")
	}
	p.Line("Status   %s   since %s", state, latest(r).Local().Format(time.DateTime))
	p.Line("Tasks    %s of %s processed, %s errors", command.Thousands(flow.Processed(r)), command.Thousands(r.PlannedCount), command.Thousands(r.ErrorCount))
	out, _ := command.Outcomes(r.Outcomes)
	p.Line("Outcome  %s", out)
	showChain(p, r)
	if h := r.Headline; h != nil {
		p.Line("So far   %s%s   (%s)", command.Rate(h.Value, h.Denominator, h.Interval), mark, h.Name)
	}
	p.Line("Money    %s spent and %s reserved under a cap of %s", command.Money(r.SpendMicrousd), command.Money(r.ReservedMicrousd), command.Money(r.CapMicrousd))
	showMetered(p, r)
	showDetail(p, r)
	if r.Status.Terminal() {
		p.Next(afterEnd(r)...)
		return
	}
	p.Next(watchOrCancel(command.Short(r.ID), r.Status)...)
}

// showChain says which runs a run goes on with, and is gone on with by.
func showChain(p *term.Page, r api.RunRecord) {
	if r.ContinuedFromRunID != nil {
		p.Line("Resumes  run %s; %s of it reused at $0.00", *r.ContinuedFromRunID, command.Count(r.ReusedCount, "task"))
	}
	if r.ContinuedByRunID != nil {
		p.Line("Resumed  by run %s", *r.ContinuedByRunID)
	}
}

func latest(r api.RunRecord) time.Time {
	for _, t := range []*time.Time{r.FinishedAt, r.CancelRequestedAt, r.StartedAt} {
		if t != nil {
			return *t
		}
	}
	return r.CreatedAt
}

// showMetered names what a provider bills by itself, which is part of what was
// spent but not of what we charge.
func showMetered(p *term.Page, r api.RunRecord) {
	if r.ExternalSpendMicrousd != 0 {
		p.Line("         of it %s metered and billed by the provider, not by EvalRouter", command.Money(r.ExternalSpendMicrousd))
	}
}

// showDetail is the sentence about why a run ended as it did.
func showDetail(p *term.Page, r api.RunRecord) {
	if r.TerminalDetail != nil && *r.TerminalDetail != "" {
		p.Line("Why      %s", *r.TerminalDetail)
	}
}

// watchOrCancel is what can be done with a run that is going. One that is being
// stopped is stopped only once.
func watchOrCancel(id string, status api.RunStatus) []string {
	next := []string{"evalrouter wait " + id}
	if status != api.StatusCancelling && status != api.StatusFinalizing {
		next = append(next, "evalrouter cancel "+id)
	}
	return next
}
