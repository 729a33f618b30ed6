package generic

import (
	"regexp"
	"strings"
)

// locale is how numbers are written where an answer comes from:
//
//	en  1,234.5 (the apostrophe and a narrow or fixed space group as well)
//	de  1.234,5 (likewise)
//	fr  1 234,5: a fixed or narrow space groups, a point is no part of a number
//	in  1,23,456.7
//
// What the locale does not write so is passed over as no number: 1.5 is not
// read as 15 in de, nor as 1.5.
type locale string

var (
	groupRun  = regexp.MustCompile(`^[1-9]\d{0,2}(?:(?:,\d{3})+|(?:'\d{3})+|(?: \d{3})+)(?:\.\d+)?$`)
	lakhRun   = regexp.MustCompile(`^[1-9]\d?(?:,\d{2})*,\d{3}(?:\.\d+)?$`)
	swapMarks = strings.NewReplacer(",", ".", ".", ",")
	noGroups  = strings.NewReplacer(",", "", "'", "", " ", "")
)

// comma says whether the decimal mark is a comma.
func (l locale) comma() bool { return l == "de" || l == "fr" }

// digits reads a run of digits and separators (see lexer.run) as digits with
// at most one point. It says false for a run that is no number.
func (l locale) digits(run string) (string, bool) {
	if l == "fr" && strings.ContainsRune(run, '.') {
		return "", false
	}
	if l.comma() {
		run = swapMarks.Replace(run)
	}
	if !plain(run) {
		groups := groupRun
		if l == "in" {
			groups = lakhRun
		}
		if !groups.MatchString(run) {
			return "", false
		}
		run = noGroups.Replace(run)
	}
	return run, len(run) <= maxDigits
}

// whole says whether a run is digits alone, plain whether it is digits with at
// most one point, which may not end it.
func whole(run string) bool {
	for i := range len(run) {
		if run[i] < '0' || run[i] > '9' {
			return false
		}
	}
	return run != ""
}

func plain(run string) bool {
	head, tail, point := strings.Cut(run, ".")
	if !point {
		return whole(run)
	}
	return (head == "" || whole(head)) && whole(tail)
}
