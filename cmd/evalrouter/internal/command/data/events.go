package data

import (
	"context"

	evalrouter "github.com/evalrouter/evalrouter/lib"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

type eventsCmd struct {
	*command.App
	follow      bool
	types       []string
	tail, after int
}

// Events is "evalrouter events": a run's log as JSON lines.
func Events(a *command.App) *argv.Command {
	c := &eventsCmd{App: a}
	fs := argv.NewFlags("events")
	fs.Bool(&c.follow, "follow", "go on until the run has ended")
	fs.Strings(&c.types, "type", "TYPE", "only events of this type; repeatable")
	fs.Int(&c.tail, "tail", "N", "start with the last N events", 1, 200)
	fs.Int(&c.after, "after", "SEQUENCE", "start behind this event", 0, 1<<50)
	return &argv.Command{
		Name: "events", Args: "RUN", Short: "Print the log of a run, one JSON object a line",
		Examples: []string{"evalrouter events 3f2a9c --follow", "evalrouter events 3f2a9c --type run.finished"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *eventsCmd) exec(ctx context.Context, args []string) error {
	if c.tail > 0 && c.after > 0 {
		return &argv.UsageError{Message: "--tail and --after are two different beginnings; give one"}
	}
	id, err := c.OneRun(ctx, args)
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	q := evalrouter.EventQuery{After: int64(c.after), Types: c.types, Limit: 200}
	if c.tail > 0 {
		if q.After, err = c.last(ctx, client.Runs, id); err != nil {
			return err
		}
	}
	if c.follow {
		for e, err := range client.Runs.Follow(ctx, id, q) {
			if err != nil {
				return command.WithNext(err, "evalrouter status "+id)
			}
			if err := c.JSONLine(e); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		page, err := client.Runs.Events(ctx, id, q)
		if err != nil {
			return err
		}
		for _, e := range page.Data {
			if err := c.JSONLine(e); err != nil {
				return err
			}
			q.After = e.Sequence
		}
		if !page.HasMore || len(page.Data) == 0 {
			return nil
		}
	}
}

// last prints the last events and answers the sequence behind which to go on.
func (c *eventsCmd) last(ctx context.Context, runs *evalrouter.Runs, id string) (int64, error) {
	page, err := runs.Events(ctx, id, evalrouter.EventQuery{Tail: true, Limit: c.tail, Types: c.types})
	if err != nil {
		return 0, err
	}
	var after int64
	for _, e := range page.Data {
		if err := c.JSONLine(e); err != nil {
			return 0, err
		}
		after = e.Sequence
	}
	return after, nil
}
