package group

import (
	"context"
	"fmt"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// reader reads a group as a watcher reads a run: its counts and its money are
// those of all members.
type reader struct {
	app    *command.App
	groups *evalrouter.Groups
	last   api.GroupRecord
}

var _ flow.RunReader = (*reader)(nil)

// Get reads the group. When the service on this machine is gone, nobody else
// will start it, so this does: its runs go on where they stopped.
func (r *reader) Get(ctx context.Context, id string) (api.RunRecord, error) {
	g, err := r.groups.Get(ctx, id)
	if err != nil && r.app.Local() && flow.Refused(err) {
		c, again := r.app.Reconnect(ctx)
		if again != nil {
			return api.RunRecord{}, err
		}
		r.groups = c.Groups
		g, err = r.groups.Get(ctx, id)
	}
	if err != nil {
		return api.RunRecord{}, err
	}
	r.last = g
	return summed(g), nil
}

// summed is a group in the shape of a run, for progress. It has no run id.
func summed(g api.GroupRecord) api.RunRecord {
	out := api.RunRecord{
		GroupID: &g.ID, Name: g.Name, Status: g.Status, CapMicrousd: g.CapMicrousd, ReservedMicrousd: g.ReservedMicrousd, SpendMicrousd: g.SpendMicrousd,
		CreatedAt: g.CreatedAt, StartedAt: g.StartedAt, FinishedAt: g.FinishedAt,
	}
	for _, m := range g.Members {
		out.PlannedCount += m.PlannedCount
		out.ProcessedCount += m.GradedCount + m.ErrorCount
		out.GradedCount += m.GradedCount
		out.ErrorCount += m.ErrorCount
	}
	return out
}

// Show is a group for people: one line about all, one row a member.
func Show(p *term.Page, a *command.App, g api.GroupRecord) {
	p.Line("Group    %s   %s", g.ID, g.Name)
	p.Line("What     %s   %s", benchmark(g), coverage(g))
	p.Line("Status   %s", g.Status)
	if g.SourceGroupID != nil {
		p.Line("Resumes  group %s", *g.SourceGroupID)
	}
	if g.ContinuedByGroupID != nil {
		p.Line("Resumed  by group %s", *g.ContinuedByGroupID)
	}
	p.Line("Money    %s spent and %s reserved under caps of %s together", command.Money(g.SpendMicrousd), command.Money(g.ReservedMicrousd), command.Money(g.CapMicrousd))
	lines, err := table.Render(g.Members, memberColumns(g), table.View{}, a.Term.Columns())
	if err != nil {
		p.Line("The members could not be laid out: %s", err) // there is nothing to choose that could be wrong
		return
	}
	command.ShowTable(p, lines)
	id := command.Short(g.ID)
	switch {
	case !g.Status.Terminal():
		p.Next("evalrouter group status "+id+" --watch", "evalrouter group cancel "+id)
	case g.ContinuedByGroupID != nil:
		p.Next("evalrouter group status "+*g.ContinuedByGroupID, "evalrouter group compare "+id+" --format html")
	case g.Resumable():
		p.Next("evalrouter group resume "+g.ID, "evalrouter group compare "+id+" --format html")
	case g.Status == api.StatusFailed:
		p.Next("evalrouter status " + command.Short(g.Members[0].RunID))
	default:
		p.Next("evalrouter group compare " + id + " --format html")
	}
}

func coverage(g api.GroupRecord) string {
	if len(g.Profiles) == 0 {
		return ""
	}
	s := g.Profiles[0]
	if s.SelectedCount >= s.PopulationCount {
		return "all " + command.Thousands(s.PopulationCount) + " tasks"
	}
	seed := ""
	if g.Coverage != nil && g.Coverage.Seed != nil {
		seed = fmt.Sprintf(", seed %d", *g.Coverage.Seed)
	}
	return fmt.Sprintf("%s of %s tasks%s (a sample, not a full score)", command.Thousands(s.SelectedCount), command.Thousands(s.PopulationCount), seed)
}

func memberColumns(g api.GroupRecord) []table.Column[api.GroupMember] {
	type rec = api.GroupMember
	n := command.Unique(g.Members, func(m rec) string { return m.RunID })
	early := 1 // all is done in a group that has ended
	if !g.Status.Terminal() {
		early = 0
	}
	return []table.Column[rec]{
		{Name: "run", Whole: true, Text: func(m rec) string { return m.RunID[:min(n, len(m.RunID))] }},
		{Name: "model", Text: modelName},
		{Name: "status", Whole: true, Text: func(m rec) string { return string(m.Status) }},
		{Name: "done", Whole: true, Right: true, Drop: early, Text: func(m rec) string {
			return command.Thousands(m.ProcessedCount) + "/" + command.Thousands(m.PlannedCount)
		}},
		{Name: "so far", Whole: true, Text: soFar},
		{Name: "n", Whole: true, Right: true, Text: graded},
		{Name: "spent", Right: true, Drop: 2, Text: func(m rec) string { return command.Money(m.SpendMicrousd) }},
		{Name: "cap", Right: true, Drop: 4, Text: func(m rec) string { return command.Money(m.CapMicrousd) }},
		{Name: "kind", Whole: true, Text: func(m rec) string { return map[bool]string{true: "simulated", false: "real"}[m.Model.Simulated] }},
	}
}

func modelName(m api.GroupMember) string {
	return api.Model{Selected: &m.Model}.Name()
}

// soFar is a member's score with its interval; its n stands in the next column.
func soFar(m api.GroupMember) string {
	h := m.Headline
	switch {
	case h == nil || h.Denominator == 0:
		return "-"
	case h.Interval == nil:
		return fmt.Sprintf("%.1f %%", 100*h.Value)
	}
	return fmt.Sprintf("%.1f %% [%.1f, %.1f]", 100*h.Value, 100*h.Interval.Lower, 100*h.Interval.Upper)
}

func graded(m api.GroupMember) string {
	if m.Headline == nil {
		return "-"
	}
	return command.Thousands(m.Headline.Denominator)
}
