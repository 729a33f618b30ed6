package dataset

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// JSON reads an array of objects.
func (r Reader) JSON(data []byte) ([]Sample, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	v, err := value.Loads(text)
	if err != nil {
		return nil, fmt.Errorf("parse dataset: %w", err)
	}
	items, ok := v.([]any)
	if !ok {
		return nil, pycompat.Raise("TypeError", "the dataset is a value of type %s, not an array", value.TypeName(v))
	}
	records := make([]*value.Dict, len(items))
	for i, item := range items {
		if records[i], ok = item.(*value.Dict); !ok {
			return nil, pycompat.Raise("TypeError", "record %d is a value of type %s, not an object", i+1, value.TypeName(item))
		}
	}
	return r.samples(records)
}

// JSONLines reads one object a line. A blank line between records is refused,
// as in the reference.
func (r Reader) JSONLines(data []byte) ([]Sample, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	var records []*value.Dict
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		n++
		if text == "" {
			break
		}
		v, err := value.Loads(str.Strip(line))
		if err != nil {
			return nil, fmt.Errorf("parse line %d: %w", n, err)
		}
		rec, ok := v.(*value.Dict)
		if !ok {
			return nil, pycompat.Raise("TypeError", "line %d is a value of type %s, not an object", n, value.TypeName(v))
		}
		records = append(records, rec)
	}
	return r.samples(records)
}
