package report

import "fmt"

// bar is a figure drawn on the axis from 0 to 100 %, which is never narrowed,
// in tenths of a percent. The drawing stretches with the page, so that its
// words stand beside it as text.
type bar struct {
	Figure
	From, Width, At string
}

// axis lays out figures. Only those that are shares have a place on it.
func axis(figures []Figure) (out []bar) {
	for _, f := range figures {
		lower, upper := f.Lower, f.Upper
		if f.Interval == "" {
			lower, upper = f.Point, f.Point
		}
		out = append(out, bar{f, tenths(lower), tenths(upper - lower), tenths(f.Point)})
	}
	return out
}

func tenths(percent float64) string { return fmt.Sprintf("%.1f", 10*percent) }
