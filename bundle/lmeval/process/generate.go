package process

import (
	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Generated is a metric of a text that a model wrote.
type Generated struct {
	// Name is exact_match, bleu, chrf or ter.
	Name  string
	Exact metric.ExactMatch // for exact_match
}

// Generate scores a document by the text that the model wrote for it.
type Generate struct{ Metrics []Generated }

// Results scores one answer. gold is what doc_to_target gave; with choices, an
// index of one of them. A list of targets is right if any is. A gold value
// that is no text is compared as Python writes it.
//
// answer is what the filters left; only text can be scored.
func (g Generate) Results(answer, gold any, choices []string) (*value.Dict, error) {
	text, ok := answer.(string)
	if !ok {
		return nil, pycompat.Raise("TypeError", "the filtered answer is of type %s", value.TypeName(answer))
	}
	gold, err := generatedGold(gold, choices)
	if err != nil {
		return nil, err
	}
	out := collect()
	for _, m := range g.Metrics {
		if m.Name != "exact_match" {
			out.set(m.Name, []any{gold, text})
			continue
		}
		score, err := exactMatch(m.Exact, text, gold)
		if err != nil {
			return nil, err
		}
		out.set(m.Name, score)
	}
	return out.d, nil
}

// generatedGold is the text, or the list of texts, that an answer is held to.
func generatedGold(gold any, choices []string) (any, error) {
	if list, ok := gold.([]any); ok {
		for i, v := range list {
			if _, ok := v.(string); !ok {
				return nil, pycompat.Raise("TypeError", "target %d is of type %s", i, value.TypeName(v))
			}
		}
		return list, nil
	}
	if choices == nil {
		return value.Str(gold), nil
	}
	i, ok := gold.(int64)
	if !ok {
		return nil, pycompat.Raise("TypeError", "a target of type %s is no index of a choice", value.TypeName(gold))
	}
	if i < 0 {
		i += int64(len(choices))
	}
	if i < 0 || i >= int64(len(choices)) {
		return nil, pycompat.Raise("IndexError", "choice %d of %d", i, len(choices))
	}
	return choices[i], nil
}

func exactMatch(m metric.ExactMatch, text string, gold any) (float64, error) {
	list, several := gold.([]any)
	if !several {
		return m.Score([]string{text}, []string{gold.(string)})
	}
	if len(list) == 0 {
		return 0, pycompat.Raise("ValueError", "the list of targets is empty")
	}
	texts, golds := make([]string, len(list)), make([]string, len(list))
	for i, v := range list {
		texts[i], golds[i] = text, v.(string)
	}
	score, err := m.Score(texts, golds)
	return number(score > 0), err
}
