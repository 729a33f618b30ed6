package run

import (
	"context"
	"errors"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/change"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/gate"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/progress"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// watchFlags are the flags of every command that follows a run.
type watchFlags struct {
	limit, every, disconnect float64
	mode                     string
	allMetrics               bool
	// alone leaves out the comparison with the run before.
	alone bool
	// next are the commands to name at the end instead of the usual ones.
	next []string
	// gates are what the run must pass at its end.
	gates gate.Gates
}

func (w *watchFlags) declare(fs *argv.Flags) {
	w.limit, w.disconnect, w.mode = 3600, flow.DefaultDisconnect.Seconds(), progress.Auto
	fs.Choice(&w.mode, "progress", "how to show progress (auto)", progress.Auto, progress.Plain, progress.JSON, progress.Off)
	fs.Seconds(&w.limit, "wait-timeout", "stop watching after this long (3600)", 30*24*3600)
	fs.Seconds(&w.every, "poll-interval", "read the run this often", 3600).Rare()
	fs.Seconds(&w.disconnect, "disconnect-timeout", "stop when out of reach this long (90)", 24*3600).Rare()
	fs.Bool(&w.allMetrics, "all-metrics", "print every metric at the end").Rare()
	w.gates.Declare(fs)
}

// watched is a run with its end, as JSON: the run's record with what a reader
// would have to ask for next.
type watched struct {
	api.RunRecord
	Result    *api.ResultRecord `json:"result"`
	ReportURL *string           `json:"report_url"`
	Gates     []gate.Check      `json:"gates,omitempty"`
}

// follow watches a run to its end and prints what it found. The exit code is
// that of the run.
func (w *watchFlags) follow(ctx context.Context, a *command.App, c *evalrouter.Client, id string) (api.RunRecord, error) {
	show := progress.For(a, w.mode)
	source := &reader{runs: c.Runs}
	watcher := &flow.Watcher{
		Runs: source, Disconnect: seconds(w.disconnect), Limit: seconds(w.limit), Every: seconds(w.every),
		Ends: flow.Ends(c.Runs, a.Sleep), Seen: show.Show, Now: a.Now, Sleep: a.Sleep, Chance: a.Chance,
	}
	if a.Local() {
		source.restart = func(ctx context.Context) (flow.RunReader, error) {
			fresh, err := a.Reconnect(ctx)
			if err != nil {
				return nil, err
			}
			c = fresh
			return c.Runs, nil
		}
		watcher.Stays = "the run is kept: it goes on while the local service runs, and with its next start otherwise"
	}
	a.Watching(true)
	run, err := watcher.Watch(ctx, id)
	show.Done()
	a.Watching(false)
	if err != nil {
		return run, reattach(err, id, run.Status)
	}
	res, err := c.Runs.Results(ctx, id, 0)
	if errors.Is(err, api.RunNotFinished) {
		// The run has ended and its result is being frozen; that takes moments.
		if err = a.Sleep(ctx, time.Second); err == nil {
			res, err = c.Runs.Results(ctx, id, 0)
		}
	}
	if err != nil {
		return run, command.WithNext(err, "evalrouter results "+id)
	}
	ch := w.before(ctx, a, c, run, res)
	doc := watched{RunRecord: run, Result: &res, ReportURL: run.Links.Report, Gates: w.gates.Judge(run)}
	err = a.Value(doc, func(p *term.Page) {
		command.ShowResult(p, res, w.allMetrics)
		change.Show(p, ch)
		showGates(p, doc.Gates)
		if run.Links.Report != nil {
			p.Line("Report   %s", *run.Links.Report)
		}
		next := w.next
		if next == nil || run.Status != api.StatusCompleted {
			next = afterEnd(run)
		}
		p.Next(next...)
	})
	if err != nil && !term.Closed(err) {
		return run, err
	}
	if err := held(a, doc.Gates, run.ID); err != nil {
		return run, err
	}
	// A reader who went away takes nothing from how the run ended.
	return run, command.EndOf(run.Status)
}

// held is the end of a run that did not pass its gates. A record that was printed as
// JSON stays the only document on standard output: its gates say why.
func held(a *command.App, checks []gate.Check, run string) error {
	err := gate.Failed(checks, run)
	if err == nil || !a.WantsJSON() {
		return command.WithNext(err, "evalrouter results "+command.Short(run))
	}
	a.Note("%s (%s)", err, api.GateFailed)
	return &command.Ended{Code: 1}
}

// showGates says what the run was held against.
func showGates(p *term.Page, checks []gate.Check) {
	for _, c := range checks {
		word := "failed"
		if c.Passed {
			word = "passed"
		}
		p.Line("Gate     %s: %s", word, c.Reason)
	}
}

// before is the change since the run before. It is for people, and a run that
// ended well is no failure because an older one cannot be read.
func (w *watchFlags) before(ctx context.Context, a *command.App, c *evalrouter.Client, run api.RunRecord, res api.ResultRecord) *change.Change {
	if a.WantsJSON() || run.Status != api.StatusCompleted || w.alone {
		return nil
	}
	ch, err := change.Find(ctx, c.Runs, run)
	if err == nil && ch != nil && w.allMetrics {
		err = ch.All(ctx, c.Runs, res)
	}
	if err != nil {
		a.Note("The run before it could not be read: %s", err)
		return nil
	}
	return ch
}

// afterEnd is what helps after the end of a run: with an answer to show, its
// results; without one, looking at what refused to answer.
func afterEnd(r api.RunRecord) []string {
	id := command.Short(r.ID)
	if r.ContinuedByRunID != nil {
		return []string{"evalrouter status " + command.Short(*r.ContinuedByRunID), "evalrouter results " + id}
	}
	if r.Resume.Status == "available" {
		return []string{"evalrouter resume " + id, "evalrouter results " + id}
	}
	if r.Status != api.StatusFailed {
		return []string{"evalrouter results " + id, "evalrouter export " + id + " --format json"}
	}
	if m := r.Model.Selected; m != nil && m.ConnectionID != nil {
		return []string{"evalrouter connections check " + command.Short(*m.ConnectionID), "evalrouter events " + id}
	}
	return []string{"evalrouter events " + id, "evalrouter catalog --models"}
}

// reattach adds the way back to a run that is no longer watched.
func reattach(err error, id string, last api.RunStatus) error {
	for _, c := range []api.Code{api.WatchLost, api.WaitCancelled, api.RequestTimeout} {
		if errors.Is(err, c) {
			return command.WithNext(err, watchOrCancel(id, last)...)
		}
	}
	return command.WithNext(err, "evalrouter status "+id)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
