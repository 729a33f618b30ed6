package generic

import (
	"regexp"
	"strings"
)

// texFrac is a TeX fraction of two plain numbers, with and without braces. A
// digit without braces stands on the line of its fraction: the next line may
// begin with a number of its own.
var (
	texFrac  = regexp.MustCompile(`^\\[dtc]?frac(?:\s?\{\s?([+\-−]?\d{1,100}(?:\.\d{1,100})?)\s?\}|[ \t]?(\d)|[ \t]? (\d))(?:\s?\{\s?([+\-−]?\d{1,100}(?:\.\d{1,100})?)\s?\}|[ \t]?(\d))`)
	fracHead = regexp.MustCompile(`^\\[dtc]?frac`)
)

// latex lexes \frac{a}{b}. A fraction of anything but two numbers is not read,
// nor are the digits in it.
func (x lexer) latex(i int) (number, int, bool) {
	head := fracHead.FindString(x.text[i:min(len(x.text), i+8)])
	if head == "" {
		return number{}, 0, false
	}
	const longest = 512
	m := texFrac.FindStringSubmatch(x.text[i:min(len(x.text), i+longest)])
	if m == nil {
		end := x.arguments(i+len(head), 2)
		return number{at: region{i, end}, unread: unreadDivision}, end, true
	}
	top, low := m[1]+m[2]+m[3], m[4]+m[5]
	n := number{at: region{i, i + len(m[0])}, mantissa: strings.TrimLeft(top, "+-−"), divisor: strings.TrimLeft(low, "+-−")}
	switch {
	case rat(n.divisor).Sign() == 0:
		n.unread = unreadDivision
	case x.locale.comma() && strings.Contains(top+low, "."):
		n.unread = unreadForm
	}
	n.scale, n.at.to, _ = x.scaleAt(i, n.at.to)
	x.finish(&n)
	if minus(top) != minus(low) {
		n.negative = !n.negative
	}
	return n, n.at.to, true
}

func minus(s string) bool { return strings.HasPrefix(s, "-") || strings.HasPrefix(s, "−") }

// arguments is the end of the next groups in braces, as far as they can be
// told.
func (x lexer) arguments(i, groups int) int {
	const longest = 256
	depth := 0
	for j := i; j < min(len(x.text), i+longest); j++ {
		switch x.text[j] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				if groups--; groups == 0 {
					return j + 1
				}
			}
			if depth < 0 {
				return j
			}
		case '\n':
			return j
		}
	}
	return i
}

// join makes one number of two that stand together: 2 and 1/2, 1 and 234 in a
// locale that groups with spaces. Two that may be one or several become one
// that is not read.
func (x lexer) join(held *number, n number) (number, bool) {
	if held == nil || held.percent || n.at.from < held.at.to {
		return n, false
	}
	between := x.text[held.at.to:n.at.from]
	if between != "" && between != " " && between != " and " {
		return n, false
	}
	undecided := func(why string) (number, bool) {
		return number{at: region{held.at.from, n.at.to}, unread: why}, true
	}
	switch {
	case held.grouped(x.text) && between == " " && n.group(x.text):
		if x.locale != "fr" || held.unread != "" {
			m, _ := undecided(unreadGroups)
			return m, true
		}
		n.mantissa, n.negative, n.at.from = held.mantissa+n.mantissa, held.negative, held.at.from
		return n, true
	case held.unread != "" || n.unread != "":
		return n, false
	case n.divisor != "" && held.divisor == "" && held.exponent == 0 && held.scale == 0 && whole(held.mantissa):
		if n.negative || between == " and " || rat(n.mantissa).Cmp(rat(n.divisor)) >= 0 {
			if between == " " {
				return n, false
			}
			return undecided(unreadSum)
		}
		n.whole, n.negative, n.at.from = held.mantissa, held.negative, held.at.from
		return n, true
	case held.scale > 0 && between != "" && !n.negative && !n.percent && n.value().Cmp(rat("1"+strings.Repeat("0", held.scale))) < 0:
		return undecided(unreadSum)
	case between == "":
		return undecided(unreadSum)
	}
	return n, false
}

// grouped says whether digits may go on behind a number as its next group, and
// group whether a number may be that group.
func (n number) grouped(text string) bool {
	if n.unread == unreadGroups {
		return true
	}
	const most = 3
	plain := n.unread == "" && n.divisor == "" && n.exponent == 0 && n.scale == 0 && whole(n.mantissa)
	return plain && n.mantissa[0] != '0' && (len(n.mantissa) <= most || strings.HasSuffix(text[:n.at.to], " "+n.mantissa[len(n.mantissa)-most:]))
}

func (n number) group(text string) bool {
	const size = 3
	head, _, _ := strings.Cut(n.mantissa, ".")
	d, _ := digitAt(text[n.at.from:])
	return n.unread == "" && n.divisor == "" && n.exponent == 0 && !n.negative && len(head) == size && d >= 0 && whole(head)
}
