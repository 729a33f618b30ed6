package source

import (
	"context"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// Groups are the newest groups.
func (s *Source) Groups(ctx context.Context) (out []api.GroupRecord, err error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	for g, err := range c.Groups.All(ctx, evalrouter.GroupQuery{Paging: evalrouter.Paging{Limit: 100}}) {
		if err != nil {
			s.Reconnect(err)
			return nil, err
		}
		if out = append(out, g); len(out) == listMost {
			break
		}
	}
	return out, nil
}

// Group is one group as it stands.
func (s *Source) Group(ctx context.Context, id string) (api.GroupRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.GroupRecord, error) { return c.Groups.Get(ctx, id) })
}

// WatchGroup follows a group until every member has ended.
func (s *Source) WatchGroup(ctx context.Context, id string, seen func(flow.Update, api.GroupRecord)) (api.GroupRecord, error) {
	r := &members{s: s}
	w := &flow.Watcher{
		Runs: r, Disconnect: flow.DefaultDisconnect, What: "group", Stays: "its runs go on without this terminal, and their caps still hold",
		Seen: func(u flow.Update) { seen(u, r.last) }, Now: s.Now, Sleep: s.Sleep, Chance: s.Chance,
	}
	_, err := w.Watch(ctx, id)
	return r.last, err
}

// members reads a group as a watcher reads a run. The group itself is kept
// beside.
type members struct {
	s    *Source
	last api.GroupRecord
}

var _ flow.RunReader = (*members)(nil)

// Get reads the group; of the run it gives what a watcher looks at.
func (m *members) Get(ctx context.Context, id string) (api.RunRecord, error) {
	g, err := m.s.Group(ctx, id)
	if err != nil {
		return api.RunRecord{}, err
	}
	m.last = g
	return api.RunRecord{GroupID: &g.ID, Status: g.Status, CreatedAt: g.CreatedAt, StartedAt: g.StartedAt, FinishedAt: g.FinishedAt}, nil
}

// CancelGroup stops every member that goes on.
func (s *Source) CancelGroup(ctx context.Context, id string) (api.GroupRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.GroupRecord, error) { return c.Groups.Cancel(ctx, id) })
}
