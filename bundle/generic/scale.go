package generic

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word behind a number may be part of it: 5 thousand is 5,000. These are the
// words, and the neighbours that make a number something else.

// scaleAt reads what scales the digits at [from,i): the power of ten, where it
// ends, and why the whole cannot be read, if so.
func (x lexer) scaleAt(from, i int) (power, end int, why string) {
	end = i
	for n := 0; n < 3; n++ {
		word, start, to := wordAt(x.text, end)
		p := x.locale.scale(strings.ToLower(word))
		if p == 0 {
			break
		}
		if start > end && x.text[start-1] == '-' && n > 0 {
			break
		}
		if r, w := after(x.text, to); r == '-' {
			if next, _ := after(x.text, to+w); unicode.IsLetter(next) {
				return power, to, "a scale word that is part of a name"
			}
		}
		power, end = power+p, to
	}
	if power > 0 {
		return power, end, ""
	}
	if p, to := x.money(from, i); p > 0 {
		return p, to, ""
	}
	return x.han(i)
}

// scale is the power of ten that a word in lower case stands for, 0 for any
// other word. The million of one language is the billion of none, but the
// billion of English is not that of German.
func (l locale) scale(word string) int {
	switch word {
	case "million", "millions":
		return 6
	}
	switch l {
	case "de":
		return map[string]int{"hundert": 2, "tausend": 3, "millionen": 6, "mio": 6, "milliarde": 9, "milliarden": 9, "mrd": 9, "billion": 12, "billionen": 12}[word]
	case "fr":
		return map[string]int{"cent": 2, "cents": 2, "mille": 3, "milliard": 9, "milliards": 9, "billion": 12, "billions": 12}[word]
	}
	switch strings.TrimSuffix(word, "s") {
	case "hundred":
		return 2
	case "thousand":
		return 3
	case "lakh":
		return 5
	case "mn", "mln":
		return 6
	case "crore":
		return 7
	case "bn", "bln", "billion":
		return 9
	case "trillion":
		return 12
	case "quadrillion":
		return 15
	}
	return 0
}

// wordAt is the word of ASCII letters behind i, after at most one space or
// hyphen.
func wordAt(text string, i int) (word string, from, to int) {
	from = i
	if r, w := after(text, i); r == ' ' || r == '-' || r == '\u00a0' || r == '\u202f' {
		from += w
	}
	const longest = 12
	to = from
	for to < len(text) && to-from <= longest && ('a' <= text[to]|0x20 && text[to]|0x20 <= 'z') {
		to++
	}
	if r, _ := after(text, to); to == from || unicode.IsLetter(r) || unicode.IsNumber(r) {
		return "", i, i
	}
	return text[from:to], from, to
}

// money reads the letter of $5M and 5M €. Without a currency such a letter is
// a unit or a name.
func (x lexer) money(from, i int) (power, end int) {
	word, start, to := wordAt(x.text, i)
	if len(word) != 1 || start > i && word[0] >= 'a' {
		return 0, i
	}
	next, w := after(x.text, to)
	if next == ' ' {
		next, _ = after(x.text, to+w)
		if !unicode.Is(unicode.Sc, next) {
			next = ' '
		}
	}
	left, _ := before(x.text, from)
	ends := next == 0 || unicode.IsSpace(next) || strings.ContainsRune(".,;:!?)]}*_\"'", next)
	if !unicode.Is(unicode.Sc, next) && (!unicode.Is(unicode.Sc, left) || !ends) {
		return 0, i
	}
	switch word[0] | 0x20 {
	case 'k':
		return 3, to
	case 'm':
		return 6, to
	case 'b':
		return 9, to
	case 't':
		return 12, to
	}
	return 0, i
}

// han reads 5万 and 3亿. A sign that also begins a unit, and one that more
// digits follow, is not decided.
func (x lexer) han(i int) (power, end int, why string) {
	at := i
	if at < len(x.text) && x.text[at] == ' ' {
		at++
	}
	r, w := after(x.text, at)
	next, _ := after(x.text, at+w)
	const undecided = "a Chinese numeral that is not read"
	switch r {
	case '万', '萬':
		power = 4
	case '亿', '億':
		power = 8
	case '千':
		if strings.ContainsRune("克米瓦卡帕焦伏", next) {
			return 0, i, ""
		}
		return 0, at + w, undecided
	case '百', '兆', '十':
		return 0, at + w, undecided
	default:
		return 0, i, ""
	}
	if d, _ := digitAt(x.text[at+w:]); d >= 0 || strings.ContainsRune("零一二三四五六七八九十百千万萬亿億", next) {
		return 0, at + w, undecided
	}
	return power, at + w, ""
}

// vulgar reads a vulgar fraction such as ½.
func vulgar(r rune) (mantissa, divisor string) {
	const signs = "½1/2 ⅓1/3 ⅔2/3 ¼1/4 ¾3/4 ⅕1/5 ⅖2/5 ⅗3/5 ⅘4/5 ⅙1/6 ⅚5/6 ⅐1/7 ⅛1/8 ⅜3/8 ⅝5/8 ⅞7/8 ⅑1/9 ⅒1/10 ↉0/3 "
	if r != '¼' && r != '½' && r != '¾' && (r < '⅐' || r > '↉') {
		return "", ""
	}
	_, rest, ok := strings.Cut(signs, string(r))
	if !ok {
		return "", ""
	}
	rest, _, _ = strings.Cut(rest, " ")
	mantissa, divisor, _ = strings.Cut(rest, "/")
	return mantissa, divisor
}

// vulgarAt lexes a vulgar fraction.
func (x lexer) vulgarAt(i int) (number, int, bool) {
	r, w := utf8.DecodeRuneInString(x.text[i:])
	a, b := vulgar(r)
	if a == "" {
		return number{}, 0, false
	}
	n := number{at: region{i, i + w}, mantissa: a, divisor: b}
	if next, _ := after(x.text, i+w); wordy(next) || numeral(next) || unicode.Is(unicode.Nd, next) {
		n.unread = "a fraction that goes on"
	}
	x.finish(&n)
	return n, n.at.to, true
}
