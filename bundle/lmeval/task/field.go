package task

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/lmeval/jinja"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// field is one doc_to_* entry, or a text that may name a column: a constant, or
// a text that is a column if the data has one of that name, else a template.
type field struct {
	raw      any
	template *jinja.Template // for texts
}

// newField reads an entry; nil stays absent.
func newField(v any) (*field, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		t, err := jinja.Parse(v)
		return &field{v, t}, err
	case int64, []any, *value.Dict:
		return &field{v, nil}, nil
	case *Function:
		return nil, fmt.Errorf("%w: %s cannot stand here", ErrFunction, v.Name)
	}
	return nil, fmt.Errorf("a value of type %s is not supported here", value.TypeName(v))
}

// columns are the columns of the task's data.
type columns map[string]bool

// resolve returns the column or the rendered text of a textual field; rendered
// tells them apart.
func (f *field) resolve(c columns, doc *value.Dict) (v any, rendered bool, err error) {
	name := f.raw.(string)
	if c[name] {
		v, ok := doc.Get(name)
		if !ok {
			return nil, false, pycompat.Raise("KeyError", "the document has no column %s", name)
		}
		return v, false, nil
	}
	s, err := f.template.Render(doc)
	return s, true, err
}

// text is doc_to_text: text, or the index of a choice for tasks that put each
// choice into the prompt.
func (f *field) text(c columns, doc *value.Dict, hasChoices bool) (any, error) {
	if _, ok := f.raw.(string); !ok {
		if n, ok := f.raw.(int64); ok {
			return n, nil
		}
		return nil, pycompat.Raise("TypeError", "doc_to_text is of type %s", value.TypeName(f.raw))
	}
	v, rendered, err := f.resolve(c, doc)
	if err != nil || !rendered {
		return v, err
	}
	return digits(v.(string), hasChoices)
}

// digits reads a rendered text that is all digits as a literal, if the task has
// choices. Digits that Python does not read raise SyntaxError.
func digits(s string, hasChoices bool) (any, error) {
	if hasChoices && str.IsDigit(s) {
		return value.LiteralEval(s)
	}
	return s, nil
}

// target is doc_to_target: text, an index, or a list.
func (f *field) target(c columns, doc *value.Dict, hasChoices bool) (any, error) {
	if _, ok := f.raw.(string); !ok {
		if _, dict := f.raw.(*value.Dict); dict {
			return nil, pycompat.Raise("TypeError", "doc_to_target is a dict")
		}
		return f.raw, nil
	}
	v, rendered, err := f.resolve(c, doc)
	if err != nil || !rendered {
		return v, err
	}
	s := v.(string)
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return digits(s, hasChoices)
	}
	list, err := value.LiteralEval(s)
	switch pycompat.Class(err) {
	case "SyntaxError", "ValueError":
		return s, nil
	}
	return list, err
}

// choices is doc_to_choice.
func (f *field) choices(c columns, doc *value.Dict) ([]any, error) {
	v := f.raw
	if _, ok := v.(string); ok {
		var rendered bool
		var err error
		if v, rendered, err = f.resolve(c, doc); err != nil {
			return nil, err
		}
		if rendered {
			if v, err = value.LiteralEval(v.(string)); err != nil {
				return nil, err
			}
		}
	}
	switch v := v.(type) {
	case []any:
		return v, nil
	case value.Tuple:
		return v, nil
	case *value.Dict:
		if f.raw != any(v) {
			break
		}
		var out []any
		for _, x := range v.All() {
			out = append(out, x)
		}
		return out, nil
	}
	return nil, pycompat.Raise("TypeError", "the choices are of type %s", value.TypeName(v))
}

// plain is a text such as a description or a prefix, "" if absent.
func (f *field) plain(c columns, doc *value.Dict) (string, error) {
	if f == nil {
		return "", nil
	}
	v, _, err := f.resolve(c, doc)
	if err != nil || v == nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", pycompat.Raise("TypeError", "%s is of type %s", value.Repr(f.raw), value.TypeName(v))
	}
	return s, nil
}
