package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

const wide = 120

// View draws the run, its log and the actions.
func (s live) View(c kit.Canvas) {
	w, h := c.Size()
	switch {
	case !s.known && s.err != nil:
		kit.Scroll{}.View(c.Sub(0, 0, w, h-1), show.Problem(" The run could not be read.", s.err, true))
	case !s.known:
		c.Text(1, 0, kit.Plain, show.F("Reading run %s…", show.Short(s.id)))
		c.Cursor(1, 0)
	case w >= wide:
		half := w / 2
		kit.Scroll{}.View(c.Sub(0, 0, half, h-2), s.lines(half))
		for y := range h - 1 {
			c.Text(half, y, kit.Plain, "│")
		}
		c.Text(half+2, 0, kit.Strong, "Log, newest first")
		s.scroll.ViewOf(c.Sub(half+2, 1, w-half-2, h-3), len(s.log), s.logLine)
	default:
		lines := s.lines(w)
		kit.Scroll{}.View(c.Sub(0, 0, w, h-1), lines[:min(len(lines), h-2)])
		if room := h - 2 - len(lines) - 1; room > 0 {
			s.scroll.ViewOf(c.Sub(0, len(lines)+1, w, room), len(s.log), s.logLine)
		}
	}
	s.actions.View(c, h-1)
}

// lines are the run in figures. Nothing here is a final score before the run
// has ended, and it says so.
func (s live) lines(w int) []kit.Line {
	r := s.update.Run
	kind := ""
	if r.Simulated {
		kind = "   simulated"
	}
	done := flow.Processed(r)
	out := []kit.Line{
		{Text: show.F(" %s   %s%s", show.Profile(r), r.Model.Name(), kind), Role: kit.Strong},
		{Text: show.F(" %s   %s", show.Status(r), clock(s.update.Elapsed)), Role: show.StatusRole(plain.Line(string(r.Status)))},
	}
	out = append(out, s.trouble()...) // on a small screen too
	count := fmt.Sprintf("  %s of %s", show.Thousands(done), show.Thousands(r.PlannedCount))
	out = append(out, kit.Line{Text: " " + show.Progress(max(w-len(count)-3, 5), done, r.PlannedCount) + plain.Line(count)})
	out = append(out, show.Pairs(w, [2]string{"Money", money(r)}, [2]string{"Billed apart", metered(r)})...)
	out = append(out, s.score(w)...)
	outcomes, _ := show.Outcomes(r.Outcomes)
	out = append(out, show.Pairs(w, [2]string{"Outcomes", outcomes}, [2]string{"Why", show.Text(r.TerminalDetail)})...)
	return out
}

func money(r api.RunRecord) string {
	s := fmt.Sprintf("%s spent · %s reserved · cap %s", show.Money(r.SpendMicrousd), show.Money(r.ReservedMicrousd), show.Money(r.CapMicrousd))
	if r.CapMicrousd > 0 {
		s += fmt.Sprintf(" (%d %%)", int64(r.SpendMicrousd)*100/int64(r.CapMicrousd))
	}
	return s
}

func metered(r api.RunRecord) string {
	if r.ExternalSpendMicrousd == 0 {
		return ""
	}
	return "of it " + show.Money(r.ExternalSpendMicrousd) + " metered and billed by the provider, not by EvalRouter"
}

// score is the headline with its interval, drawn too.
func (s live) score(w int) []kit.Line {
	r := s.update.Run
	h := r.Headline
	if h == nil || h.Denominator == 0 {
		return show.Pairs(w, [2]string{"So far", "no score yet"})
	}
	label, mark := "So far", "   interim"
	if r.Status.Terminal() {
		label, mark = "Score", ""
	}
	out := show.Pairs(w, [2]string{label, show.Rate(h.Value, h.Denominator, h.Interval, true) + mark})
	if lo, hi, ok := show.Bounds(h.Value, h.Denominator, h.Interval, true); ok {
		scale, bar := show.Axis(w-2, h.Value, lo, hi)
		out = append(out, kit.Line{Text: " " + scale}, kit.Line{Text: " " + bar})
	}
	return out
}

