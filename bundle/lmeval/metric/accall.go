package metric

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// AccAll is the share of (paragraph, question) groups in which every answer is
// right. Items are pairs [prediction, document].
func AccAll(items []any) (float64, error) {
	groups, err := judged(items, true)
	if err != nil {
		return 0, err
	}
	return Mean(groups)
}

// AccAllStderr groups by question alone, across paragraphs, as the reference
// does.
func AccAllStderr(items []any) (float64, error) {
	groups, err := judged(items, false)
	if err != nil {
		return 0, err
	}
	return MeanStderr(groups)
}

// judged returns 1 or 0 for each group, in the order they are first seen.
func judged(items []any, byParagraph bool) ([]any, error) {
	preds, docs, err := columns(items)
	if err != nil {
		return nil, err
	}
	at := map[[2]any]int{}
	var out []any
	for i, d := range docs {
		paragraph, question, label, err := position(d)
		if err != nil {
			return nil, err
		}
		key := [2]any{nil, question}
		if byParagraph {
			key[0] = paragraph
		}
		g, ok := at[key]
		if !ok {
			g = len(out)
			at[key] = g
			out = append(out, int64(1))
		}
		if !value.Equal(value.Equal(label, int64(1)), preds[i]) {
			out[g] = int64(0)
		}
	}
	return out, nil
}

// position reads idx.paragraph, idx.question and label of a document.
func position(doc any) (paragraph, question, label any, err error) {
	d, ok := doc.(*value.Dict)
	if !ok {
		return nil, nil, nil, pycompat.Raise("TypeError", "a document is of type %s", value.TypeName(doc))
	}
	raw, _ := d.Get("idx")
	idx, ok := raw.(*value.Dict)
	if !ok {
		return nil, nil, nil, pycompat.Raise("KeyError", "a document has no idx")
	}
	p, ok1 := idx.Get("paragraph")
	q, ok2 := idx.Get("question")
	label, ok3 := d.Get("label")
	if !ok1 || !ok2 || !ok3 {
		return nil, nil, nil, pycompat.Raise("KeyError", "a document lacks idx.paragraph, idx.question or label")
	}
	if paragraph, err = value.Key(p); err != nil {
		return nil, nil, nil, err
	}
	question, err = value.Key(q)
	return paragraph, question, label, err
}
