package ported

import (
	"math"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// DropDoc adds id and answers to a document: each answer a list of spans, none
// of them twice.
func DropDoc(doc *value.Dict) (*value.Dict, error) {
	first, err := object(doc, "answer")
	if err != nil {
		return nil, err
	}
	candidates := []*value.Dict{first}
	validated, err := object(doc, "validated_answers")
	if err != nil {
		return nil, err
	}
	var columns [3][]any
	for i, key := range []string{"number", "date", "spans"} {
		if columns[i], err = list(validated, key); err != nil {
			return nil, err
		}
	}
	for i := range columns[0] {
		if i >= len(columns[1]) || i >= len(columns[2]) {
			return nil, pycompat.Raise("IndexError", "validated answer %d is incomplete", i)
		}
		candidates = append(candidates, value.DictOf("number", columns[0][i], "date", columns[1][i], "spans", columns[2][i]))
	}
	var answers []any
	for _, c := range candidates {
		a, err := dropAnswer(c)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(answers, func(b any) bool { return value.Equal(a, b) }) {
			answers = append(answers, a)
		}
	}
	added := []any{}
	for _, pair := range [][2]string{{"id", "query_id"}, {"passage", "passage"}, {"question", "question"}} {
		v, ok := doc.Get(pair[1])
		if !ok {
			return nil, pycompat.Raise("KeyError", "the document has no %s", pair[1])
		}
		added = append(added, pair[0], v)
	}
	return extended(doc, append(added, "answers", answers)...)
}

// dropAnswer is a number, spans, or a date, as spans.
func dropAnswer(c *value.Dict) (any, error) {
	n, ok := c.Get("number")
	if !ok {
		return nil, pycompat.Raise("KeyError", "an answer has no number")
	}
	if !value.Equal(n, "") {
		return []any{value.Str(n)}, nil
	}
	spans, err := list(c, "spans")
	if err != nil {
		return nil, err
	}
	if len(spans) > 0 {
		return spans, nil
	}
	date, err := object(c, "date")
	if err != nil {
		return nil, err
	}
	var parts [3]string
	for i, key := range []string{"day", "month", "year"} {
		if parts[i], err = member(date, key); err != nil {
			return nil, err
		}
	}
	return []any{str.Strip(strings.Join(parts[:], " "))}, nil
}

// Drop compares answers as the DROP benchmark does.
type Drop struct{ articles *re.Regexp }

// NewDrop returns the comparison.
func NewDrop() Drop { return Drop{re.MustCompile(`\b(a|an|the)\b`, 0)} }

// Results is the best exact match and F1 over the answers of a document.
func (d Drop) Results(doc *value.Dict, results []any) (*value.Dict, error) {
	golds, err := list(doc, "answers")
	if err != nil {
		return nil, err
	}
	pred, err := answer(results)
	if err != nil {
		return nil, err
	}
	var exact, f1 any = int64(0), int64(0)
	for _, g := range golds {
		spans, err := texts(g)
		if err != nil {
			return nil, err
		}
		if len(spans) == 0 {
			return nil, pycompat.Raise("IndexError", "an answer has no spans")
		}
		em, f, err := d.Score([]string{pred}, spans)
		if err != nil {
			return nil, err
		}
		if str.Strip(spans[0]) == "" {
			continue
		}
		exact, f1 = larger(exact, em), larger(f1, f)
	}
	return value.DictOf("em", exact, "f1", f1), nil
}

// larger is Python's max, which keeps the first of equals.
func larger(have any, next float64) any {
	if f, _ := value.Float(have); next > f {
		return next
	}
	return have
}

func texts(v any) ([]string, error) {
	var items []any
	switch l := v.(type) {
	case []any:
		items = l
	case value.Tuple:
		items = l
	default:
		items = []any{v}
	}
	out := make([]string, len(items))
	for i, x := range items {
		s, ok := x.(string)
		if !ok {
			return nil, pycompat.Raise("AttributeError", "span %d is of type %s", i, value.TypeName(x))
		}
		out[i] = s
	}
	return out, nil
}

// Score is exact match (1 or 0) and F1 in hundredths of two lists of spans,
// which are paired so that the sum of their F1 is largest. Neither is empty.
func (d Drop) Score(predicted, gold []string) (exact, f1 float64, err error) {
	preds, predBags, err := d.bags(predicted)
	if err != nil {
		return 0, 0, err
	}
	golds, goldBags, err := d.bags(gold)
	if err != nil {
		return 0, 0, err
	}
	if len(preds) == len(golds) && sameSet(preds, golds) {
		exact = 1
	}
	scores := make([][]float64, len(goldBags))
	for i, g := range goldBags {
		scores[i] = make([]float64, len(predBags))
		for j, p := range predBags {
			if numbersMatch(g, p) {
				scores[i][j] = bagF1(p, g)
			}
		}
	}
	best := make([]float64, max(len(goldBags), len(predBags)))
	for i, j := range assign(scores) {
		if j >= 0 {
			best[i] = scores[i][j]
		}
	}
	return exact, math.RoundToEven(numpy.Mean(best)*100) / 100, nil
}

type bag map[string]bool

func (d Drop) bags(spans []string) ([]string, []bag, error) {
	normal := make([]string, len(spans))
	bags := make([]bag, len(spans))
	for i, s := range spans {
		var err error
		if normal[i], err = d.normal(s); err != nil {
			return nil, nil, err
		}
		bags[i] = bag{}
		for _, w := range str.Split(normal[i]) {
			bags[i][w] = true
		}
	}
	return normal, bags, nil
}

// normal lowers and cleans each word; a number becomes the repr of its float.
func (d Drop) normal(s string) (string, error) {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ReplaceAll(s, "-", " "), func(r rune) bool { return r == ' ' }) {
		w = str.Lower(w)
		if _, err := number.ParseFloat(w); err != nil {
			w = strings.Map(func(r rune) rune {
				if strings.ContainsRune(punctuation, r) {
					return -1
				}
				return r
			}, w)
		}
		if f, err := number.ParseFloat(w); err == nil {
			w = number.Repr(f)
		}
		w, err := d.articles.Sub(" ", w)
		if err != nil {
			return "", err
		}
		if w = strings.Join(str.Split(w), " "); w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " "), nil
}

func sameSet(a, b []string) bool {
	in := func(x string, l []string) bool { return slices.Contains(l, x) }
	for _, x := range a {
		if !in(x, b) {
			return false
		}
	}
	for _, x := range b {
		if !in(x, a) {
			return false
		}
	}
	return true
}

// numbersMatch reports whether gold has no number or shares one.
func numbersMatch(gold, pred bag) bool {
	any := false
	for w := range gold {
		if _, err := number.ParseFloat(w); err == nil {
			if any = true; pred[w] {
				return true
			}
		}
	}
	return !any
}

func bagF1(pred, gold bag) float64 {
	both := 0.0
	for w := range gold {
		if pred[w] {
			both++
		}
	}
	precision, recall := 1.0, 1.0
	if len(pred) > 0 {
		precision = both / float64(len(pred))
	}
	if len(gold) > 0 {
		recall = both / float64(len(gold))
	}
	if precision == 0 && recall == 0 {
		return 0
	}
	return 2 * precision * recall / (precision + recall)
}
