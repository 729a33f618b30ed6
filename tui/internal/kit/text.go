package kit

import (
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Wrap breaks a block into lines of at most width columns, at spaces where
// there are any. Its own line breaks stay.
func Wrap(s plain.Safe, width int) []plain.Safe {
	var out []plain.Safe
	width = max(width, 1)
	for line := range strings.SplitSeq(strings.ReplaceAll(string(s), "\t", "    "), "\n") {
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

func wrapLine(line string, width int) []plain.Safe {
	if plain.Width(plain.Safe(line)) <= width {
		return []plain.Safe{plain.Safe(line)}
	}
	var out []plain.Safe
	for line != "" {
		n, space, w := 0, -1, 0
		for i, r := range line {
			c := plain.Width(plain.Safe(string(r)))
			if w+c > width && i > 0 {
				break
			}
			w += c
			n = i + len(string(r))
			if r == ' ' {
				space = i
			}
		}
		if n < len(line) && space > 0 && line[n] != ' ' {
			n = space
		}
		out = append(out, plain.Safe(strings.TrimRight(line[:n], " ")))
		line = strings.TrimLeft(line[n:], " ")
	}
	return out
}
