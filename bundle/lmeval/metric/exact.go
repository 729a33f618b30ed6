package metric

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// ExactMatch compares texts after taking away what a task says to ignore: the
// expressions one after the other, then case, then ASCII punctuation, then
// ASCII digits. Nothing else is stripped.
type ExactMatch struct {
	// Ignore is what regexes_to_ignore holds. An empty list that is not nil
	// differs from nil: without the other options the reference then compares
	// two whole lists.
	Ignore            []*re.Regexp
	IgnoreCase        bool
	IgnorePunctuation bool
	IgnoreNumbers     bool
}

const (
	punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	digits      = "0123456789"
)

// Score is the share of predictions equal to the reference at their position.
// The two lists must be of one length, which is not 0.
func (m ExactMatch) Score(predictions, references []string) (float64, error) {
	if len(predictions) != len(references) || len(predictions) == 0 {
		return 0, pycompat.Raise("ValueError", "%d predictions and %d references", len(predictions), len(references))
	}
	if m.Ignore != nil && len(m.Ignore) == 0 && !m.IgnoreCase && !m.IgnorePunctuation && !m.IgnoreNumbers {
		for i := range predictions {
			if predictions[i] != references[i] {
				return 0, nil
			}
		}
		return 1, nil
	}
	got, err := m.normal(predictions)
	if err != nil {
		return 0, err
	}
	want, err := m.normal(references)
	if err != nil {
		return 0, err
	}
	right := 0
	for i := range got {
		if got[i] == want[i] {
			right++
		}
	}
	return float64(right) / float64(len(got)), nil
}

// normal applies the options to one list as numpy does to an array of texts:
// trailing NULs do not exist, and lower case is cut to the width of the array,
// which is the longest text of it.
func (m ExactMatch) normal(texts []string) ([]string, error) {
	out, width := array(texts)
	for _, r := range m.Ignore {
		for i, s := range out {
			var err error
			if out[i], err = r.Sub("", s); err != nil {
				return nil, err
			}
		}
		out, width = array(out)
	}
	for i, s := range out {
		if m.IgnoreCase {
			s = strings.TrimRight(str.Slice(str.Lower(s), 0, width), "\x00")
		}
		if m.IgnorePunctuation {
			s = strings.TrimRight(without(s, punctuation), "\x00")
		}
		if m.IgnoreNumbers {
			s = strings.TrimRight(without(s, digits), "\x00")
		}
		out[i] = s
	}
	return out, nil
}

func array(texts []string) ([]string, int) {
	out := make([]string, len(texts))
	width := 0
	for i, s := range texts {
		width = max(width, str.Len(s))
		out[i] = strings.TrimRight(s, "\x00")
	}
	return out, width
}

func without(s, set string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(set, r) {
			return -1
		}
		return r
	}, s)
}
