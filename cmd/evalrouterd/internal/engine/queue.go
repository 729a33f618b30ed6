package engine

import (
	"sort"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// queue is what is left to ask, in the order of the quote. Tasks that are
// planned again come before those that were never opened.
type queue struct {
	redo  []store.Redo // sorted by place
	next  int
	total int
}

func newQueue(p store.Progress, total int) queue {
	return queue{redo: p.Redo, next: p.Next, total: total}
}

func (q *queue) empty() bool { return len(q.redo) == 0 && q.next >= q.total }

// peek gives up to n places without taking them, with the attempts each had.
func (q *queue) peek(n int) []store.Redo {
	out := append([]store.Redo(nil), q.redo[:min(n, len(q.redo))]...)
	for i := q.next; i < q.total && len(out) < n; i++ {
		out = append(out, store.Redo{Idx: i})
	}
	return out
}

// take removes the first n places.
func (q *queue) take(n int) {
	k := min(n, len(q.redo))
	q.redo = q.redo[k:]
	q.next += n - k
}

// again puts a place back.
func (q *queue) again(r store.Redo) {
	i := sort.Search(len(q.redo), func(i int) bool { return q.redo[i].Idx >= r.Idx })
	q.redo = append(q.redo, store.Redo{})
	copy(q.redo[i+1:], q.redo[i:])
	q.redo[i] = r
}