// trouble says how old the figures are when the service does not answer.
func (s live) trouble() (out []kit.Line) {
	u := s.update
	switch {
	case s.err != nil:
		out = append(out, show.Problem(" Not watching any more.", s.err, false)...)
	case u.Down > 0:
		out = append(out, kit.Line{Role: kit.Warn, Text: show.F(" Not connected for %s, trying again in %s. %s",
			clock(u.Down), u.Retry.Round(time.Second), flow.Cause(u.Cause))})
		out = append(out, kit.Line{Text: " These figures are the last that were read. The run goes on, and its cap still holds."})
	}
	if s.logErr != nil && s.err == nil && u.Down == 0 {
		out = append(out, kit.Line{Text: show.F(" The log could not be followed: %s", show.Reason(s.logErr))})
	}
	return out
}

// logLine is one line of the log, the newest event first.
func (s live) logLine(i int) kit.Line {
	e := s.log[len(s.log)-1-i]
	return kit.Line{Text: show.F(" %s  %s", e.CreatedAt.Local().Format("15:04:05"), eventText(e)), Role: kit.Plain}
}

// eventText is an event in one line: a task with its outcome, or its name with
// what it carries.
func eventText(e api.RunEvent) string {
	text := func(k string) string {
		if v, ok := e.Data[k]; ok && v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	task := text("task_id")
	if task == "" {
		task = "task " + text("index")
	}
	charge := ""
	if m, err := usd.ParseWire(text("charge_microusd")); err == nil {
		charge = "   " + show.Money(m)
	}
	switch e.Type {
	case "task.graded":
		return fmt.Sprintf("%-18s %-16s%s", task, show.Outcome(text("outcome")), charge)
	case "task.failed":
		return fmt.Sprintf("%-18s failed: %s%s", task, strings.ReplaceAll(text("error_code"), "_", " "), charge)
	case "task.skipped":
		return fmt.Sprintf("%-18s not run: %s", task, strings.ReplaceAll(text("reason"), "_", " "))
	}
	return strings.NewReplacer(".", " ", "_", " ").Replace(e.Type) + carried(e.Data)
}

// carried is what an event carries, but for what stands above in any case.
func carried(data map[string]any) (s string) {
	for _, k := range slices.Sorted(maps.Keys(data)) {
		if k == "run_id" || k == "reserved_microusd" || k == "spend_microusd" {
			continue
		}
		name := strings.ReplaceAll(k, "_", " ")
		if m, err := usd.ParseWire(fmt.Sprint(data[k])); err == nil && strings.HasSuffix(k, "_microusd") {
			s += "  " + strings.TrimSuffix(name, " microusd") + " " + show.Money(m)
			continue
		}
		if v, err := json.Marshal(data[k]); err == nil {
			s += "  " + name + " " + strings.Trim(string(v), `"`)
		}
	}
	return s
}

func clock(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// Head names the keys of the page.
func (s live) Head() kit.Head {
	h := kit.Head{Place: show.F("Live run %s", show.Short(s.id)), Note: s.note, Keys: []kit.Binding{}}
	if h.Note == "" {
		h.Note = "Leaving this page does not stop the run"
		if s.known && s.update.Run.Status.Terminal() {
			h.Note = "The run has ended"
		}
	}
	if s.update.Run.Links.Live != nil {
		h.Keys = append(h.Keys, kit.Binding{Keys: "B", Does: "browser"})
	}
	h.Keys = append(h.Keys, kit.Binding{Keys: "S", Does: "tasks"}, kit.Binding{Keys: "Tab", Does: "next action"}, kit.Binding{Keys: "Enter", Does: "choose"},
		kit.Binding{Keys: "↑↓", Does: "scroll the log"}, kit.Binding{Keys: "F5", Does: "connects again", Quiet: true},
		kit.Binding{Keys: "Esc/←", Does: "leave the view; the run goes on", Quiet: true})
	return h
}
