package data

import (
	"context"
	"errors"
	"net/http"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Open is "evalrouter open": a run's or a group's page in the browser.
func Open(a *command.App) *argv.Command {
	off, group, live, signed := false, false, false, false
	fs := argv.NewFlags("open")
	fs.Bool(&off, "no-browser", "print the address only")
	fs.Bool(&group, "group", "the comparison page of a group; needs its whole id")
	fs.Bool(&live, "live", "with --group: its live status")
	fs.Bool(&signed, "link", "an address that needs no sign-in, for 15 min")
	return &argv.Command{
		Name: "open", Args: "RUN", Short: "Open the live report page of a run, or of a group",
		Long:     "No browser opens in CI, over SSH, without a display or with\nEVALROUTER_NO_BROWSER=1; the address is printed in any case.",
		Examples: []string{"evalrouter open 3f2a9c", "evalrouter open 3f2a9c --json"},
		Flags:    fs,
		Exec: func(ctx context.Context, args []string) error {
			switch {
			case group:
				return openGroup(ctx, a, args, live, off, signed)
			case live:
				return &argv.UsageError{Message: "--live belongs to --group; a run's page is live by itself"}
			}
			id, err := a.OneRun(ctx, args)
			if err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			r, err := c.Runs.Get(ctx, id)
			if err != nil {
				return err
			}
			page := command.PageOf(r)
			if signed || page == "" {
				page, err = linked(page, signed, func() (api.Link, error) { return c.Runs.Link(ctx, r.ID, api.LinkLive) })
				if err != nil {
					return err
				}
			}
			if page == "" {
				return noPages("evalrouter status "+command.Short(id), "evalrouter results "+command.Short(id))
			}
			return shown(a, opened{RunID: r.ID, URL: page}, off)
		},
	}
}

// linked is a signed address. A service that makes none has pages for who is signed
// in, or none at all.
func linked(page string, must bool, ask func() (api.Link, error)) (string, error) {
	l, err := ask()
	var call *evalrouter.Error
	if errors.As(err, &call) && call.Status == http.StatusNotFound && !must {
		return page, nil
	}
	return l.URL, err
}

func noPages(next ...string) error {
	return command.WithNext(&flow.Error{
		Code: api.FeatureUnavailable, Message: "this service has no pages for people",
		Facts: []string{"the run and its results are there all the same"},
	}, next...)
}

func shown(a *command.App, o opened, off bool) error {
	o.Reason = a.Viewer(off).Page(o.URL)
	o.Opened = o.Reason == ""
	return a.Value(o, func(p *term.Page) {
		p.Line("%s", o.URL)
		if o.Reason != "" {
			a.Note("Not opened: %s.", o.Reason)
		}
	})
}

// fullID is the length of an id.
const fullID = 36

// openGroup opens a page of a group on the website. It takes the whole id, so
// that nobody looks at another group by mistake, and downloads nothing.
func openGroup(ctx context.Context, a *command.App, args []string, live, off, signed bool) error {
	if len(args) != 1 {
		return &argv.UsageError{Message: "name one group", Next: "evalrouter group list"}
	}
	if err := flow.CheckGroupID(args[0]); err != nil {
		return command.WithNext(err, "evalrouter group list")
	}
	if len(args[0]) != fullID {
		return &argv.UsageError{Message: "open --group needs the whole id of the group, all 36 characters", Next: "evalrouter group list --wide"}
	}
	c, err := a.Client(ctx)
	if err != nil {
		return err
	}
	g, err := c.Groups.Get(ctx, args[0])
	if err != nil {
		return err
	}
	link, purpose := g.Links.Report, api.LinkComparison
	if live {
		link, purpose = g.Links.Live, api.LinkLive
	}
	if signed || link == nil || *link == "" {
		page, err := linked("", signed, func() (api.Link, error) { return c.Groups.Link(ctx, g.ID, purpose) })
		if err != nil {
			return err
		}
		link = &page
	}
	if *link == "" {
		return noPages("evalrouter group status "+command.Short(g.ID), "evalrouter group compare "+command.Short(g.ID)+" --format html")
	}
	return shown(a, opened{GroupID: g.ID, URL: *link}, off)
}

// opened is what "open" did, as JSON.
type opened struct {
	RunID   string `json:"run_id,omitempty"`
	GroupID string `json:"group_id,omitempty"`
	URL     string `json:"url"`
	Opened  bool   `json:"opened"`
	Reason  string `json:"reason,omitempty"`
}
