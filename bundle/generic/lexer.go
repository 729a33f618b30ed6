package generic

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer finds the numbers of a text.
//
// It first takes the longest run of digits and of the separators that stand
// between two digits, and only then asks whether the run is a number. A run
// that is not one (1.2.3, 10:30, 12,34) is passed over whole and never
// yields its tail.
//
// A number is: decimal digits of any script; a point; groups of digits, as the
// locale writes both; an exponent (1e3, 1.2 × 10^3, 10⁻³); a
// fraction of two numbers (3/4, 3 / 4, \frac{3}{4}, ½), after a whole number
// too (2 1/2, 2½); a scale word behind any of them (5 thousand, $5M). A minus
// is a sign unless something stands before it that it could be subtracted
// from. A currency sign may stand before, a percent sign after.
//
// Digits that touch a letter of a script with spaces between words are part
// of a name (x2, 42nd), except before the usual unit letters (5km). A name is
// passed over. Digits that are part of a quantity which is not read (√2, 2π,
// 2^10, ±7, >7, 3 × 4, 12,34) are yielded as a number without a value.
type lexer struct {
	text   string
	locale locale
}

var (
	expTail   = regexp.MustCompile(`^[eE]([+\-−]?)(\d+)`)
	powerTail = regexp.MustCompile(`^\s?(?:[x×*·]|\\times|\\cdot)\s?10(?:\^\s?\{?\s?([+\-−]?\d{1,3})(?:\s?\})?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))`)
	percTail  = regexp.MustCompile(`^[ \x{00a0}\x{202f}]?(?:%|％|﹪|٪|\\%|(?i:percent|per cent)\b)`)
	unitTail  = regexp.MustCompile(`^(?:[kcmμµ]?m|[kmμµ]?g|[kmMGT]?[WV]|[kMGT]B|[kM]?Hz|[mcd]?[lL]|in|ft|yd|mi|mph|kph|kmh|lbs?|oz|st|hrs?|h|mins?|secs?|m?s|kWh|kcal|cal|[CFJN]|kN|kPa|Pa|ha)(?:[^\p{L}\p{Nd}_]|$)`)

	zero = rat("0")
)

// each calls yield for the numbers in order until it returns false.
func (x lexer) each(yield func(number) bool) { x.within(0, len(x.text), yield) }

// last is the last number. It reads lines from the end, because most answers
// end with the number that counts.
func (x lexer) last() (n number, found bool) {
	for to := len(x.text); to > 0 && !found; {
		from := x.lineStart(to)
		x.within(from, to, func(m number) bool { n, found = m, true; return true })
		to = from
	}
	return n, found
}

// lineStart is the start of the last line before a place with which no number
// of an earlier line can go on: a power, a fraction and its braces may stand on
// two lines.
func (x lexer) lineStart(to int) int {
	for {
		i := strings.LastIndexByte(x.text[:max(0, to-1)], '\n') + 1
		if i == 0 {
			return 0
		}
		first := byte(0)
		if i < len(x.text) {
			first = x.text[i]
		}
		fresh := first < utf8.RuneSelf && strings.IndexByte(" \t\n\r\v\f1x*\\{}", first) < 0
		line := strings.TrimRight(x.text[max(0, i-4):i], " \t\n\f\r") // a pattern passes over two at most
		if fresh && !strings.HasSuffix(line, "{") && !strings.HasSuffix(line, "^") {
			return i
		}
		to = i
	}
}

// within is each for the numbers that start in a part of the text.
func (x lexer) within(from, to int, yield func(number) bool) {
	var held *number // a whole number that a fraction may still complete
	flush := func() bool {
		if held == nil {
			return true
		}
		n := *held
		held = nil
		return yield(n)
	}
	for i := from; i < to; {
		if c := x.text[i]; c < utf8.RuneSelf && c > '9' && c != '\\' {
			i++ // no number starts here
			continue
		}
		n, end, ok := x.at(i)
		if end == 0 {
			_, w := utf8.DecodeRuneInString(x.text[i:])
			i += w
			continue
		}
		i = end
		if !ok {
			continue
		}
		if m, joined := x.join(held, n); joined {
			held, n = nil, m
		}
		if !flush() {
			return
		}
		held = &n
	}
	flush()
}

// at lexes what starts at byte i. end is 0 when no run starts there; ok says
// whether the run is a number.
func (x lexer) at(i int) (n number, end int, ok bool) {
	switch c := x.text[i]; {
	case c == '\\':
		return x.latex(i)
	case c == 0xc2 || c == 0xe2: // the signs of vulgar fractions begin so
		if n, end, ok := x.vulgarAt(i); end > 0 {
			return n, end, ok
		}
	}
	run, end := x.run(i)
	if end == 0 {
		return number{}, 0, false
	}
	digits, good := x.locale.digits(run)
	n = number{at: region{i, end}, mantissa: digits}
	unread := func(why string) {
		if n.unread == "" {
			n.unread = why
		}
	}
	if !good {
		unread(unreadForm)
	}
	left := gluedLeft(x.text, i)
	unread(left.unread)
	if whole(run) {
		if d, to, isFraction := x.divisor(end); isFraction {
			n.divisor, end = d, to
			if d == "" {
				unread(unreadDivision)
			}
		}
	}
	if n.divisor == "" {
		var fits bool
		if n.exponent, end, fits = x.exponent(end); !fits {
			unread(unreadRange)
		}
	}
	var why string
	n.scale, end, why = x.scaleAt(i, end)
	unread(why)
	right := gluedRight(x.text, end)
	unread(right.unread)
	n.at.to = end
	if left.name || right.name {
		return number{}, end, false
	}
	x.finish(&n)
	return n, max(end, n.at.to), true
}

