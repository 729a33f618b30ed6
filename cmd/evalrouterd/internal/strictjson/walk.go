package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// walker compares a JSON text with a Go type, token by token.
type walker struct {
	data   []byte
	dec    *json.Decoder
	fields []Field
	broken bool // not JSON at all
	deep   bool
	nul    bool // U+0000 may stand in texts
}

func typeOf(into any) reflect.Type {
	t := reflect.TypeOf(into)
	if t == nil || t.Kind() != reflect.Pointer {
		panic("strictjson: Decode needs a pointer")
	}
	return t.Elem()
}

func (w *walker) add(path, code string) {
	if len(w.fields) < maxFields {
		w.fields = append(w.fields, Field{path, code})
	}
}

func (w *walker) dead() bool { return w.broken || w.deep }

func (w *walker) token() json.Token {
	t, err := w.dec.Token()
	if err != nil {
		w.broken = true
		return nil
	}
	return t
}

// value reads one value that should fit t; a nil t takes anything. optional
// says that null stands for absent.
func (w *walker) value(t reflect.Type, path string, depth int, optional bool) {
	if depth > MaxDepth {
		w.deep = true
	}
	if w.dead() {
		return
	}
	start := w.dec.InputOffset()
	tok := w.token()
	if w.dead() {
		return
	}
	null := tok == nil
	for t != nil && t.Kind() == reflect.Pointer {
		t, optional = t.Elem(), true
	}
	own := t != nil && decodesItself(t)
	if s, ok := tok.(string); ok && !free(t) {
		w.text(path, s)
	}
	switch d, ok := tok.(json.Delim); {
	case ok && d == '{':
		w.object(t, path, depth, own)
	case ok && d == '[':
		w.list(t, path, depth, own)
	case ok:
		w.broken = true // a closing bracket where a value should be
	case null:
		if t != nil && !optional && !takesNull(t) {
			w.add(path, WrongType)
		}
		return
	case !own:
		w.scalar(t, path, tok)
	}
	if own && !w.dead() {
		w.try(t, path, w.data[start:w.dec.InputOffset()])
	}
}

// try lets a type that decodes itself read its value.
func (w *walker) try(t reflect.Type, path string, raw []byte) {
	raw = bytes.TrimLeft(raw, " \t\r\n:,")
	if err := json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
		code := InvalidValue
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			code = WrongType
		}
		w.add(path, code)
	}
}

func (w *walker) object(t reflect.Type, path string, depth int, own bool) {
	var known map[string]member
	var each reflect.Type
	switch {
	case free(t):
	case t.Kind() == reflect.Struct:
		known = members(t)
	case t.Kind() == reflect.Map:
		each = t.Elem()
	case !own:
		w.add(path, WrongType)
	}
	seen := map[string]bool{}
	for w.dec.More() && !w.dead() {
		key, ok := w.token().(string)
		if !ok {
			w.broken = true
			return
		}
		at := Join(path, key)
		if !free(t) {
			w.text(at, key)
		}
		if seen[key] {
			w.add(at, Duplicate)
		}
		seen[key] = true
		m, found := known[key]
		if !found {
			m.typ = each
			if known != nil {
				w.add(at, strange(known, key))
			}
		}
		w.value(m.typ, at, depth+1, m.optional)
	}
	if !w.dead() {
		w.token() // the closing brace
	}
}

// text refuses what no database keeps as text.
func (w *walker) text(path, s string) {
	if !w.nul && strings.Contains(s, "\x00") {
		w.add(path, NUL)
	}
}

func strange(known map[string]member, key string) string {
	for name := range known {
		if strings.EqualFold(name, key) {
			return WrongCase
		}
	}
	return Unknown
}

func (w *walker) list(t reflect.Type, path string, depth int, own bool) {
	var each reflect.Type
	switch {
	case free(t):
	case t.Kind() == reflect.Slice:
		each = t.Elem()
	case !own:
		w.add(path, WrongType)
	}
	for i := 0; w.dec.More() && !w.dead(); i++ {
		w.value(each, path+"["+strconv.Itoa(i)+"]", depth+1, false)
	}
	if !w.dead() {
		w.token() // the closing bracket
	}
}

func (w *walker) scalar(t reflect.Type, path string, tok json.Token) {
	if free(t) {
		return
	}
	ok := false
	switch v := tok.(type) {
	case string:
		ok = t.Kind() == reflect.String
	case bool:
		ok = t.Kind() == reflect.Bool
	case json.Number:
		w.number(t, path, v.String())
		return
	}
	if !ok {
		w.add(path, WrongType)
	}
}

func (w *walker) number(t reflect.Type, path, text string) {
	var err error
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		_, err = strconv.ParseInt(text, 10, t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		_, err = strconv.ParseUint(text, 10, t.Bits())
		if err != nil && strings.HasPrefix(text, "-") {
			err = strconv.ErrRange
		}
	case reflect.Float32, reflect.Float64:
		_, err = strconv.ParseFloat(text, t.Bits())
	default:
		err = strconv.ErrSyntax
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		w.add(path, OutOfRange)
	case err != nil:
		w.add(path, WrongType)
	}
}

// Join adds a member to a path. A name that is not a plain word is not
// repeated: nobody knows what it holds.
func Join(path, key string) string {
	plain := key != "" && len(key) <= 64 && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	if !plain {
		key = "?"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// member is a field of a struct as JSON names it.
type member struct {
	typ      reflect.Type
	optional bool
}

// members lists the JSON members of a struct, embedded structs included.
func members(t reflect.Type) map[string]member {
	out := map[string]member{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" && rest == "", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			for name, m := range members(f.Type) {
				if _, taken := out[name]; !taken {
					out[name] = m
				}
			}
			continue
		case tag == "":
			tag = f.Name
		}
		out[tag] = member{typ: f.Type, optional: strings.Contains(rest, "omitempty")}
	}
	return out
}

var (
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t != rawMessage && (p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler))
}

// free says that a type takes any value.
func free(t reflect.Type) bool { return t == nil || t.Kind() == reflect.Interface || t == rawMessage }

func takesNull(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Map, reflect.Slice:
		return true
	}
	return false
}
