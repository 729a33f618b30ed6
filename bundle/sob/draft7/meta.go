package draft7

import (
	"sync"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// metaURI is the address of the meta-schema of draft 7, without its empty fragment.
const metaURI = "http://json-schema.org/draft-07/schema"

// metaText is what the meta-schema of draft 7 asserts. Its annotations are left
// out, and so are its formats, which the reference does not check, and its
// address, so that its references need no scopes.
const metaText = `{
"definitions": {
	"schemas": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
	"count": {"type": "integer", "minimum": 0},
	"kind": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
	"names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
},
"type": ["object", "boolean"],
"properties": {
	"$id": {"type": "string"}, "$schema": {"type": "string"}, "$ref": {"type": "string"}, "$comment": {"type": "string"},
	"title": {"type": "string"}, "description": {"type": "string"}, "readOnly": {"type": "boolean"}, "examples": {"type": "array"},
	"multipleOf": {"type": "number", "exclusiveMinimum": 0},
	"maximum": {"type": "number"}, "exclusiveMaximum": {"type": "number"},
	"minimum": {"type": "number"}, "exclusiveMinimum": {"type": "number"},
	"maxLength": {"$ref": "#/definitions/count"}, "minLength": {"$ref": "#/definitions/count"},
	"pattern": {"type": "string"},
	"additionalItems": {"$ref": "#"},
	"items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemas"}]},
	"maxItems": {"$ref": "#/definitions/count"}, "minItems": {"$ref": "#/definitions/count"},
	"uniqueItems": {"type": "boolean"},
	"contains": {"$ref": "#"},
	"maxProperties": {"$ref": "#/definitions/count"}, "minProperties": {"$ref": "#/definitions/count"},
	"required": {"$ref": "#/definitions/names"},
	"additionalProperties": {"$ref": "#"},
	"definitions": {"type": "object", "additionalProperties": {"$ref": "#"}},
	"properties": {"type": "object", "additionalProperties": {"$ref": "#"}},
	"patternProperties": {"type": "object", "additionalProperties": {"$ref": "#"}},
	"dependencies": {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/names"}]}},
	"propertyNames": {"$ref": "#"},
	"enum": {"type": "array"},
	"type": {"anyOf": [
		{"$ref": "#/definitions/kind"},
		{"type": "array", "items": {"$ref": "#/definitions/kind"}, "minItems": 1, "uniqueItems": true}
	]},
	"format": {"type": "string"}, "contentMediaType": {"type": "string"}, "contentEncoding": {"type": "string"},
	"if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"},
	"allOf": {"$ref": "#/definitions/schemas"}, "anyOf": {"$ref": "#/definitions/schemas"}, "oneOf": {"$ref": "#/definitions/schemas"},
	"not": {"$ref": "#"}
}}`

// meta is handed to every schema at compilation; the meta-schema itself refers to
// nothing outside.
var meta = sync.OnceValue(func() *Schema {
	v, err := value.Loads(metaText)
	if err != nil {
		panic("draft7: the meta-schema does not parse: " + err.Error())
	}
	return compile(v, nil)
})
