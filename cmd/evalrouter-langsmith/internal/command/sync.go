package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/checkpoint"
	"github.com/evalrouter/evalrouter/langsmith/source"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/redact"
)

// most is the longest retention of LangSmith; older runs are gone.
const most = 400 * 24 * time.Hour

// maxSkew is how wrong a clock may be.
const maxSkew = 10 * time.Minute

// result is the document of sync.
type result struct {
	langsmith.Outcome
	Project string    `json:"project_id"`
	API     string    `json:"langsmith_api"`
	Since   time.Time `json:"since"`
	State   string    `json:"state_file"`
}

// job is one sync with its sides.
type job struct {
	*App
	from  *source.Client
	to    *destination
	file  *checkpoint.File
	state *langsmith.State
	// Times of the command line; zero when not given.
	first, until, again time.Time
}

func (a *App) sync(ctx context.Context) (err error) {
	for _, x := range [][2]string{{a.opts.project, "project"}, {a.opts.state, "state"}} {
		if x[0] == "" {
			return usage("sync", "sync needs --%s", x[1])
		}
	}
	if a.opts.watch && (a.opts.until != "" || a.opts.dryRun) {
		return usage("sync", "--watch goes on and excludes --until and --dry-run")
	}
	j := &job{App: a}
	if err := j.times(); err != nil {
		return err
	}
	var key string
	if j.from, key, err = a.source(a.opts.project); err != nil {
		return err
	}
	if j.to, err = a.destination(key); err != nil {
		return err
	}
	if err := j.open(); err != nil {
		return errors.Join(err, j.to.client.Close())
	}
	defer func() { err = errors.Join(err, j.close()) }()
	if err = j.prepare(ctx); err == nil {
		err = j.run(ctx)
	}
	var done *ended
	if err != nil && ctx.Err() != nil && !errors.As(err, &done) {
		j.note("Stopped. What was imported is kept in %s; the same command goes on from there.", j.opts.state)
		return &ended{exitFailed}
	}
	return err
}

// times reads the flags that are times.
func (j *job) times() (err error) {
	for _, x := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", j.opts.since, &j.first}, {"until", j.opts.until, &j.until}, {"rewind", j.opts.rewind, &j.again}} {
		if x.text == "" {
			continue
		}
		if *x.to, err = moment(x.flag, x.text); err != nil {
			return err
		}
		if x.flag != "until" && x.to.After(j.Now()) {
			return usage("sync", "--%s %s is later than now", x.flag, x.to.Format(time.RFC3339))
		}
	}
	return nil
}

// open reads the state. A dry run neither makes nor locks a file.
func (j *job) open() (err error) {
	if !j.opts.dryRun {
		j.file, j.state, err = checkpoint.Open(j.opts.state)
		return err
	}
	if j.state, err = checkpoint.Read(j.opts.state); errors.Is(err, fs.ErrNotExist) {
		j.state, err = langsmith.NewState(), nil
	}
	return err
}

func (j *job) close() error {
	err := j.to.client.Close()
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return err
}

// prepare checks the state against the command line and asks LangSmith for its
// version and its clock.
func (j *job) prepare(ctx context.Context) error {
	now := j.Now()
	since, err := j.since(now)
	if err != nil {
		return err
	}
	if !j.until.IsZero() && !j.until.After(since) {
		return usage("sync", "--until is not after the first time to import, %s", since.Format(time.RFC3339))
	}
	id := langsmith.Identity{
		SourceOrigin: j.from.Origin(), SourceWorkspace: j.sourceWorkspace(), Project: j.opts.project,
		Origin: j.to.client.BaseURL(), Workspace: j.to.workspace, Connection: j.to.connection,
	}
	if old := j.state.Identity; old != (langsmith.Identity{}) && old != id {
		return &refusal{
			code: api.InvalidConfiguration, message: "the state file belongs to another import",
			facts: []string{"it is for  " + name(old), "this is for " + name(id), "nothing was read or sent; every import needs a state file of its own"},
		}
	}
	if err := j.from.Probe(ctx); err != nil {
		return err
	}
	if skew := j.from.Skew(); skew.Abs() > maxSkew && !j.opts.allowSkew {
		return &refusal{
			code: api.InvalidConfiguration, message: fmt.Sprintf("this machine's clock and LangSmith's differ by %s", skew.Abs().Round(time.Second)),
			facts: []string{"nothing was sent; set the clock, or use --allow-skew to follow LangSmith's"},
		}
	}
	probed := j.from.Now().UTC()
	c := langsmith.Change{API: j.from.API(), ProbedAt: &probed, Profile: redact.New(redact.Config{}).Profile()}
	if j.state.Identity != id {
		c.Identity = &id
	}
	if j.state.Since.IsZero() {
		c.Since = &since
	}
	j.rewind(&c)
	j.state.Apply(c)
	if j.opts.dryRun {
		return nil
	}
	return j.file.Save(c, j.state.Whole)
}

