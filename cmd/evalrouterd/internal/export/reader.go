package export

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/scribe"
)

// ahead is how many tasks a Reader reads at once.
const ahead = 64

// Reader reads what belongs to the tasks of a run for somebody who goes through
// them in order: what was asked, what was answered, what judges said. It reads a
// block ahead, because asking the database once a task costs several times what
// a file of that task costs. The first block is of one task, so that a reader of
// one task reads no more. It is for one goroutine.
type Reader struct {
	s      Source
	r      Run
	order  core.Order
	tasks  map[int]bundle.Task // by position
	placed bool                // a block of tasks was read
	judges replies
	parts  replies
	grader lmeval.Likely // where tasks are asked in parts
	made   bool
}

// Reader begins to read a run.
func (s Source) Reader(r Run) *Reader { return &Reader{s: s, r: r, order: r.Quote.Order()} }

// Task is what was asked at a place of the run.
func (d *Reader) Task(ctx context.Context, idx int) (bundle.Task, error) {
	pos := d.order.At(idx)
	if t, ok := d.tasks[pos]; ok {
		return t, nil
	}
	block := []int{pos}
	if d.placed {
		for next := idx + 1; next < d.r.Planned && len(block) < ahead; next++ {
			block = append(block, d.order.At(next))
		}
	}
	d.placed = true
	tasks, err := d.s.Tasks.TasksAt(ctx, d.r.Quote.Profile, block)
	if err == nil && len(block) > 1 {
		if _, ok := tasks[pos]; !ok { // large tasks, and others of the block came first
			tasks, err = d.s.Tasks.TasksAt(ctx, d.r.Quote.Profile, block[:1])
		}
	}
	if err != nil {
		return bundle.Task{}, err
	}
	d.tasks = tasks
	return tasks[pos], nil
}

// replies is a block of recorded replies, in the order of the tasks [from, to).
type replies struct {
	from, to int
	list     []core.Reply
}

// of gives the replies about one task, and reads the block that begins with it
// where it is not there.
func (b *replies) of(idx, planned int, read func(from, to int) ([]core.Reply, error)) ([]core.Reply, error) {
	if idx < b.from || idx >= b.to {
		n := ahead
		if b.to == 0 {
			n = 1
		}
		to := max(min(idx+n, planned), idx+1)
		list, err := read(idx, to)
		if err != nil {
			return nil, err
		}
		*b = replies{idx, to, list}
	}
	for len(b.list) > 0 && b.list[0].Idx < idx {
		b.list, b.from = b.list[1:], b.list[0].Idx+1
	}
	n := 0
	for n < len(b.list) && b.list[n].Idx == idx {
		n++
	}
	return b.list[:n], nil
}

// likely is the grader of a run whose tasks are asked in parts, nil for any
// other.
func (d *Reader) likely() (lmeval.Likely, error) {
	if d.made {
		return d.grader, nil
	}
	g, err := likely(d.r)
	if err != nil {
		return nil, err
	}
	d.grader, d.made = g, true
	return g, nil
}

// Answer reads the recorded answer of a row.
func (d *Reader) Answer(ctx context.Context, row Row) (Answer, error) {
	if g, err := d.likely(); err != nil || g != nil && row.State != core.SamplePlanned {
		if err != nil {
			return Answer{}, err
		}
		return d.answerOfParts(ctx, row, g)
	}
	a := Answer{Finish: row.Finish}
	if row.UsageDoc != "" {
		u, err := scribe.ReadUsage(row.UsageDoc)
		if err != nil {
			return a, fmt.Errorf("read usage of task %d: %w", row.Idx, err)
		}
		a.Usage = &u
	}
	switch {
	case d.r.RawExpired && (row.Raw != nil || row.Finish != ""):
		a.Expired = true
	case row.Raw != nil:
		adapter, ok := d.s.Adapters[d.r.Quote.Target.Protocol]
		if !ok {
			return a, fmt.Errorf("read answer of task %d: no adapter for %s", row.Idx, d.r.Quote.Target.Protocol)
		}
		if text, ok := said(adapter, row.Raw); ok {
			a.say(text)
		}
	case row.Finish != "":
		a.Expired = true
	}
	return a, nil
}

// said is the text of a recorded answer.
func said(adapter provider.Adapter, raw []byte) (text string, ok bool) {
	if teller, can := adapter.(provider.Teller); can {
		if text, ok := teller.Text(raw); ok {
			return text, true
		}
	}
	o := adapter.Parse(raw)
	return o.Text, o.Class == provider.Answered
}
