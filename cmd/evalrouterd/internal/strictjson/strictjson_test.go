package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/strictjson"
)

// request has every kind of member that requests have.
type request struct {
	Name     string            `json:"name"`
	Nick     string            `json:"nick,omitempty"`
	Count    int               `json:"count,omitempty"`
	Small    uint8             `json:"small,omitempty"`
	Share    float64           `json:"share,omitempty"`
	On       bool              `json:"on,omitempty"`
	Maybe    *int              `json:"maybe,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	List     []string          `json:"list,omitempty"`
	Inner    inner             `json:"inner"`
	Deep     *inner            `json:"deep,omitempty"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Any      any               `json:"any,omitempty"`
	Even     even              `json:"even,omitempty"`
	Shape    shape             `json:"shape,omitempty"`
	internal string            // never a member
	Hidden   string            `json:"-"`
}

type inner struct {
	ID string `json:"id,omitempty"`
}

// even decodes itself from text.
type even int

func (e *even) UnmarshalText(b []byte) error {
	if len(b)%2 != 0 {
		return errors.New("odd")
	}
	*e = even(len(b))
	return nil
}

// shape decodes itself from a string or an object.
type shape struct{ inner }

func (s *shape) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &s.ID)
	}
	return json.Unmarshal(b, &s.inner)
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []strictjson.Field
	}{
		{"nothing", ``, []strictjson.Field{{"", "not_json"}}},
		{"half an object", `{"name":"a"`, []strictjson.Field{{"", "not_json"}}},
		{"a word", `frob`, []strictjson.Field{{"", "not_json"}}},
		{"comma at the end", `{"name":"a",}`, []strictjson.Field{{"", "not_json"}}},
		{"not a number", `{"share":NaN}`, []strictjson.Field{{"", "not_json"}}},
		{"a list", `[]`, []strictjson.Field{{"", "wrong_type"}}},
		{"null", `null`, []strictjson.Field{{"", "wrong_type"}}},
		{"text after it", `{"name":"a"} x`, []strictjson.Field{{"", "trailing_data"}}},
		{"two values", `{"name":"a"}{"name":"b"}`, []strictjson.Field{{"", "trailing_data"}}},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", []strictjson.Field{{"", "invalid_utf8"}}},
		{"high surrogate alone", `{"name":"\ud83d"}`, []strictjson.Field{{"", "invalid_utf8"}}},
		{"high surrogate before text", `{"name":"\ud83dx"}`, []strictjson.Field{{"", "invalid_utf8"}}},
		{"low surrogate alone", `{"name":"\ude00"}`, []strictjson.Field{{"", "invalid_utf8"}}},
		{"two high surrogates", `{"name":"\ud83d\ud83d"}`, []strictjson.Field{{"", "invalid_utf8"}}},
		{"unknown member", `{"nmae":"a"}`, []strictjson.Field{{"nmae", "unknown_field"}}},
		{"unknown member below", `{"inner":{"di":"a"}}`, []strictjson.Field{{"inner.di", "unknown_field"}}},
		{"unknown member behind a pointer", `{"deep":{"di":"a"}}`, []strictjson.Field{{"deep.di", "unknown_field"}}},
		{"unknown member of a type that decodes itself", `{"shape":{"di":"a"}}`, []strictjson.Field{{"shape.di", "unknown_field"}}},
		{"letter case", `{"Name":"a"}`, []strictjson.Field{{"Name", "wrong_letter_case"}}},
		{"Go name of a hidden field", `{"Hidden":"a","internal":"b"}`, []strictjson.Field{{"Hidden", "unknown_field"}, {"internal", "unknown_field"}}},
		{"twice", `{"name":"a","name":"a"}`, []strictjson.Field{{"name", "duplicate_field"}}},
		{"twice, once escaped", `{"name":"a","n\u0061me":"a"}`, []strictjson.Field{{"name", "duplicate_field"}}},
		{"twice in a free object", `{"any":{"x":1,"x":2}}`, []strictjson.Field{{"any.x", "duplicate_field"}}},
		{"twice in raw JSON", `{"raw":{"x":1,"x":2}}`, []strictjson.Field{{"raw.x", "duplicate_field"}}},
		{"twice in a map", `{"labels":{"x":"1","x":"2"}}`, []strictjson.Field{{"labels.x", "duplicate_field"}}},
		{"number for text", `{"name":1}`, []strictjson.Field{{"name", "wrong_type"}}},
		{"text for a number", `{"count":"1"}`, []strictjson.Field{{"count", "wrong_type"}}},
		{"fraction for a count", `{"count":1.0}`, []strictjson.Field{{"count", "wrong_type"}}},
		{"count beyond int64", `{"count":9223372036854775808}`, []strictjson.Field{{"count", "out_of_range"}}},
		{"count beyond its type", `{"small":256}`, []strictjson.Field{{"small", "out_of_range"}}},
		{"negative for unsigned", `{"small":-1}`, []strictjson.Field{{"small", "out_of_range"}}},
		{"number beyond float64", `{"share":1e400}`, []strictjson.Field{{"share", "out_of_range"}}},
		{"text for a switch", `{"on":"true"}`, []strictjson.Field{{"on", "wrong_type"}}},
		{"object for text", `{"name":{}}`, []strictjson.Field{{"name", "wrong_type"}}},
		{"list for an object", `{"inner":[]}`, []strictjson.Field{{"inner", "wrong_type"}}},
		{"object for a list", `{"list":{}}`, []strictjson.Field{{"list", "wrong_type"}}},
		{"number in a list", `{"list":["a",1]}`, []strictjson.Field{{"list[1]", "wrong_type"}}},
		{"number in a map", `{"labels":{"x":1}}`, []strictjson.Field{{"labels.x", "wrong_type"}}},
		{"null for text that must be there", `{"name":null}`, []strictjson.Field{{"name", "wrong_type"}}},
		{"text that a type refuses", `{"even":"abc"}`, []strictjson.Field{{"even", "invalid_value"}}},
		{"number for a text type", `{"even":2}`, []strictjson.Field{{"even", "wrong_type"}}},
		{"too deep", `{"any":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, []strictjson.Field{{"", "too_deep"}}},
		{"too deep and endless", `{"any":` + strings.Repeat("[", 100_000), []strictjson.Field{{"", "too_deep"}}},
		{"a name that may be anything", `{"sk-live secret":1}`, []strictjson.Field{{"?", "unknown_field"}}},
		{"a long name", `{"` + strings.Repeat("a", 65) + `":1}`, []strictjson.Field{{"?", "unknown_field"}}},
		{"NUL in text", `{"name":"a\u0000"}`, []strictjson.Field{{"name", "nul_character"}}},
		{"NUL in an inner text", `{"deep":{"id":"\u0000"}}`, []strictjson.Field{{"deep.id", "nul_character"}}},
		{"NUL in a list", `{"list":["a","\u0000"]}`, []strictjson.Field{{"list[1]", "nul_character"}}},
		{"NUL in a value of a map", `{"labels":{"x":"\u0000"}}`, []strictjson.Field{{"labels.x", "nul_character"}}},
		{"NUL in a name of a map", `{"labels":{"x\u0000":"1"}}`, []strictjson.Field{{"labels.?", "nul_character"}}},
		{"NUL in an unknown name", `{"x\u0000":1}`, []strictjson.Field{{"?", "nul_character"}, {"?", "unknown_field"}}},
		{"NUL in a type that decodes itself", `{"shape":"\u0000"}`, []strictjson.Field{{"shape", "nul_character"}}},
		{"NUL in an object that decodes itself", `{"shape":{"id":"\u0000"}}`, []strictjson.Field{{"shape.id", "nul_character"}}},
		{"all at once", `{"name":1,"count":"x","frob":2}`, []strictjson.Field{{"name", "wrong_type"}, {"count", "wrong_type"}, {"frob", "unknown_field"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var into request
			err := strictjson.Decode([]byte(tt.text), &into)
			var e *strictjson.Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff(tt.want, e.Fields); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	n := 7
	tests := []struct {
		name, text string
		want       request
	}{
		{"nothing in it", ` {} `, request{}},
		{"everything", `{"name":"ä \ud83d\ude00 \\u","nick":"n","count":-5,"small":255,"share":2.5e-3,"on":true,"maybe":7,"labels":{"a":"b"},` +
			`"list":["x"],"inner":{"id":"i"},"deep":{"id":"d"},"raw": 1.50 ,"any":[1],"even":"ab","shape":"s"}`,
			request{Name: "ä 😀 \\u", Nick: "n", Count: -5, Small: 255, Share: 0.0025, On: true, Maybe: &n, Labels: map[string]string{"a": "b"},
				List: []string{"x"}, Inner: inner{"i"}, Deep: &inner{"d"}, Raw: json.RawMessage("1.50"), Any: []any{1.0}, Even: 2, Shape: shape{inner{"s"}}}},
		{"null where a value may be absent", `{"name":"a","nick":null,"maybe":null,"labels":null,"list":null,"deep":null,"any":null}`, request{Name: "a"}},
		{"object for a type that decodes itself", `{"shape":{"id":"o"}}`, request{Shape: shape{inner{"o"}}}},
		{"NUL where any JSON may stand", `{"raw":["\u0000"],"any":"\u0000"}`, request{Raw: json.RawMessage(`["\u0000"]`), Any: "\x00"}},
		{"raw text", `{"raw":"5.25"}`, request{Raw: json.RawMessage(`"5.25"`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got request
			if err := strictjson.Decode([]byte(tt.text), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestErrorBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{`)
	for i := range 1000 {
		fmt.Fprintf(&text, `"x%d":1,`, i)
	}
	text.WriteString(`"name":"a"}`)
	var e *strictjson.Error
	if err := strictjson.Decode([]byte(text.String()), new(request)); !errors.As(err, &e) || len(e.Fields) != 20 {
		t.Errorf("the error is %v", err)
	}
}

// What other programs recorded is read as it came, and with the same strictness
// otherwise.
func TestDecodeForeign(t *testing.T) {
	t.Parallel()
	var got request
	if err := strictjson.DecodeForeign([]byte(`{"name":"a\u0000","labels":{"\u0000":"b"}}`), &got); err != nil || got.Name != "a\x00" || got.Labels["\x00"] != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	var e *strictjson.Error
	if err := strictjson.DecodeForeign([]byte(`{"nmae":"a\u0000"}`), &got); !errors.As(err, &e) || e.Fields[0] != (strictjson.Field{Path: "nmae", Code: "unknown_field"}) {
		t.Errorf("a misspelt member: %v", err)
	}
}

// FuzzDecode holds the strict reader to the standard one: what it accepts the
// other accepts with the same value, no refusal repeats a value, and no typed text
// holds what a database cannot keep.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"name":"a","inner":{"id":"b"}}`, `{"name":"a"}x`, `{"list":["a",null]}`, `{"shape":{"id":1}}`, `{"raw":[{"a":1}],"even":"ab"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var strict, loose request
		err := strictjson.Decode(data, &strict)
		var e *strictjson.Error
		if err != nil {
			if !errors.As(err, &e) || len(e.Fields) == 0 {
				t.Fatalf("the error %v has no fields", err)
			}
			return
		}
		if err := json.Unmarshal(data, &loose); err != nil {
			t.Fatalf("accepted what is not valid: %v", err)
		}
		if !reflect.DeepEqual(strict, loose) {
			t.Fatalf("read %+v, want %+v", strict, loose)
		}
		texts := append([]string{strict.Name, strict.Nick, strict.Inner.ID, strict.Shape.ID}, strict.List...)
		for k, v := range strict.Labels {
			texts = append(texts, k, v)
		}
		if all := strings.Join(texts, " "); strings.Contains(all, "\x00") || !utf8.ValidString(all) {
			t.Fatalf("accepted %q", all)
		}
	})
}
