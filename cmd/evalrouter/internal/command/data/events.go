package data

import (
	"context"
	"errors"
	"strconv"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

type eventsCmd struct {
	*command.App
	follow      bool
	types       []string
	last, after int
	disconnect  float64
}

// Events is "evalrouter events": a run's log as JSON lines.
func Events(a *command.App) *argv.Command {
	c := &eventsCmd{App: a}
	fs := argv.NewFlags("events")
	fs.Bool(&c.follow, "follow", "go on until the run has ended")
	fs.Strings(&c.types, "type", "TYPE", "only events of this type; repeatable")
	fs.Int(&c.last, "tail", "N", "start with the last N events", 1, 200)
	fs.Int(&c.after, "after", "SEQUENCE", "start behind this event", 0, 1<<50)
	c.disconnect = flow.DefaultDisconnect.Seconds()
	fs.Seconds(&c.disconnect, "disconnect-timeout", "stop when out of reach this long (90)", 24*3600).Rare()
	return &argv.Command{
		Name: "events", Args: "RUN", Short: "Print the log of a run, one JSON object a line",
		Examples: []string{"evalrouter events 3f2a9c --follow", "evalrouter events 3f2a9c --type run.finished"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *eventsCmd) exec(ctx context.Context, args []string) error {
	if c.last > 0 && c.after > 0 {
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
	if c.last > 0 {
		if q.After, err = c.newest(ctx, client.Runs, id); err != nil {
			return err
		}
	}
	if c.follow {
		return c.tail(ctx, client, id, q)
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

// tail follows the log to the end of the run. An outage is told once on stderr,
// and whatever ends following says how to go on without a gap.
func (c *eventsCmd) tail(ctx context.Context, client *evalrouter.Client, id string, q evalrouter.EventQuery) error {
	t := &flow.Tail{
		Runs: &events{cmd: c, runs: client.Runs}, Disconnect: time.Duration(c.disconnect * float64(time.Second)),
		Now: c.Now, Sleep: c.Sleep, Chance: c.Chance,
		Down: func(cause error) {
			if cause == nil {
				c.Note("Connected again.")
				return
			}
			c.Note("Not connected, trying again. %s", flow.Cause(cause))
		},
	}
	c.Watching(true) // the service holds answers back until something happens
	after, err := t.Follow(ctx, id, q, func(e api.RunEvent) error { return c.JSONLine(e) })
	if errors.Is(err, api.WatchLost) || errors.Is(err, api.WaitCancelled) {
		return command.WithNext(err, c.Again(command.Edit{Drop: []string{"after", "tail"}, Add: []string{"--after", strconv.FormatInt(after, 10)}}))
	}
	return command.WithNext(err, "evalrouter status "+id)
}

// events reads the log, over a restarted service where it is ours to start.
type events struct {
	cmd  *eventsCmd
	runs *evalrouter.Runs
}

// Events reads a piece of the log.
func (e *events) Events(ctx context.Context, id string, q evalrouter.EventQuery) (api.EventPage, error) {
	page, err := e.runs.Events(ctx, id, q)
	if !e.cmd.Local() || !flow.Refused(err) {
		return page, err
	}
	fresh, again := e.cmd.Reconnect(ctx)
	if again != nil {
		return page, err
	}
	e.runs = fresh.Runs
	return e.runs.Events(ctx, id, q)
}

// newest prints the last events and answers the sequence behind which to go on.
func (c *eventsCmd) newest(ctx context.Context, runs *evalrouter.Runs, id string) (int64, error) {
	page, err := runs.Events(ctx, id, evalrouter.EventQuery{Tail: true, Limit: c.last, Types: c.types})
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
