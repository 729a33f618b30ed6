// Package strict decodes requests as the service does: unknown and doubled members
// are places of the request that are wrong.
package strict

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Decode reads a request body as the contract demands: one object, no
// member twice, names in their exact case, no unknown members, no null where
// a value is meant. The answer names where and how, never what.
func Decode(body []byte, into any) []api.FieldError {
	if !json.Valid(body) {
		return []api.FieldError{{Path: "", Code: "invalid_json"}}
	}
	if bad := checkValue(body, reflect.TypeOf(into).Elem(), ""); len(bad) > 0 {
		return bad
	}
	if err := json.Unmarshal(body, into); err != nil {
		return []api.FieldError{{Path: "", Code: "invalid_value"}}
	}
	return nil
}

func checkValue(raw json.RawMessage, t reflect.Type, path string) []api.FieldError {
	raw = bytes.TrimSpace(raw)
	if t.Kind() == reflect.Pointer {
		if string(raw) == "null" {
			return nil
		}
		t = t.Elem()
	}
	if t == reflect.TypeFor[api.EvaluationModel]() && raw[0] == '{' {
		t = reflect.TypeFor[api.ModelRef]()
	}
	reads := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return nil
	case reads.Implements(reflect.TypeFor[json.Unmarshaler]()), reads.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return checkLeaf(raw, t, path)
	case t.Kind() == reflect.Struct:
		return checkStruct(raw, t, path)
	case t.Kind() == reflect.Map:
		return checkMembers(raw, path, func(name string) (reflect.Type, bool) { return t.Elem(), true })
	case t.Kind() == reflect.Slice:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || raw[0] != '[' {
			return []api.FieldError{{Path: path, Code: "wrong_type"}}
		}
		var bad []api.FieldError
		for i, e := range list {
			bad = append(bad, checkValue(e, t.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
		return bad
	}
	return checkLeaf(raw, t, path)
}

func checkLeaf(raw json.RawMessage, t reflect.Type, path string) []api.FieldError {
	if string(raw) == "null" || json.Unmarshal(raw, reflect.New(t).Interface()) != nil {
		return []api.FieldError{{Path: path, Code: "wrong_type"}}
	}
	return nil
}

func checkStruct(raw json.RawMessage, t reflect.Type, path string) []api.FieldError {
	known := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = f.Type
	}
	return checkMembers(raw, path, func(name string) (reflect.Type, bool) {
		ft, ok := known[name]
		return ft, ok
	})
}

func checkMembers(raw json.RawMessage, path string, typeOf func(string) (reflect.Type, bool)) []api.FieldError {
	if raw[0] != '{' {
		return []api.FieldError{{Path: path, Code: "wrong_type"}}
	}
	var bad []api.FieldError
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.Token() // the opening brace; the text is valid JSON
	for dec.More() {
		tok, err := dec.Token()
		name, ok := tok.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return append(bad, api.FieldError{Path: path, Code: "invalid_json"})
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		t, known := typeOf(name)
		switch {
		case seen[name]:
			bad = append(bad, api.FieldError{Path: at, Code: "duplicate"})
		case !known:
			bad = append(bad, api.FieldError{Path: at, Code: "unknown"})
		default:
			bad = append(bad, checkValue(value, t, at)...)
		}
		seen[name] = true
	}
	return bad
}
