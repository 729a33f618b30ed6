package sob

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// StrictSchema is the schema that OpenAI's constrained decoding wants: every
// object with properties requires all of them and allows no other. It looks
// into properties and items alone. Answers decoded under it are scored under
// it. The argument is not changed; unchanged parts are shared.
func StrictSchema(schema any) any {
	d, ok := schema.(*value.Dict)
	if !ok {
		return schema
	}
	out := d.Copy()
	kind, _ := d.Get("type")
	switch kind {
	case any("object"):
		v, _ := d.Get("properties")
		properties, ok := v.(*value.Dict)
		if !ok {
			return out
		}
		inner, required := &value.Dict{}, make([]any, 0, properties.Len())
		for key, sub := range properties.All() {
			set(inner, key, StrictSchema(sub))
			required = append(required, key)
		}
		set(out, "properties", inner)
		set(out, "required", required)
		set(out, "additionalProperties", false)
	case any("array"):
		if items, ok := d.Get("items"); ok {
			set(out, "items", StrictSchema(items))
		}
	}
	return out
}

// set stores a key that came from a dict, or is a text: both can be keys.
func set(d *value.Dict, key, v any) { _ = d.Set(key, v) }

// GeminiSchema is the schema without the keywords that Gemini refuses, with
// type names in lower case.
func GeminiSchema(schema any) any {
	switch v := schema.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = GeminiSchema(v[i])
		}
		return out
	case *value.Dict:
		return geminiObject(v)
	}
	return schema
}

func geminiObject(d *value.Dict) *value.Dict {
	out := &value.Dict{}
	for key, v := range d.All() {
		switch key {
		case any("type"):
			if name, ok := v.(string); ok {
				v = str.Lower(name)
			} else {
				v = GeminiSchema(v)
			}
		case any("properties"):
			v = geminiProperties(v)
		case any("items"), any("required"), any("enum"), any("description"), any("nullable"), any("format"),
			any("minimum"), any("maximum"), any("minItems"), any("maxItems"), any("minLength"), any("maxLength"):
			v = GeminiSchema(v)
		default:
			continue
		}
		set(out, key, v)
	}
	required, _ := out.Get("required")
	properties, _ := out.Get("properties")
	list, isList := required.([]any)
	known, isDict := properties.(*value.Dict)
	if isList && isDict {
		kept := []any{}
		for _, key := range list {
			if _, ok := known.Get(key); ok {
				kept = append(kept, key)
			}
		}
		set(out, "required", kept)
	}
	return out
}

// geminiProperties keeps all names, which are no keywords.
func geminiProperties(v any) any {
	d, ok := v.(*value.Dict)
	if !ok {
		return GeminiSchema(v)
	}
	out := &value.Dict{}
	for key, sub := range d.All() {
		set(out, key, GeminiSchema(sub))
	}
	return out
}
