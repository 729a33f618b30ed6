package engine

import (
	"iter"
	"sort"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// queue is what is left to ask, in the order of the quote. Tasks that are
// planned again come before those that were never opened.
type queue struct {
	redo  []core.Redo // sorted by place
	next  int
	total int
}

func newQueue(p core.Progress, total int) queue {
	return queue{redo: p.Redo, next: p.Next, total: total}
}

func (q *queue) empty() bool { return q.left() == 0 }

// left is how many tasks are to be asked.
func (q *queue) left() int { return len(q.redo) + max(q.total-q.next, 0) }

// peek yields up to n places without taking them, with the attempts each had.
func (q *queue) peek(n int) iter.Seq[core.Redo] {
	return func(yield func(core.Redo) bool) {
		for i := range min(n, q.left()) {
			next := core.Redo{Idx: q.next + i - len(q.redo)}
			if i < len(q.redo) {
				next = q.redo[i]
			}
			if !yield(next) {
				return
			}
		}
	}
}

// take removes the first n places.
func (q *queue) take(n int) {
	k := min(n, len(q.redo))
	q.redo = q.redo[k:]
	q.next += n - k
}

// again puts a place back.
func (q *queue) again(r core.Redo) {
	i := sort.Search(len(q.redo), func(i int) bool { return q.redo[i].Idx >= r.Idx })
	if i < len(q.redo) && q.redo[i].Idx == r.Idx {
		return // read from the journal meanwhile
	}
	q.redo = append(q.redo, core.Redo{})
	copy(q.redo[i+1:], q.redo[i:])
	q.redo[i] = r
}
