package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/flow"
)

// duplicate finds a member that stands twice in one object of a JSON text, by
// its path. Decoders take the last of the two without a word, which for a cap
// is a guess with someone's money. "" means that there is none.
func duplicate(text []byte) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	return duplicateIn(dec, nil)
}

func duplicateIn(dec *json.Decoder, path []string) (string, error) {
	t, err := dec.Token()
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	for i := 0; t == json.Delim('{') || t == json.Delim('['); i++ {
		if !dec.More() {
			_, err := dec.Token()
			return "", err
		}
		at := append(path, fmt.Sprint(i))
		if t == json.Delim('{') {
			k, err := dec.Token()
			if err != nil {
				return "", err
			}
			name, _ := k.(string) // the decoder gives nothing else here
			at = append(path, name)
			if seen[name] {
				return strings.Join(at, "."), nil
			}
			seen[name] = true
		}
		if found, err := duplicateIn(dec, at); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// where says what is wrong with a JSON text, and where. It repeats names of
// members, and never a value.
func where(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not JSON, from byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s must be %s", orWhole(kind.Field), word(kind.Type.Kind().String()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends in the middle"
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return "it has a field that a quote request does not have: " + flow.Typed(strings.Trim(name, `"`))
	}
	return "it has a value of the wrong kind"
}

func orWhole(field string) string {
	if field == "" {
		return "the whole"
	}
	return field
}

func word(kind string) string {
	switch kind {
	case "struct", "map":
		return "an object"
	case "slice":
		return "a list"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "int", "int64", "uint32":
		return "a whole number"
	}
	return "of another kind"
}
