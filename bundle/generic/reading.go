package generic

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
)

// extraction is the reading that decides: lenient or strict.
type extraction string

func (o options) extraction() extraction {
	return extraction(o.f.OneOf("extraction", "lenient", "strict"))
}

// reading is what one way to read an answer came to. found is nil when it
// extracted nothing.
type reading struct {
	found *region
	right bool
	rule  string
}

func (r reading) outcome(a bundle.Answer) bundle.Outcome {
	switch {
	case r.right:
		return bundle.Right
	case a.Finish == bundle.FinishLength:
		return bundle.Truncated
	case strings.TrimSpace(a.Text) == "":
		return bundle.Empty
	case r.found == nil:
		return bundle.ExtractionFailed
	}
	return bundle.Wrong
}

// verdict labels a decision and records both readings.
func (e extraction) verdict(a bundle.Answer, lenient, strict reading) bundle.Verdict {
	chosen, other, name := lenient, strict, "strict"
	if e == "strict" {
		chosen, other, name = strict, lenient, "lenient"
	}
	v := bundle.Verdict{Outcome: chosen.outcome(a), Rule: chosen.rule, Strict: strict.outcome(a), Lenient: lenient.outcome(a)}
	if chosen.right {
		v.Score = 1
	}
	if r := chosen.found; r != nil {
		v.Extracted = a.Text[r.from:r.to]
		from := utf8.RuneCountInString(a.Text[:r.from])
		v.Span = &[2]int{from, from + utf8.RuneCountInString(v.Extracted)}
	}
	if v.Outcome == bundle.Empty {
		v.Rule = "no text"
	}
	if o := other.outcome(a); o != v.Outcome {
		v.Rule += "; " + name + " " + string(o)
	}
	return v
}

// formal is where the form that was asked for puts the answer: behind
// "ANSWER:" on the last line, else the whole text if it is one line.
func formal(text string) (region, bool) {
	whole := trimRegion(text, region{0, len(text)}, unicode.IsSpace)
	if whole.empty() {
		return region{}, false
	}
	line := region{strings.LastIndexByte(text[:whole.to], '\n') + 1, whole.to}
	line = trimRegion(text, line, unicode.IsSpace)
	const label = "ANSWER:"
	if s := text[line.from:line.to]; len(s) >= len(label) && strings.EqualFold(s[:len(label)], label) {
		line.from += len(label)
		line = trimRegion(text, line, unicode.IsSpace)
		return line, !line.empty()
	}
	return whole, line.from == whole.from
}
