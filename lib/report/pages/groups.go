package pages

import (
	"net/url"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Group is a group as it stands.
type Group struct {
	Path, Comparison string
	Name             plain.Safe
	ID               plain.Safe
	Benchmark        plain.Safe
	Scope            string
	Status           plain.Safe
	Live             bool
	Simulated        bool
	Started          string
	Finished         string
	Spent, Held, Cap string
	Processed        string
	Members          []Member
	// Figures are the members' on one axis.
	Figures []report.Figure
}

// Member is one model of a group. Run is "" for whoever may not open it.
type Member struct {
	Label, Run             string
	Model, Status, Why     plain.Safe
	Score, Of, Interval    string
	Processed, Graded      string
	Errors                 string
	Spent, Cap             string
	Reasoning              plain.Safe
	Share, Planned, Behind int // of the bar: tasks in thousandths
}

func memberName(m api.GroupMember) string {
	if m.Model.DisplayName != "" {
		return m.Model.DisplayName
	}
	return m.Model.ModelID
}

// GroupOf reads a group. open says that its runs may be opened too.
func GroupOf(g api.GroupRecord, open bool) Group {
	out := Group{
		Path: "/groups/" + url.PathEscape(g.ID), Name: line(g.Name), ID: line(g.ID), Status: line(string(g.Status)), Live: !g.Status.Terminal(), Started: stamp(g.StartedAt), Finished: stamp(g.FinishedAt),
		Spent: report.Dollars(g.SpendMicrousd), Cap: report.Dollars(g.CapMicrousd),
	}
	if g.ReservedMicrousd > 0 {
		out.Held = report.Dollars(g.ReservedMicrousd)
	}
	if !out.Live {
		out.Comparison = out.Path + "/comparison"
	}
	if len(g.Profiles) > 0 {
		p := g.Profiles[0]
		out.Benchmark = line(p.ID)
		out.Scope = report.Count(p.SelectedCount) + " of " + report.Count(p.PopulationCount) + " tasks, the same for every model."
	}
	done, all := 0, 0
	for _, m := range g.Members {
		row := memberOf(m)
		if open {
			row.Run = "/runs/" + url.PathEscape(m.RunID)
		}
		if f := report.Shown(m.Headline); f != nil {
			row.Score, row.Of, row.Interval = f.Value, f.Of, f.Interval
			f.Name = plain.Line(row.Label + ": " + string(row.Model))
			out.Figures = append(out.Figures, *f)
		}
		out.Simulated = out.Simulated || m.Model.Simulated
		done, all = done+m.ProcessedCount, all+m.PlannedCount
		out.Members = append(out.Members, row)
	}
	out.Processed = report.Count(done) + " of " + report.Count(all)
	return out
}

func memberOf(m api.GroupMember) Member {
	row := Member{
		Label: string(rune('A' + m.Index)), Model: line(memberName(m)), Status: line(string(m.Status)), Processed: report.Count(m.ProcessedCount) + " of " + report.Count(m.PlannedCount),
		Graded: report.Count(m.GradedCount), Errors: report.Count(m.ErrorCount), Spent: report.Dollars(m.SpendMicrousd), Cap: report.Dollars(m.CapMicrousd),
	}
	if m.TerminalReason != nil && *m.TerminalReason != "completed" {
		row.Why = line(strings.ReplaceAll(*m.TerminalReason, "_", " "))
	}
	if m.PlannedCount > 0 {
		row.Share = 1000 * m.ProcessedCount / m.PlannedCount
	}
	if m.Reasoning != nil && m.Reasoning.Effort != "" {
		row.Reasoning = line(m.Reasoning.Effort)
	}
	return row
}

// Comparison is the members' results side by side.
type Comparison struct {
	Shown any
	Group string // the group's page
	Files []File
}

// dollars is an amount that came as text; "" for what is none.
func dollars(micros string) string {
	var m usd.Micro
	if err := m.UnmarshalText([]byte(micros)); err != nil {
		return ""
	}
	return report.Dollars(m)
}
