package store

import (
	"fmt"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A run's number stands for its id in the tables that have a row for every task
// or call. It never changes once it is committed.

// maxNums bounds how many numbers are remembered.
const maxNums = 1024

// numOf is the number of the run whose id is argument n of a statement.
func numOf(n int) string { return "(SELECT num FROM runs WHERE id = $" + strconv.Itoa(n) + ")" }

// num is a run's number, core.ErrMoved for a run that is not there. One that this transaction has read may be undone with
// it, so it is remembered only after the commit.
func (t *tx) num(run core.RunID) (int64, error) {
	if n, ok := t.w.nums[run]; ok {
		return n, nil
	}
	if n, ok := t.nums[run]; ok {
		return n, nil
	}
	var n int64
	if err := moved(t.peek(`SELECT num FROM runs WHERE id = $1`, string(run)).Scan(&n)); err != nil {
		return 0, fmt.Errorf("read the number of run %s: %w", run, err)
	}
	if t.nums == nil {
		t.nums = map[core.RunID]int64{}
	}
	t.nums[run] = n
	return n, nil
}

func (w *writer) remember(nums map[core.RunID]int64) {
	if len(w.nums)+len(nums) > maxNums {
		clear(w.nums)
	}
	for run, n := range nums {
		w.nums[run] = n
	}
}

// lockOf ends a SELECT of several tables, of which the rows of one are to stay
// as they are until the commit.
func (w *writer) lockOf(table string) string {
	if w.lock == "" {
		return ""
	}
	return w.lock + " OF " + table
}
