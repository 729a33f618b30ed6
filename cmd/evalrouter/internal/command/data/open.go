package data

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Open is "evalrouter open": a run's page in the browser.
func Open(a *command.App) *argv.Command {
	off := false
	fs := argv.NewFlags("open")
	fs.Bool(&off, "no-browser", "print the address only")
	return &argv.Command{
		Name: "open", Args: "RUN", Short: "Open the live report page of a run",
		Long:     "No browser opens in CI, over SSH, without a display or with\nEVALROUTER_NO_BROWSER=1; the address is printed in any case.",
		Examples: []string{"evalrouter open 3f2a9c", "evalrouter open 3f2a9c --json"},
		Flags:    fs,
		Exec: func(ctx context.Context, args []string) error {
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
			if page == "" {
				return command.WithNext(&flow.Error{
					Code: api.FeatureUnavailable, Message: "this service has no pages for people",
					Facts: []string{"the run and its results are there all the same"},
				}, "evalrouter status "+command.Short(id), "evalrouter results "+command.Short(id))
			}
			why := a.Viewer(off).Page(page)
			return a.Value(opened{r.ID, page, why == "", why}, func(p *term.Page) {
				p.Line("%s", page)
				if why != "" {
					a.Note("Not opened: %s.", why)
				}
			})
		},
	}
}

// opened is what "open" did, as JSON.
type opened struct {
	RunID  string `json:"run_id"`
	URL    string `json:"url"`
	Opened bool   `json:"opened"`
	Reason string `json:"reason,omitempty"`
}
