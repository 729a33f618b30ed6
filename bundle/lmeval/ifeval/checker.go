package ifeval

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Checker checks responses.
type Checker struct {
	// AssumeEnglish says that every response is taken for English.
	AssumeEnglish bool
}

// Result says which instructions of a document were followed. Loose counts an
// instruction as followed if it is by the response without its first line, its
// last line, both, or without asterisks.
type Result struct {
	Strict, Loose []bool
}

// check decides one text.
type check func(text string) (bool, error)

// Check checks a response against instructions with their arguments.
func (c Checker) Check(ids []string, args []*value.Dict, response string) (Result, error) {
	if len(ids) != len(args) {
		return Result{}, fmt.Errorf("check %d instructions with %d sets of arguments", len(ids), len(args))
	}
	var out Result
	variants := loosely(response)
	for i, id := range ids {
		f, err := c.instruction(id, args[i])
		if err != nil {
			return Result{}, err
		}
		strict, err := follows(f, response)
		if err != nil {
			return Result{}, err
		}
		loose := strict
		for _, v := range variants {
			if loose {
				break
			}
			if loose, err = follows(f, v); err != nil {
				return Result{}, err
			}
		}
		out.Strict, out.Loose = append(out.Strict, strict), append(out.Loose, loose)
	}
	return out, nil
}

// follows is false for a blank text, whatever is asked.
func follows(f check, text string) (bool, error) {
	if str.Strip(text) == "" {
		return false, nil
	}
	return f(text)
}

// loosely are the variants of a response, in the order they are tried.
func loosely(response string) []string {
	lines := strings.Split(response, "\n")
	n := len(lines)
	join := func(from, to int) string {
		if from >= to {
			return ""
		}
		return str.Strip(strings.Join(lines[from:to], "\n"))
	}
	whole := []string{response, join(1, n), join(0, n-1), join(1, n-1)}
	out := []string{bare(whole[0])}
	out = append(out, whole[1:]...)
	for _, s := range whole[1:] {
		out = append(out, bare(s))
	}
	return out
}

func bare(s string) string { return strings.ReplaceAll(s, "*", "") }

// Results is the ported process_results: the document has instruction_id_list
// and kwargs, the first result is the response.
func (c Checker) Results(doc *value.Dict, results []any) (*value.Dict, error) {
	rawIDs, _ := doc.Get("instruction_id_list")
	rawArgs, _ := doc.Get("kwargs")
	idList, ok1 := rawIDs.([]any)
	argList, ok2 := rawArgs.([]any)
	if !ok1 || !ok2 || len(results) == 0 {
		return nil, pycompat.Raise("KeyError", "the document lacks instruction_id_list or kwargs, or there is no response")
	}
	var ids []string
	var args []*value.Dict
	for i, v := range idList {
		id, ok := v.(string)
		if !ok || i >= len(argList) {
			return nil, pycompat.Raise("TypeError", "instruction %d is no text or has no arguments", i)
		}
		a, ok := argList[i].(*value.Dict)
		if !ok {
			return nil, pycompat.Raise("TypeError", "the arguments of instruction %d are no mapping", i)
		}
		ids, args = append(ids, id), append(args, a)
	}
	response, ok := results[0].(string)
	if !ok {
		return nil, pycompat.Raise("TypeError", "the response is of type %s", value.TypeName(results[0]))
	}
	r, err := c.Check(ids, args, response)
	if err != nil {
		return nil, err
	}
	strict, strictAll := listed(r.Strict)
	loose, looseAll := listed(r.Loose)
	return value.DictOf("prompt_level_strict_acc", strictAll, "inst_level_strict_acc", strict,
		"prompt_level_loose_acc", looseAll, "inst_level_loose_acc", loose), nil
}

func listed(followed []bool) (list []any, all bool) {
	list, all = make([]any, len(followed)), true
	for i, f := range followed {
		list[i], all = f, all && f
	}
	return list, all
}

// Aggregate is Accuracy of the values that Results gives for
// inst_level_strict_acc or inst_level_loose_acc.
func Aggregate(items []any) (float64, error) {
	documents := make([][]bool, len(items))
	for i, item := range items {
		list, ok := item.([]any)
		if !ok {
			return 0, pycompat.Raise("TypeError", "item %d is of type %s", i, value.TypeName(item))
		}
		for _, v := range list {
			followed, ok := v.(bool)
			if !ok {
				return 0, pycompat.Raise("TypeError", "item %d holds a value of type %s", i, value.TypeName(v))
			}
			documents[i] = append(documents[i], followed)
		}
	}
	return Accuracy(documents)
}

// Accuracy is the share of instructions followed over all documents. It raises
// ZeroDivisionError for none.
func Accuracy(documents [][]bool) (float64, error) {
	followed, n := 0, 0
	for _, d := range documents {
		for _, f := range d {
			n++
			if f {
				followed++
			}
		}
	}
	if n == 0 {
		return 0, pycompat.Raise("ZeroDivisionError", "no instructions")
	}
	return float64(followed) / float64(n), nil
}
