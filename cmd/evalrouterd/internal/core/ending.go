package core

// Ending is what a run's end is computed from.
type Ending struct {
	Run        Run
	Unresolved int
	Scores     Scores
	Errors     map[string]int
	// Mismatches counts reused answers that were graded again and got another
	// score.
	Mismatches int
	Now        Micros
}

// Scores sums the graded tasks: how many, their sum and sum of squares.
type Scores struct {
	N          int
	Sum, SumSq float64
}
