package pages

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"
)

// List is a page of runs or of groups, newest first.
type List struct {
	Rows []Row
	// Status is what the list is filtered by, of Statuses.
	Status   string
	Statuses []string
	// Keep are fields that stay in the address when the filter changes.
	Keep []Field
	// Next is the address of the next page, "" for none.
	Next string
}

// Field is a name with its value in an address.
type Field struct{ Name, Value string }

// Row is one run or group.
type Row struct {
	Path       string
	Name       plain.Safe
	Short      plain.Safe
	Benchmark  plain.Safe
	Models     []plain.Safe
	Status     plain.Safe
	Score      string // of a run, "" before the first graded task
	Of         string
	Interval   string
	Progress   string
	Spent, Cap string
	Created    string
}

// Statuses are those that lists are filtered by.
func Statuses() []string {
	return []string{"queued", "running", "completed", "partial", "failed", "cancelled"}
}

// RunRow is a run as a line.
func RunRow(r api.RunRecord) Row {
	row := Row{
		Path: "/runs/" + url.PathEscape(r.ID), Name: line(r.Name), Short: short(r.ID), Models: []plain.Safe{line(r.Model.Name())}, Status: line(string(r.Status)),
		Progress: report.Count(r.ProcessedCount) + " of " + report.Count(r.PlannedCount), Spent: report.Dollars(r.SpendMicrousd), Cap: report.Dollars(r.CapMicrousd), Created: stamp(&r.CreatedAt),
	}
	if len(r.Profiles) > 0 {
		row.Benchmark = line(r.Profiles[0].ID)
	}
	if f := report.Shown(r.Headline); f != nil {
		row.Score, row.Of, row.Interval = f.Value, f.Of, f.Interval
	}
	return row
}

// GroupRow is a group as a line.
func GroupRow(g api.GroupRecord) Row {
	row := Row{
		Path: "/groups/" + url.PathEscape(g.ID), Name: line(g.Name), Short: short(g.ID), Status: line(string(g.Status)), Spent: report.Dollars(g.SpendMicrousd), Cap: report.Dollars(g.CapMicrousd),
		Created: stamp(&g.CreatedAt),
	}
	if len(g.Profiles) > 0 {
		row.Benchmark = line(g.Profiles[0].ID)
	}
	done, all := 0, 0
	for _, m := range g.Members {
		done, all = done+m.ProcessedCount, all+m.PlannedCount
		row.Models = append(row.Models, line(memberName(m)))
	}
	row.Progress = report.Count(done) + " of " + report.Count(all)
	return row
}

// Run is a run: as it stands, or finished with its tasks.
type Run struct {
	report.Report
	Path string // of the page
	// Log is what happened last, newest first.
	Log []LogRow
	// Tasks is a page of tasks, Filter what they are filtered by.
	Tasks    []TaskRow
	Filter   string
	Filters  []Filter
	NextPage string
	// Files are the formats that the run can be saved in; none for whoever may
	// only look.
	Files []File
	// Group is the page of the group that the run belongs to, and Before and
	// After those of the runs that it continues and that continue it.
	Group, Before, After string
	// Expired says that the result is not kept any more.
	Expired bool
}

// Filter is a choice of the list of tasks.
type Filter struct {
	Key, Label string
}

// File is a format with what it is for.
type File struct{ Path, Name, For string }

// LogRow is one event of a run.
type LogRow struct {
	At    string
	What  plain.Safe
	Kind  report.Kind
	More  plain.Safe
	Spent string
}

// TaskRow is one task of a list.
type TaskRow struct {
	Path    string
	Place   int // from 1
	ID      plain.Safe
	Label   plain.Safe
	Kind    report.Kind
	Taken   plain.Safe
	Charge  string
	Seconds string
}

// TaskFilters are the choices of the list of tasks.
func TaskFilters() []Filter {
	return []Filter{{"", "all"}, {"graded", "graded"}, {"error", "errors"}, {"refused", "refused"}, {"skipped_budget", "not run (cap)"}, {"cancelled", "cancelled"}, {"pending", "pending"}, {"left_out", "left out"}}
}

// TaskRowOf is a task as a line of its run.
func TaskRowOf(run string, t api.TaskRecord) TaskRow {
	row := TaskRow{
		Path: fmt.Sprintf("%s/tasks/%d", run, t.Index), Place: t.Index + 1, ID: line(t.TaskID), Label: line(strings.ReplaceAll(t.Status, "_", " ")), Kind: report.NotRun,
		Taken: line(value(t.Extracted)), Charge: report.Dollars(t.ChargeMicrousd),
	}
	if t.Outcome != nil && *t.Outcome != "" {
		row.Label, row.Kind = report.OutcomeWords(*t.Outcome)
	}
	if t.ErrorCode != nil && row.Taken == "" {
		row.Taken = line(strings.ReplaceAll(*t.ErrorCode, "_", " "))
	}
	if t.StartedAt != nil && t.FinishedAt != nil {
		row.Seconds = fmt.Sprintf("%.1f s", t.FinishedAt.Sub(*t.StartedAt).Seconds())
	}
	return row
}

// LogOf is what happened last in a run, newest first, in words.
func LogOf(events []api.RunEvent) (out []LogRow) {
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		row := LogRow{At: e.CreatedAt.UTC().Format("15:04:05"), What: line(strings.ReplaceAll(strings.ReplaceAll(e.Type, "_", " "), ".", ": "))}
		if key, ok := e.Data["outcome"].(string); ok {
			row.What, row.Kind = report.OutcomeWords(key)
		}
		if n, ok := e.Data["index"].(float64); ok {
			row.More = line("task " + report.Count(int(n)+1))
		}
		if m, ok := e.Data["charge_microusd"].(string); ok {
			row.Spent = dollars(m)
		}
		if reason, ok := e.Data["reason"].(string); ok && row.More == "" {
			row.More = line(strings.ReplaceAll(reason, "_", " "))
		}
		out = append(out, row)
	}
	return out
}

// Task is one task of a finished or a live run.
type Task struct {
	Run, Benchmark, Model plain.Safe
	RunPath               string
	Place                 string
	ID, Label             plain.Safe
	Kind                  report.Kind
	// Input is what was asked, in order.
	Input []Message
	// Shown is what the part taskbody of a report shows.
	Shown          any
	Before, Behind string
}

// Message is one message to a model.
type Message struct {
	Role string
	Text plain.Safe
}

// maxInput bounds a shown message in characters.
const maxInput = 16_000

// MessageOf is a message that is not too long to be shown.
func MessageOf(role, text string) Message {
	if r := []rune(text); len(r) > maxInput {
		text = string(r[:maxInput]) + "\n… (" + report.Count(len(r)-maxInput) + " more characters)"
	}
	return Message{role, plain.Block(text)}
}

// Done is how much of a run is decided in thousandths, Decided the same in words.
func (r Run) Done() int {
	if r.Coverage.Planned == 0 {
		return 0
	}
	return 1000 * r.decided() / r.Coverage.Planned
}

// Decided is how many tasks are decided, in words.
func (r Run) Decided() string {
	return report.Count(r.decided()) + " of " + report.Count(r.Coverage.Planned)
}

func (r Run) decided() int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Key != "" && o.Key != "pending" {
			n += o.N
		}
	}
	return n
}
