package stat

import (
	"fmt"
	"math"
)

// Tally counts on how many tasks the first of two models scored higher, the
// same, or lower than the second.
type Tally struct{ Wins, Ties, Losses int }

// Compare counts two lists of scores on the same tasks, in the same order.
// Scores tie when they are equal as float64: round scores first that come
// from different arithmetic. Unequal lengths and scores that are not finite
// are Impossible.
func Compare(first, second []float64) (Tally, error) {
	if len(first) != len(second) {
		return Tally{}, fmt.Errorf("pair %d scores with %d: %w", len(first), len(second), Impossible)
	}
	var t Tally
	for i, a := range first {
		b := second[i]
		switch {
		case !finite(a) || !finite(b):
			return Tally{}, fmt.Errorf("compare score %d, which is %v against %v: %w", i, a, b, Impossible)
		case a > b:
			t.Wins++
		case a < b:
			t.Losses++
		default:
			t.Ties++
		}
	}
	return t, nil
}

// N counts the tasks.
func (t Tally) N() int { return t.Wins + t.Ties + t.Losses }

// WinRate is the mean of 1 for a win, ½ for a tie and 0 for a loss, so that
// the rates of the two models always add up to 1. It fails with NoData
// without tasks and with Impossible for a negative count.
func (t Tally) WinRate() (Estimate, error) {
	if t.Wins < 0 || t.Ties < 0 || t.Losses < 0 {
		return Estimate{}, fmt.Errorf("use the counts %+v: %w", t, Impossible)
	}
	n := t.N()
	if n == 0 {
		return Estimate{}, NoData
	}
	w, d, l, nf := float64(t.Wins), float64(t.Ties), float64(t.Losses), float64(n)
	e := Estimate{Mean: (w + d/2) / nf, N: n, Units: n}
	switch {
	case n == 1:
		e.reason = TooFew
	case t.Wins == n || t.Ties == n || t.Losses == n:
		e.reason = NoSpread
	default:
		m := e.Mean
		squares := w*(1-m)*(1-m) + d*(0.5-m)*(0.5-m) + l*m*m
		e.stdErr = math.Sqrt(squares / nf / (nf - 1))
	}
	return e, nil
}

// SignTest is the exact two-sided p-value that wins and losses are equally
// likely. Ties say nothing about that and do not enter; for scores of 0 and 1
// it is McNemar.
func (t Tally) SignTest() (float64, error) { return McNemar(t.Wins, t.Losses) }
