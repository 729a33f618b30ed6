package review

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Launcher starts what was reviewed and reads money.
type Launcher interface {
	Launch(ctx context.Context, d route.Draft, desk flow.Desk) (flow.Launched, error)
	LaunchGroup(ctx context.Context, d route.Draft, desk flow.GroupDesk) (flow.LaunchedGroup, error)
	Resume(ctx context.Context, p route.Plan, desk flow.ResumeDesk) (flow.Launched, error)
	ResumeGroup(ctx context.Context, p route.Plan, desk flow.GroupResumeDesk) (flow.LaunchedGroup, error)
	Credits(ctx context.Context) (api.CreditsRecord, error)
}

// work is what a review is of: one run, a group, or a continuation of either. The
// consent to it is the same for all of them.
type work struct {
	place plain.Safe
	start string // the price row, before its cap: "Start run"
	sent  string // the way back while no answer came
	// launch asks for a quote under a cap, and leads to a place.
	launch func(ctx context.Context, spend usd.Micro, d desk) (any, error)
}

// New asks for the quote of a draft and for the credit.
func New(l Launcher, now func() time.Time, d route.Draft) (kit.Screen, []kit.Effect) {
	if len(d.Picks) > 1 {
		return begin(l, now, d.Cap, group(l, d))
	}
	return begin(l, now, d.Cap, work{
		place: "Run  4/4  Review the quote", start: "Start run",
		sent: "A start was sent and no answer came yet. The same run in the workspace or on the command line finds it, and starts nothing twice.",
		launch: func(ctx context.Context, spend usd.Micro, k desk) (any, error) {
			d.Cap = spend
			out, err := l.Launch(ctx, d, runDesk{k})
			return route.Live{ID: out.Run.ID}, err
		},
	})
}

func group(l Launcher, d route.Draft) work {
	return work{
		place: "Run  4/4  Review the group quote", start: "Start " + show.Plural(len(d.Picks), "run"),
		sent: "A start of a group was sent and no answer came yet. The same models in the workspace or on the command line find it, and start nothing twice.",
		launch: func(ctx context.Context, spend usd.Micro, k desk) (any, error) {
			d.Cap = spend
			out, err := l.LaunchGroup(ctx, d, groupDesk{k})
			return route.Group{ID: out.Group.ID, Watch: true}, err
		},
	}
}

// Resume asks for the quote of a continuation and for the credit.
func Resume(l Launcher, now func() time.Time, p route.Plan) (kit.Screen, []kit.Effect) {
	if p.Group != nil {
		return begin(l, now, p.Cap, regroup(l, p))
	}
	return begin(l, now, p.Cap, work{
		place: show.F("Resume  Review the quote of run %s", show.Short(p.Run.ID)), start: "Start resume",
		sent: string(show.F("A start was sent and no answer came yet. evalrouter resume %s finds it, and starts nothing twice.", show.Short(p.Run.ID))),
		launch: func(ctx context.Context, spend usd.Micro, k desk) (any, error) {
			p.Cap = spend
			out, err := l.Resume(ctx, p, resumeDesk{k})
			return route.Live{ID: out.Run.ID}, err
		},
	})
}

func regroup(l Launcher, p route.Plan) work {
	id := show.Short(p.Group.ID)
	return work{
		place: show.F("Resume  Review the quote of group %s", id), start: "Start resume",
		sent: string(show.F("A start of a group was sent and no answer came yet. evalrouter group resume %s finds it, and starts nothing twice.", id)),
		launch: func(ctx context.Context, spend usd.Micro, k desk) (any, error) {
			p.Cap = spend
			out, err := l.ResumeGroup(ctx, p, regroupDesk{k})
			return route.Group{ID: out.Group.ID, Watch: true}, err
		},
	}
}
