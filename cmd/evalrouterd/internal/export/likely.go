package export

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Likelihood is one part of a task that was asked in parts: what was asked, and
// what the recorded response says.
type Likelihood struct {
	bundle.Ask
	bundle.LogProb
}

// likely is the grader of a run whose tasks are asked in parts, nil for any
// other run.
func likely(r Run) (lmeval.Likely, error) {
	if !slices.Contains(r.Quote.Profile.Needs, core.OffersLogprobs) {
		return nil, nil
	}
	var cfg bundle.GraderConfig
	if err := json.Unmarshal(r.Quote.Profile.GraderConfig, &cfg); err != nil {
		return nil, fmt.Errorf("read grader: %w", err)
	}
	g, err := lmeval.NewLikely(cfg)
	if err != nil {
		return nil, fmt.Errorf("make grader: %w", err)
	}
	return g, nil
}

// answerOfParts makes the answer of a task out of the recorded responses to all of its
// parts. Usage is that of every response, also where some are missing; the text
// is there when none is.
func (d *Reader) answerOfParts(ctx context.Context, row Row, g lmeval.Likely) (Answer, error) {
	a := Answer{Finish: row.Finish}
	recorded, err := d.parts.of(row.Idx, d.r.Planned, func(from, to int) ([]core.Reply, error) {
		return d.s.Replies.Parts(ctx, core.Scope{Workspace: d.r.Workspace}, d.r.ID, from, to)
	})
	if err != nil {
		return a, fmt.Errorf("read parts of task %d: %w", row.Idx, err)
	}
	task, err := d.Task(ctx, row.Idx)
	if err != nil {
		return a, fmt.Errorf("read task %d: %w", row.Idx, err)
	}
	asks, err := g.Asks(task)
	if err != nil {
		return a, fmt.Errorf("read task %d: %w", row.Idx, err)
	}
	for _, p := range recorded {
		if p.State != core.CallResponded && p.State != core.CallLate {
			continue
		}
		if err := a.spend(p.UsageDoc); err != nil {
			return a, fmt.Errorf("read usage of part %d of task %d: %w", p.Part, row.Idx, err)
		}
		if d.r.RawExpired || p.Raw == nil {
			a.Expired = true
			continue
		}
		if p.Part != len(a.Likely) || p.Part >= len(asks) {
			continue
		}
		if read, err := g.Read(asks[p.Part], p.Raw); err == nil {
			a.Likely = append(a.Likely, Likelihood{asks[p.Part], read})
		}
	}
	if a.Expired || len(a.Likely) < len(asks) {
		a.Likely = nil
		return a, nil
	}
	read := make([]bundle.LogProb, len(a.Likely))
	for i, l := range a.Likely {
		read[i] = l.LogProb
	}
	text, err := g.Text(task, read)
	if err != nil {
		return a, fmt.Errorf("write answer of task %d: %w", row.Idx, err)
	}
	a.say(text)
	return a, nil
}

// spend adds the usage of one response.
func (a *Answer) spend(doc string) error {
	if doc == "" {
		return nil
	}
	var u core.Usage
	if err := json.Unmarshal([]byte(doc), &u); err != nil {
		return err
	}
	if a.Usage == nil {
		a.Usage = &core.Usage{}
	}
	*a.Usage = a.Usage.Plus(u)
	return nil
}
