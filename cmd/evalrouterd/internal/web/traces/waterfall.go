package traces

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// width of the drawing, in its own units.
const width = 1000

// step is a line of the waterfall.
type step struct {
	core.Span
	// Depth is how many steps it stands in, at most maxDepth.
	Depth int
	// X and W are where its bar begins and how long it is.
	X, W int64
	// Orphan says that its parent has not come.
	Orphan bool
	Here   bool
	Link   string
}

const maxDepth = 8

// waterfall orders the steps of a trace as its tree: each below the one that it
// stands in, brothers by their start. A step whose parent is not there stands at
// the top, and so does one that is its own ancestor.
func waterfall(spans []core.Span) []step {
	there := make(map[string]bool, len(spans))
	below := map[string][]core.Span{}
	for _, s := range spans {
		there[s.ID] = true
	}
	for _, s := range spans {
		up := s.ParentID
		if !there[up] {
			up = ""
		}
		below[up] = append(below[up], s)
	}
	from, to := bounds(spans)
	out, seen := make([]step, 0, len(spans)), make(map[string]bool, len(spans))
	type place struct {
		span  core.Span
		depth int
	}
	var stack []place
	push := func(list []core.Span, depth int) {
		for _, s := range slices.Backward(list) { // the first lies on top
			stack = append(stack, place{s, depth})
		}
	}
	drain := func() {
		for len(stack) > 0 {
			p := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[p.span.ID] {
				continue
			}
			seen[p.span.ID] = true
			x, w := bar(p.span, from, to)
			out = append(out, step{Span: p.span, Depth: min(p.depth, maxDepth), X: x, W: w, Orphan: p.span.ParentID != "" && !there[p.span.ParentID]})
			push(below[p.span.ID], p.depth+1)
		}
	}
	push(below[""], 0)
	drain()
	for _, s := range spans { // circles, which nothing at the top leads to
		if !seen[s.ID] {
			push([]core.Span{s}, 0)
			drain()
		}
	}
	return out
}

func bounds(spans []core.Span) (from, to int64) {
	for i, s := range spans {
		if i == 0 || s.Start < from {
			from = s.Start
		}
		to = max(to, s.Start, s.End)
	}
	return from, to
}

// bar is where a step lies between the bounds. One that goes on reaches to the
// end, and the shortest one is seen.
func bar(s core.Span, from, to int64) (x, w int64) {
	if to <= from {
		return 0, width
	}
	end := s.End
	if end == 0 {
		end = to
	}
	scale := func(at int64) int64 { return int64(float64(at-from) / float64(to-from) * width) }
	x = min(scale(s.Start), width-4)
	return x, max(4, min(scale(end), width)-x)
}

// readable is JSON with line breaks; a text is the text itself.
func readable(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
