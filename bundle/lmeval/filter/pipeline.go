package filter

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Filter maps the answers to one document. It must not change its argument.
// doc is the document itself; only MultiChoice looks at it.
type Filter interface {
	Apply(resps []any, doc *value.Dict) ([]any, error)
}

// Step names a filter with its arguments, as a task file does.
type Step struct {
	Function string
	Args     *value.Dict // nil for none
}

// Pipeline is a named chain of filters. Its last step may be take_first, which
// hands out the first answer instead of a list.
type Pipeline struct {
	Name    string
	filters []Filter
	first   bool
}

// Default is the pipeline of a task that declares no filters.
func Default() *Pipeline { return &Pipeline{Name: "none", first: true} }

// New builds a pipeline. It refuses functions and arguments it does not know,
// and anything after take_first: the reference would go on letter by letter
// there, which no task means.
func New(name string, steps []Step) (*Pipeline, error) {
	p := &Pipeline{Name: name}
	for i, s := range steps {
		if p.first {
			return nil, fmt.Errorf("build filter %s: step %d (%s) comes after take_first, which leaves no list to filter", name, i+1, s.Function)
		}
		if s.Function == "take_first" {
			if err := none(s.Args); err != nil {
				return nil, fmt.Errorf("build filter %s: take_first: %w", name, err)
			}
			p.first = true
			continue
		}
		f, err := build(s)
		if err != nil {
			return nil, fmt.Errorf("build filter %s: %s: %w", name, s.Function, err)
		}
		p.filters = append(p.filters, f)
	}
	return p, nil
}

// Apply runs all steps. The result is a list, or one answer if the pipeline
// ends with take_first.
func (p *Pipeline) Apply(resps []any, doc *value.Dict) (any, error) {
	for _, f := range p.filters {
		out, err := f.Apply(resps, doc)
		if err != nil {
			return nil, err
		}
		resps = out
	}
	if !p.first {
		return resps, nil
	}
	if len(resps) == 0 {
		return nil, pycompat.Raise("IndexError", "take_first of no answers")
	}
	return resps[0], nil
}

// build makes the filter of one step.
func build(s Step) (Filter, error) {
	switch s.Function {
	case "regex":
		return newRegex(s.Args)
	case "multi_choice_regex":
		return newMultiChoice(s.Args)
	case "map":
		return newMapping(s.Args)
	case "take_first_k":
		return newFirstK(s.Args)
	case "regex_pos":
		return newTags(s.Args)
	}
	f, ok := plain(s.Function)
	if !ok {
		return nil, fmt.Errorf("unsupported filter function")
	}
	return f, none(s.Args)
}
