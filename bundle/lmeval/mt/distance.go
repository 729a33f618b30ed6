package mt

import (
	"math"
	"slices"
)

// op is one step of rewriting a prediction into a reference.
type op byte

const (
	undefined op = iota
	keep
	substitute
	insert // a word of the reference that the prediction lacks
	remove // a word of the prediction that the reference lacks
)

type cell struct {
	cost int
	op   op
}

// row is the part of a row of the distance table that was computed.
type row struct {
	low   int
	cells []cell
}

// at is the cell of column j; outside of the beam nothing is reachable.
func (r row) at(j int) cell {
	if j < r.low || j >= r.low+len(r.cells) {
		return cell{math.MaxInt32, undefined}
	}
	return r.cells[j-r.low]
}

// distance is the edit distance within a beam around the diagonal, with the
// steps from left to right. Memory is the beam times the length.
func distance(pred, ref []string) (int, []op) {
	n, m := len(pred), len(ref)
	table := make([]row, n+1)
	table[0].cells = make([]cell, m+1)
	for j := range m + 1 {
		table[0].cells[j] = cell{j, insert}
	}
	ratio := 1.0
	if n > 0 {
		ratio = float64(m) / float64(n)
	}
	beam := beamWidth
	if beamWidth < ratio/2 {
		beam = int(math.Ceil(ratio/2 + beamWidth))
	}
	for i := 1; i <= n; i++ {
		diagonal := int(math.Floor(float64(i) * ratio))
		low, high := max(0, diagonal-beam), min(m+1, diagonal+beam)
		if i == n {
			high = m + 1
		}
		r := row{low, make([]cell, 0, max(high-low, 0))}
		for j := low; j < high; j++ {
			r.cells = append(r.cells, cheapest(table[i-1], r, pred[i-1], ref, j))
		}
		table[i] = r
	}
	return table[n].at(m).cost, backtrack(table, n, m)
}

// cheapest picks the cheapest way into column j of the row that is being
// computed; of equals a match or substitution comes first, then a removal,
// then an insertion.
func cheapest(above, left row, word string, ref []string, j int) cell {
	if j == 0 {
		return cell{above.at(0).cost + 1, remove}
	}
	best := cell{math.MaxInt32, undefined}
	diagonal := cell{above.at(j-1).cost + 1, substitute}
	if word == ref[j-1] {
		diagonal = cell{above.at(j - 1).cost, keep}
	}
	for _, c := range []cell{diagonal, {above.at(j).cost + 1, remove}, {left.at(j-1).cost + 1, insert}} {
		if c.cost < best.cost {
			best = c
		}
	}
	return best
}

func backtrack(table []row, i, j int) []op {
	var back []op
	for i > 0 || j > 0 {
		o := table[i].at(j).op
		back = append(back, o)
		if o != insert {
			i--
		}
		if o != remove {
			j--
		}
	}
	slices.Reverse(back)
	return back
}

// alignment says, for each word of the reference, the position of the
// prediction that it was reached at, and which words take part in an error.
type alignment struct {
	of                  []int
	refWrong, predWrong []bool
}

func align(trace []op) alignment {
	var a alignment
	at := -1
	for _, o := range trace {
		if o != insert {
			at++
			a.predWrong = append(a.predWrong, o != keep)
		}
		if o != remove {
			a.of = append(a.of, at)
			a.refWrong = append(a.refWrong, o != keep)
		}
	}
	return a
}
