package ported

import "math"

// assign pairs rows with columns so that the sum of scores is largest, by the
// Hungarian method. It returns the column of each row, -1 for none.
func assign(scores [][]float64) []int {
	rows := len(scores)
	out := make([]int, rows)
	for i := range out {
		out[i] = -1
	}
	if rows == 0 || len(scores[0]) == 0 {
		return out
	}
	columns := len(scores[0])
	if rows > columns {
		turned := make([][]float64, columns)
		for j := range turned {
			turned[j] = make([]float64, rows)
			for i := range rows {
				turned[j][i] = scores[i][j]
			}
		}
		for j, i := range assign(turned) {
			out[i] = j
		}
		return out
	}
	h := hungarian{
		cost: func(i, j int) float64 { return -scores[i][j] },
		u:    make([]float64, rows+1), v: make([]float64, columns+1), row: make([]int, columns+1),
	}
	for i := 1; i <= rows; i++ {
		h.insert(i)
	}
	for j := 1; j <= columns; j++ {
		if h.row[j] > 0 {
			out[h.row[j]-1] = j - 1
		}
	}
	return out
}

// hungarian keeps the potentials of rows and columns, counted from 1; row is
// the row of each column, column 0 being the one that looks for a place.
type hungarian struct {
	cost func(i, j int) float64
	u, v []float64
	row  []int
}

// insert finds the cheapest augmenting path for one more row.
func (h *hungarian) insert(i int) {
	n := len(h.v)
	least, from, done := make([]float64, n), make([]int, n), make([]bool, n)
	for j := range least {
		least[j] = math.Inf(1)
	}
	h.row[0] = i
	at := 0
	for h.row[at] != 0 {
		done[at] = true
		next, delta := 0, math.Inf(1)
		for j := 1; j < n; j++ {
			if done[j] {
				continue
			}
			if c := h.cost(h.row[at]-1, j-1) - h.u[h.row[at]] - h.v[j]; c < least[j] {
				least[j], from[j] = c, at
			}
			if least[j] < delta {
				next, delta = j, least[j]
			}
		}
		for j := range n {
			if done[j] {
				h.u[h.row[j]] += delta
				h.v[j] -= delta
			} else {
				least[j] -= delta
			}
		}
		at = next
	}
	for at != 0 {
		h.row[at] = h.row[from[at]]
		at = from[at]
	}
}
