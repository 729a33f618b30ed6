package table

import (
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// lay prints one row, on as many lines as its longest folded cell needs.
func lay(row []plain.Safe, show []head, w []int) (out []plain.Safe) {
	parts, high := make([][]plain.Safe, len(row)), 1
	for i, cell := range row {
		parts[i] = []plain.Safe{cell}
		if show[i].fold {
			parts[i] = fold(cell, w[i])
		}
		high = max(high, len(parts[i]))
	}
	for n := range high {
		var b strings.Builder
		for i := range row {
			var cell plain.Safe
			if n < len(parts[i]) {
				cell = parts[i][n]
			}
			text := plain.Pad(cell, w[i])
			if show[i].right {
				text = plain.Safe(strings.Repeat(" ", max(0, w[i]-plain.Width(cell)))) + plain.Cut(cell, w[i])
			}
			b.WriteString(string(text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", gap))
			}
		}
		out = append(out, plain.Safe(strings.TrimRight(b.String(), " ")))
	}
	return out
}

// fold breaks a cell into lines of at most limit cells, after a blank or a
// separator of paths where there is one. Nothing is added or left out, so that
// the lines in a row are the cell.
func fold(cell plain.Safe, limit int) (out []plain.Safe) {
	for plain.Width(cell) > limit {
		end, nice, used := 0, 0, 0
		for i, r := range cell {
			used += plain.Width(cell[i : i+utf8.RuneLen(r)])
			if used > limit && end > 0 {
				break
			}
			end = i + utf8.RuneLen(r)
			if r == '/' || r == '\\' || r == ' ' {
				nice = end
			}
		}
		if nice > 0 {
			end = nice
		}
		out = append(out, cell[:end])
		cell = cell[end:]
	}
	return append(out, cell)
}
