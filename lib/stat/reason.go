package stat

import (
	"fmt"
	"math"
)

// Reason says why there is no figure. It is an error to be found with
// errors.Is, and short enough to stand beside an empty cell.
type Reason string

// The reasons. All but Impossible are ordinary properties of the data;
// Impossible is a mistake of the caller.
const (
	NoData     Reason = "there are no values"
	TooFew     Reason = "there are too few independent values"
	NoSpread   Reason = "all values are equal, so their spread is unknown"
	Undefined  Reason = "the figure needs more samples of each task"
	Impossible Reason = "the arguments are impossible"
)

// Error is the reason as a sentence without a capital and a full stop.
func (r Reason) Error() string { return string(r) }

func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("use confidence %v: %w", confidence, Impossible)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func checkFinite(values []float64) error {
	for i, v := range values {
		if !finite(v) {
			return fmt.Errorf("use value %d, which is %v: %w", i, v, Impossible)
		}
	}
	return nil
}
