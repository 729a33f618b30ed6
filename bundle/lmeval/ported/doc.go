// Package ported holds Python functions of public lm-eval tasks, ported one by
// one: HellaSwag, DROP, MATH (Hendrycks), TruthfulQA MC2, and the text part of
// Minerva MATH.
//
// Minerva's own comparison is not here: it needs a computer algebra system, and
// a grade that is right only sometimes would carry that task's name.
//
// Functions lists what a task file may name. The names are those of lm-eval's
// task folders; whoever reads a task of another origin must not offer them for
// a module of the same name that holds other code.
package ported

import (
	"github.com/evalrouter/evalrouter/bundle/lmeval/ifeval"
	"github.com/evalrouter/evalrouter/bundle/lmeval/task"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Functions are the ported functions by folder, module and name.
func Functions() map[string]*task.Function {
	math := NewMath()
	drop := NewDrop()
	out := map[string]*task.Function{}
	for _, f := range []*task.Function{
		{Name: "hellaswag/utils.process_docs", Doc: HellaSwag},
		{Name: "drop/utils.process_docs", Doc: DropDoc},
		{Name: "drop/utils.process_results", Results: drop.Results},
		{Name: "hendrycks_math/utils.process_docs", Doc: MathDoc},
		{Name: "hendrycks_math/utils.process_results", Results: math.Results},
		{Name: "truthfulqa/utils.process_results_mc2", Results: TruthfulQA},
		{Name: "ifeval/utils.process_results", Results: ifeval.Checker{}.Results},
		{Name: "ifeval/utils.agg_inst_level_acc", Aggregate: ifeval.Aggregate},
	} {
		out[f.Name] = f
	}
	return out
}

// extended is a document with columns added or replaced, as a data set maps
// its rows: the other columns stay.
func extended(doc *value.Dict, columns ...any) (*value.Dict, error) {
	out := doc.Copy()
	for i := 0; i+1 < len(columns); i += 2 {
		if err := out.Set(columns[i], columns[i+1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// member reads a text of a document.
func member(doc *value.Dict, key string) (string, error) {
	v, ok := doc.Get(key)
	if !ok {
		return "", pycompat.Raise("KeyError", "the document has no %s", key)
	}
	s, ok := v.(string)
	if !ok {
		return "", pycompat.Raise("TypeError", "%s is of type %s", key, value.TypeName(v))
	}
	return s, nil
}

// object reads a mapping of a document.
func object(doc *value.Dict, key string) (*value.Dict, error) {
	v, ok := doc.Get(key)
	if !ok {
		return nil, pycompat.Raise("KeyError", "the document has no %s", key)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, pycompat.Raise("TypeError", "%s is of type %s", key, value.TypeName(v))
	}
	return d, nil
}

// list reads a list of a document.
func list(doc *value.Dict, key string) ([]any, error) {
	v, ok := doc.Get(key)
	if !ok {
		return nil, pycompat.Raise("KeyError", "the document has no %s", key)
	}
	switch l := v.(type) {
	case []any:
		return l, nil
	case value.Tuple:
		return l, nil
	}
	return nil, pycompat.Raise("TypeError", "%s is of type %s", key, value.TypeName(v))
}

// answer is the one text that the filters left.
func answer(results []any) (string, error) {
	if len(results) == 0 {
		return "", pycompat.Raise("IndexError", "there is no answer")
	}
	s, ok := results[0].(string)
	if !ok {
		return "", pycompat.Raise("TypeError", "the answer is of type %s", value.TypeName(results[0]))
	}
	return s, nil
}