// finish adds sign and percent sign, and looks at what stands on both sides.
func (x lexer) finish(n *number) {
	tail := x.text[n.at.to:min(len(x.text), n.at.to+16)]
	if strings.ContainsAny(tail, "%％﹪٪pP") {
		m := percTail.FindString(tail)
		n.percent = m != ""
		n.at.to += len(m)
	}
	if from, minus := sign(x.text, n.at.from, n.at.to); minus {
		n.negative, n.at.from = true, from
	}
	if n.unread == "" {
		n.unread = x.obstacle(n.at.from, n.at.to)
	}
}

// run takes digits and the separators between them, written in ASCII: the
// comma for all forms of it, the apostrophe, a space, the colon, the point.
func (x lexer) run(i int) (string, int) {
	var b []byte
	j := i
	if x.text[j] == '.' {
		if x.locale.comma() || !pointStarts(x.text, j) {
			return "", 0
		}
		b, j = append(b, '.'), j+1
	} else if d, _ := digitAt(x.text[j:]); d < 0 {
		return "", 0
	}
	for j < len(x.text) {
		if d, w := digitAt(x.text[j:]); d >= 0 {
			if len(b) <= 2*maxDigits { // longer is no number anyhow
				b = append(b, byte('0'+d))
			}
			j += w
			continue
		}
		s, w := separatorAt(x.text[j:])
		if w == 0 {
			break
		}
		if d, _ := digitAt(x.text[j+w:]); d < 0 {
			break
		}
		b = append(b, s)
		j += w
	}
	return string(b), j
}

// divisor takes "/b" or " / b" behind a whole number. A divisor of "" means that what
// stands there is no fraction but still belongs to the run (a date, 1/0).
func (x lexer) divisor(i int) (string, int, bool) {
	w := slashAt(x.text[i:])
	if w == 0 {
		if !strings.HasPrefix(x.text[i:], " / ") {
			return "", i, false
		}
		w = len(" / ")
	}
	if d, _ := digitAt(x.text[i+w:]); d < 0 {
		return "", i, false
	}
	run, end := x.run(i + w)
	good := whole(run) && len(run) <= maxDigits && rat(run).Cmp(zero) != 0
	for {
		w := slashAt(x.text[end:])
		if w == 0 {
			break
		}
		if d, _ := digitAt(x.text[end+w:]); d < 0 {
			break
		}
		_, end = x.run(end + w)
		good = false
	}
	if !good {
		return "", end, true
	}
	return run, end, true
}

func (x lexer) exponent(i int) (exp, end int, fits bool) {
	tail := x.text[i:min(len(x.text), i+64)]
	if tail == "" || !strings.ContainsRune("eE", rune(tail[0])) && !strings.Contains(tail, "10") {
		return 0, i, true // most numbers end here, without a look at the patterns
	}
	if m := expTail.FindStringSubmatch(tail); m != nil {
		exp, fits = exponentValue(m[1] + m[2])
		return exp, i + len(m[0]), fits
	}
	if m := powerTail.FindStringSubmatch(tail); m != nil {
		exp, fits = exponentValue(m[1] + plainSuperscript(m[2]))
		return exp, i + len(m[0]), fits
	}
	return 0, i, true
}

func exponentValue(s string) (int, bool) {
	s = strings.Replace(s, "−", "-", 1)
	v, err := strconv.Atoi(s)
	return v, err == nil && v >= -maxExponent && v <= maxExponent
}

func plainSuperscript(s string) string {
	return strings.NewReplacer("⁺", "+", "⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4",
		"⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9").Replace(s)
}

// digitAt is the value of the decimal digit that text starts with and its
// width in bytes, -1 when it starts with none.
func digitAt(text string) (int, int) {
	if text == "" {
		return -1, 0
	}
	if c := text[0]; c < utf8.RuneSelf {
		if c < '0' || c > '9' {
			return -1, 0
		}
		return int(c - '0'), 1
	}
	r, w := utf8.DecodeRuneInString(text)
	if !unicode.Is(unicode.Nd, r) {
		return -1, 0
	}
	// Unicode keeps the ten digits of a script together and in order, and
	// every range of Nd holds whole scripts.
	for _, rg := range unicode.Nd.R16 {
		if lo, hi := rune(rg.Lo), rune(rg.Hi); r >= lo && r <= hi {
			return int(r-lo) % 10, w
		}
	}
	for _, rg := range unicode.Nd.R32 {
		if lo, hi := rune(rg.Lo), rune(rg.Hi); r >= lo && r <= hi {
			return int(r-lo) % 10, w
		}
	}
	return -1, 0
}

func separatorAt(text string) (byte, int) {
	for _, s := range [...]struct {
		text string
		is   byte
	}{{".", '.'}, {",", ','}, {"{,}", ','}, {`\,`, ','}, {"，", ','}, {"٬", ','}, {"٫", '.'}, {"．", '.'}, {"'", '\''}, {"’", '\''},
		{"\u00a0", ' '}, {"\u202f", ' '}, {"\u2009", ' '}, {":", ':'}, {"：", ':'}} {
		if strings.HasPrefix(text, s.text) {
			return s.is, len(s.text)
		}
	}
	return 0, 0
}

func slashAt(text string) int {
	for _, s := range [...]string{"/", "⁄", "∕"} {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}
