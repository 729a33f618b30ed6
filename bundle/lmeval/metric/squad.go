package metric

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Squad compares answers as the SQuAD metrics do: lower case, ASCII
// punctuation and articles gone, white space single.
type Squad struct{ articles *re.Regexp }

// NewSquad returns the comparison.
func NewSquad() Squad { return Squad{articles: re.MustCompile(`\b(a|an|the)\b`, 0)} }

// Normal is the text that is compared.
func (q Squad) Normal(s string) (string, error) {
	s, err := q.articles.Sub(" ", without(str.Lower(s), punctuation))
	return strings.Join(str.Split(s), " "), err
}

// Exact reports whether both are the same text.
func (q Squad) Exact(prediction, reference string) (bool, error) {
	p, err := q.Normal(prediction)
	if err != nil {
		return false, err
	}
	r, err := q.Normal(reference)
	return p == r, err
}

// F1 is the overlap of words, counted with repetition. Two answers without
// words score 0 in version 1 and 1 in version 2.
func (q Squad) F1(prediction, reference string, version int) (float64, error) {
	p, err := q.Normal(prediction)
	if err != nil {
		return 0, err
	}
	r, err := q.Normal(reference)
	if err != nil {
		return 0, err
	}
	got, want := str.Split(p), str.Split(r)
	if version == 2 && len(got) == 0 && len(want) == 0 {
		return 1, nil
	}
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	same := 0
	for _, w := range got {
		if left[w] > 0 {
			left[w]--
			same++
		}
	}
	if same == 0 {
		return 0, nil
	}
	precision, recall := float64(same)/float64(len(got)), float64(same)/float64(len(want))
	return 2 * precision * recall / (precision + recall), nil
}
