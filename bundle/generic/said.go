package generic

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A sentence may name the option first: option B is correct, B is the answer.
// It counts like an answer sentence, and refuses more: a condition, a denial or
// a second option beside it makes it say nothing.

var (
	saidMark = regexp.MustCompile(`(?:\b((?i:option|choice|answer))\s+[(\[*_"'“]*([A-Za-z])|(?:^|[\s(\[*_"'“])([A-Z]))[)\]*_"'”.]*\s+` +
		`(?i:is|must\s+be|would\s+be|should\s+be|has\s+to\s+be)\s+[*_]*(?i:(?:therefore|thus|clearly|indeed|definitely|hence)\s+)?` +
		`((?i:(?:the\s+|my\s+|our\s+)?(?:only\s+|final\s+)?(?:(?:correct|right|best)\s+(?:answer|option|choice|one)|answer)|the\s+one|correct|right|best))\b`)
	saidEnd    = regexp.MustCompile(`^[*_)\]"'”]*(?:[.,;:!]|[ \t]*(?:[\r\n]|$)|\s+(?:because|since|as|here|and|while|so)\b)`)
	saidUnsure = regexp.MustCompile(`(?i)\b(?:if|whether|unless|when|suppose|supposing|assume|assuming|neither|nor|either|or|not|why|say|says|said|claims?|think|thinks)\b[^.!?\n]{0,12}$`)
	saidSecond = regexp.MustCompile(`(?:[(\[*_"'“]*\b[A-Z]\b[)\]*_"'”]*\s*(?:,|/|&|\band\b|\bor\b)\s*(?i:option\s+|choice\s+)?)+[(\[*_"'“]*$`)
)

// said is one sentence that names an option first.
type said struct {
	at      region // of the sentence's words
	letter  region
	unclear bool
}

// saidIn finds such sentences in order. Two of one sentence that name different
// options are unclear.
func (p picker) saidIn() []said {
	var out []said
	for _, m := range saidMark.FindAllStringSubmatchIndex(p.text, -1) {
		s := said{at: region{m[0], m[1]}, letter: region{m[4], m[5]}}
		named := m[2] >= 0
		if !named {
			s.letter = region{m[6], m[7]}
		}
		if word := strings.ToLower(p.text[m[8]:m[9]]); !named && (word == "right" || word == "best") {
			continue // right of something, best for something
		}
		const reach = 64
		head := p.text[max(0, m[0]-reach):s.letter.from]
		if i := m[2]; named {
			head = p.text[max(0, m[0]-reach):i]
		}
		s.unclear = !saidEnd.MatchString(p.text[m[1]:min(len(p.text), m[1]+reach)]) || saidUnsure.MatchString(head) || saidSecond.MatchString(head)
		if n := len(out); n > 0 && p.option(out[n-1].letter) != p.option(s.letter) && !strings.ContainsAny(p.text[out[n-1].at.to:s.at.from], ".!?\n") {
			out[n-1].unclear, s.unclear = true, true
		}
		out = append(out, s)
	}
	return out
}

func (p picker) option(r region) byte { return byte(unicode.ToUpper(rune(p.text[r.from]))) }

// sentences reads answer sentences of both forms, the last first.
func (p picker) sentences() (picked, bool) {
	marks, all := lastOf(answerMark.FindAllStringIndex(p.text, -1)), lastOf(p.saidIn())
	for _, at := range slices.Backward(marks) {
		for len(all) > 0 && all[len(all)-1].at.from >= at[0] {
			if got, ok := p.sayingOf(all[len(all)-1]); ok {
				return got, true
			}
			all = all[:len(all)-1]
		}
		if got, ok := p.place(p.line(at[1]), "answer line"); ok {
			return got, true
		}
	}
	for _, s := range slices.Backward(all) {
		if got, ok := p.sayingOf(s); ok {
			return got, true
		}
	}
	return picked{}, false
}

func (p picker) sayingOf(s said) (picked, bool) {
	letter := p.option(s.letter)
	return picked{s.letter, letter, "answer sentence"}, !s.unclear && int(letter-'A') < p.n
}
