package lint

import (
	"math/big"
	"strings"
	"unicode"
)

// words cuts a text into what is compared: runs of letters and digits, small.
func words(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	for i, w := range all {
		all[i] = strings.ToLower(w)
	}
	return all
}

func isNumber(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsNumber(r) }) < 0
}

// optionKey is equal for options that a reader cannot tell apart: the same
// number, or the same words.
func optionKey(s string) string {
	s = strings.TrimSpace(s)
	if n, ok := new(big.Rat).SetString(strings.ReplaceAll(s, ",", "")); ok && len(s) < 40 && !strings.ContainsAny(s, "eEpPxXbBoO_") {
		return n.RatString()
	}
	if key := strings.Join(words(s), " "); key != "" && !strings.ContainsFunc(s, symbol) {
		return key
	}
	return s
}

// symbol says whether a character changes what an option says: a formula is
// no sentence.
func symbol(r rune) bool { return unicode.IsSymbol(r) || strings.ContainsRune("-−/*%&#@\\", r) }