// since is the first start time to import. It is fixed with the state.
func (j *job) since(now time.Time) (time.Time, error) {
	if j.opts.since == "" {
		if !j.state.Since.IsZero() {
			return j.state.Since, nil
		}
		since := now.Add(-24 * time.Hour).UTC().Truncate(time.Second)
		j.note("Importing runs that started at or after %s (24 hours ago; --since names another time).", since.Format(time.RFC3339))
		return since, nil
	}
	since := j.first
	switch {
	case !j.state.Since.IsZero() && !j.state.Since.Equal(since):
		return since, &refusal{
			code:    api.InvalidInput,
			message: fmt.Sprintf("this state began at %s, so --since cannot be %s", j.state.Since.Format(time.RFC3339), since.Format(time.RFC3339)),
			facts:   []string{"nothing was read or sent; --rewind reads again from an earlier time and stores nothing twice"},
		}
	case now.Sub(since) > most:
		j.note("Note: LangSmith keeps runs for at most 400 days, so there is nothing from %s.", since.Format(time.RFC3339))
	}
	j.note("Importing runs that started at or after %s.", since.Format(time.RFC3339))
	return since, nil
}

// rewind moves the horizon back. What was delivered stays marked.
func (j *job) rewind(c *langsmith.Change) {
	if j.again.IsZero() {
		return
	}
	if j.state.Horizon.IsZero() || j.again.Before(j.state.Horizon) {
		c.Horizon = &j.again
	}
	if j.again.Before(j.state.Since) {
		c.Since = &j.again
	}
	j.note("Reading again from %s.", j.again.Format(time.RFC3339))
}

func name(id langsmith.Identity) string {
	source := id.SourceOrigin
	if id.SourceWorkspace != "" {
		source += " workspace " + id.SourceWorkspace
	}
	return fmt.Sprintf("project %s at %s to connection %s of workspace %s at %s", id.Project, source, id.Connection, id.Workspace, id.Origin)
}

type clock struct{ a *App }

func (c clock) Now() time.Time                                   { return c.a.Now() }
func (c clock) Sleep(ctx context.Context, d time.Duration) error { return c.a.Sleep(ctx, d) }

func (j *job) syncer() *langsmith.Syncer {
	seconds := func(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
	// Version 1 lists a tenth as much in a request and allows a tenth of them.
	var tiers []langsmith.Tier
	if j.from.API() == source.V1 {
		tiers = []langsmith.Tier{{Span: 15 * time.Minute}, {Span: 2 * time.Hour, Every: 10 * time.Minute}, {Span: 12 * time.Hour, Every: time.Hour}}
	}
	s := langsmith.New(langsmith.Config{
		Tiers: tiers, Until: j.until, Poll: seconds(j.opts.poll), Settle: max(seconds(j.opts.settle), time.Nanosecond),
		Lookback: seconds(j.opts.lookback * 3600), IncludeIncomplete: j.opts.incomplete, Chance: j.Chance,
	}, j.state, j.from, j.to, j.file, clock{j.App})
	s.Note = j.note
	return s
}

func (j *job) run(ctx context.Context) error {
	s := j.syncer()
	if j.opts.dryRun {
		c, err := s.Count(ctx)
		if err != nil {
			return err
		}
		return j.value(c, func(p *page) {
			p.line("From %s to %s: %d runs, %d ended, %d going on, %d imported already.", c.From.Format(time.RFC3339), c.To.Format(time.RFC3339), c.Roots, c.Ended, c.Open, c.Delivered)
			p.line("Nothing was sent.")
		})
	}
	before := j.state.Stats
	var shown time.Time
	j.to.progress = func(api.TraceImportResult) {
		if now := j.Now(); now.Sub(shown) >= 10*time.Second {
			shown = now
			j.note("%d traces imported so far, %d pending.", j.state.Stats.Accepted-before.Accepted, len(j.state.Pending))
		}
	}
	if j.opts.watch {
		j.note("Watching project %s (%s). Imports go on while this process runs; Ctrl-C stops it.", j.opts.project, j.from.API())
		if err := s.Watch(ctx); err != nil {
			return err
		}
		after := j.state.Stats
		return j.show(langsmith.Outcome{
			Accepted: after.Accepted - before.Accepted, Duplicates: after.Duplicates - before.Duplicates,
			Rejected: after.Rejected - before.Rejected, Partial: after.Partial - before.Partial, Pending: len(j.state.Pending),
		})
	}
	out, err := s.Once(ctx)
	if err != nil {
		return err
	}
	if err := j.show(out); err != nil {
		return err
	}
	if out.Pending > 0 || out.Rejected > 0 || out.Partial > 0 {
		return &ended{exitPartial}
	}
	return nil
}

func (j *job) show(o langsmith.Outcome) error {
	r := result{Outcome: o, Project: j.opts.project, API: j.from.API(), Since: j.state.Since, State: j.opts.state}
	return j.value(r, func(p *page) {
		p.line("%d traces imported, %d known already, %d rejected, %d incomplete, %d pending.", o.Accepted, o.Duplicates, o.Rejected, o.Partial, o.Pending)
		if o.Pending > 0 || o.Rejected > 0 {
			p.line("Next: evalrouter-langsmith status --state %s", j.opts.state)
		}
	})
}
