// Package progress shows how a run gets on, on the stream for everything that
// is not a result.
//
// A terminal gets one line that is rewritten in place, at most four times a
// second. Everything else gets records: a line for every change and at least
// one in half a minute, as JSON or as key=value words.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// Modes of --progress.
const (
	Auto  = "auto"
	Plain = "plain"
	JSON  = "json"
	Off   = "off"
	// Spoken is what auto is for somebody who hears or feels the screen: a
	// sentence for every tenth and every change of the phase.
	Spoken = "spoken"
)

const (
	heartbeat = 30 * time.Second
	frame     = 250 * time.Millisecond
)

// Printer shows updates. It is used from one goroutine.
type Printer struct {
	W       io.Writer
	mode    string
	columns func() int
	now     func() time.Time

	last    api.Progress
	shown   time.Time
	started bool
	drawn   bool
	outage  bool
}

// For shows progress where a command shows it: in sentences, in one line or in
// records, as the person and the terminal need it.
func For(a *command.App, mode string) *Printer {
	if mode == Auto && a.Term.Get("ACCESSIBLE") == "1" && a.Term.ErrTTY && !a.WantsJSON() {
		mode = Spoken
	}
	return New(a.Term.Err, mode, a.Term.ErrTTY && a.Term.Get("TERM") != "dumb" && a.Term.Get("CI") == "", a.WantsJSON(), a.Term.Columns, a.Now)
}

// New chooses how to show progress. terminal says that w is one that can
// rewrite a line; structured asks for JSON where auto would choose words.
func New(w io.Writer, mode string, terminal, structured bool, columns func() int, now func() time.Time) *Printer {
	p := &Printer{W: w, mode: mode, columns: columns, now: now}
	if mode == Auto || mode == "" {
		switch {
		case structured:
			p.mode = JSON
		case terminal:
			p.mode = Auto
		default:
			p.mode = Plain
		}
	}
	return p
}

// Show shows an update, or leaves it out when it says nothing new.
func (p *Printer) Show(u flow.Update) {
	if p.mode == Off {
		return
	}
	now := p.now()
	rec := flow.Progress(u, now)
	if p.mode == Auto {
		if p.drawn && now.Sub(p.shown) < frame && !rec.Phase.Terminal() {
			return
		}
		p.line(u, rec)
		p.shown = now
		return
	}
	if p.mode == Spoken {
		p.speak(u, rec)
		return
	}
	if u.Down > 0 {
		p.report(u, rec, now)
		return
	}
	changed := !p.started || p.outage || differs(rec, p.last)
	if !changed && now.Sub(p.shown) < heartbeat {
		return
	}
	p.started, p.outage, p.last, p.shown = true, false, rec, now
	p.record(rec)
}

// Done takes the rewritten line away, so that what follows starts clean.
func (p *Printer) Done() {
	if p.drawn {
		io.WriteString(p.W, "\r\x1b[K") // nothing to do about a closed stderr
		p.drawn = false
	}
}

func differs(a, b api.Progress) bool {
	return a.Phase != b.Phase || a.Processed != b.Processed || a.Errors != b.Errors || a.SpendMicrousd != b.SpendMicrousd ||
		(a.Planned == nil) != (b.Planned == nil) || a.Planned != nil && *a.Planned != *b.Planned
}

// speak says a sentence where something changed that is worth one.
func (p *Printer) speak(u flow.Update, r api.Progress) {
	if u.Down > 0 {
		if !p.outage {
			fmt.Fprintf(p.W, "Not connected, trying again. %s\n", plain.Line(flow.Cause(u.Cause)))
		}
		p.outage = true
		return
	}
	if p.outage {
		io.WriteString(p.W, "Connected again.\n")
	}
	p.outage = false
	pc, known := flow.Percent(r)
	was, _ := flow.Percent(p.last)
	if p.started && r.Phase == p.last.Phase && (!known || pc/10 == was/10) {
		return
	}
	p.started, p.last = true, r
	text := string(plain.Line(string(r.Phase)))
	if known {
		text += fmt.Sprintf(", %d percent, %s of %s tasks", pc, command.Thousands(r.Processed), command.Thousands(*r.Planned))
	}
	what := "run"
	if r.RunID == "" && r.GroupID != nil {
		what = "group"
	}
	fmt.Fprintf(p.W, "The %s is %s, %s, %s spent.\n", what, text, command.Count(r.Errors, "error"), command.Money(r.SpendMicrousd))
}

func (p *Printer) record(r api.Progress) {
	if p.mode == JSON {
		if b, err := json.Marshal(r); err == nil {
			p.W.Write(append(b, '\n'))
		}
		return
	}
	planned := "unknown"
	if r.Planned != nil {
		planned = fmt.Sprint(*r.Planned)
	}
	fmt.Fprintf(p.W, "%s phase=%s processed=%d planned=%s errors=%d spend=%s elapsed=%.1fs\n",
		subject(r.RunID, r.GroupID), plain.Line(string(r.Phase)), r.Processed, planned, r.Errors, r.SpendMicrousd, r.ElapsedSeconds)
}

// report tells of an outage once and then at every heartbeat. The JSON record
// has no field for it, so there the last record stands again.
func (p *Printer) report(u flow.Update, rec api.Progress, now time.Time) {
	if p.outage && now.Sub(p.shown) < heartbeat {
		return
	}
	p.outage, p.shown = true, now
	if p.mode == JSON {
		if u.Run.ID != "" {
			p.record(rec)
		}
		return
	}
	why := ""
	if c := flow.Cause(u.Cause); c != "" {
		why = fmt.Sprintf(" cause=%q", c)
	}
	fmt.Fprintf(p.W, "%s connected=no down=%.1fs%s\n", subject(u.Run.ID, u.Run.GroupID), u.Down.Seconds(), why)
}

// subject is what a line is about: a run, or a group where there is no run.
func subject(run string, group *string) plain.Safe {
	if run == "" && group != nil {
		return "group=" + plain.Line(*group)
	}
	return "run=" + plain.Line(run)
}

func (p *Printer) line(u flow.Update, r api.Progress) {
	text := describe(u, r)
	io.WriteString(p.W, "\r"+string(plain.Cut(plain.Line(text), max(1, p.columns()-1)))+"\x1b[K")
	p.drawn = true
}

// describe is the line for people. The percentage is that of processed tasks
// and stands beside their count, never beside a score.
func describe(u flow.Update, r api.Progress) string {
	parts := []string{string(r.Phase)}
	if r.Phase == "" {
		parts[0] = "waiting for the run"
	}
	if r.Planned != nil {
		parts = append(parts, command.Thousands(r.Processed)+"/"+command.Thousands(*r.Planned))
		if pc, ok := flow.Percent(r); ok {
			parts = append(parts, fmt.Sprintf("%d %%", pc))
		}
	}
	parts = append(parts, clock(u.Elapsed))
	if u.Run.ID != "" {
		parts = append(parts, command.Money(r.SpendMicrousd)+" of "+command.Money(u.Run.CapMicrousd))
	}
	if r.Errors > 0 {
		parts = append(parts, command.Count(r.Errors, "error"))
	}
	if u.Down > 0 {
		lost := "not connected " + clock(u.Down)
		if c := flow.Cause(u.Cause); c != "" {
			lost += " (" + c + ")"
		}
		parts = append(parts, fmt.Sprintf("%s, trying again in %.0f s", lost, u.Retry.Seconds()))
	} else if u.Run.WaitingReason != nil {
		parts = append(parts, "waiting: "+*u.Run.WaitingReason)
	}
	return strings.Join(parts, "  ")
}

func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
