package export

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Reply is what one judge said about an answer, read again from the recorded
// bytes.
type Reply struct {
	core.Reply
	Route   core.RouteID
	Text    *string // nil when there is none, or it expired
	Expired bool
	Usage   *core.Usage
}

// Judges reads the replies about a task's answer, none where a program grades.
func (d *Reader) Judges(ctx context.Context, row Row) ([]Reply, error) {
	r := d.r
	if len(r.Quote.Judges) == 0 || row.State == core.SamplePlanned {
		return nil, nil
	}
	recorded, err := d.judges.of(row.Idx, r.Planned, func(from, to int) ([]core.Reply, error) {
		return d.s.Replies.Replies(ctx, core.Scope{Workspace: r.Workspace}, r.ID, from, to)
	})
	if err != nil {
		return nil, fmt.Errorf("read judges of task %d: %w", row.Idx, err)
	}
	var out []Reply
	for _, p := range recorded {
		if p.Part >= len(r.Quote.Judges) {
			return nil, fmt.Errorf("read judges of task %d: the quote has no judge %d", row.Idx, p.Part+1)
		}
		judge := r.Quote.Judges[p.Part].Target
		reply := Reply{Reply: p, Route: judge.RouteID}
		if p.UsageDoc != "" {
			reply.Usage = &core.Usage{}
			if err := json.Unmarshal([]byte(p.UsageDoc), reply.Usage); err != nil {
				return nil, fmt.Errorf("read usage of judge %d of task %d: %w", p.Part+1, row.Idx, err)
			}
		}
		switch answered := p.State == core.CallResponded || p.State == core.CallLate; {
		case answered && (r.RawExpired || p.Raw == nil):
			reply.Expired = true
		case answered:
			adapter, ok := d.s.Adapters[judge.Protocol]
			if !ok {
				return nil, fmt.Errorf("read judge %d of task %d: no adapter for %s", p.Part+1, row.Idx, judge.Protocol)
			}
			if text, ok := said(adapter, p.Raw); ok {
				reply.Text = &text
			}
		}
		out = append(out, reply)
	}
	return out, nil
}
