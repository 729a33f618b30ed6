package draft7_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/sob/draft7"
)

// Rows that the corpora may not hold: traps that are easy to lose. Verdicts are
// those of python-jsonschema 4.10.3.
func TestValidate_Traps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, instance, want string }{
		{"a float without fraction is an integer", `{"type":"integer"}`, `1.0`, `true`},
		{"infinity is no integer", `{"type":"integer"}`, `Infinity`, `false`},
		{"a bool is no number", `{"type":"number"}`, `true`, `false`},
		{"enum tells 1 from true", `{"enum":[true]}`, `1`, `false`},
		{"enum does not inside lists", `{"enum":[[true]]}`, `[1]`, `true`},
		{"const does inside lists", `{"const":[true]}`, `[1]`, `false`},
		{"enum finds NaN", `{"enum":[NaN]}`, `NaN`, `true`},
		{"const does not", `{"const":NaN}`, `NaN`, `false`},
		{"0.3 is no multiple of 0.1", `{"multipleOf":0.1}`, `0.3`, `false`},
		{"a tiny divisor falls back to fractions", `{"multipleOf":1e-300}`, `1e300`, `false`},
		{"NaN against a float divisor raises", `{"multipleOf":0.5}`, `NaN`, `{"$raises":"ValueError"}`},
		{"NaN against an integer divisor fails", `{"multipleOf":2}`, `NaN`, `false`},
		{"NaN is below no minimum", `{"minimum":3}`, `NaN`, `true`},
		{"integers are compared exactly", `{"maximum":9007199254740993}`, `9007199254740994`, `false`},
		{"against floats too", `{"maximum":9007199254740992.0}`, `9007199254740993`, `false`},
		{"an integer beyond all floats is below infinity", `{"maximum":Infinity}`, `1` + strings.Repeat("0", 400), `true`},
		{"length counts code points", `{"maxLength":2}`, `"é😀"`, `true`},
		{"and a lone surrogate is one", `{"maxLength":1}`, `"\ud800"`, `true`},
		{"patterns are searched", `{"pattern":"b"}`, `"abc"`, `true`},
		{"patterns know look-ahead", `{"pattern":"a(?!b)"}`, `"ab"`, `false`},
		{"a bad pattern raises", `{"pattern":"["}`, `"a"`, `{"$raises":"error"}`},
		{"unless nothing is searched", `{"pattern":"["}`, `1`, `true`},
		{"or a violation came first", `{"type":"object","pattern":"["}`, `"a"`, `false`},
		{"but not in anyOf", `{"anyOf":[{"type":"object","pattern":"["}]}`, `"a"`, `{"$raises":"error"}`},
		{"joined patterns share flags", `{"patternProperties":{"x":{},"^(?i:A)$":{}},"additionalProperties":false}`, `{"a":1}`, `true`},
		{"uniqueItems tells 1 from true", `{"uniqueItems":true}`, `[1,true,0,false]`, `true`},
		{"and not 1 from 1.0", `{"uniqueItems":true}`, `[1,1.0]`, `false`},
		{"neighbours in Python's order", `{"uniqueItems":true}`, `[[1],[true],[1]]`, `true`},
		{"objects pair by pair", `{"uniqueItems":true}`, `[{"a":1},{"b":1},{"a":1.0}]`, `false`},
		{"nulls pair by pair", `{"uniqueItems":true}`, `[null,null]`, `false`},
		{"siblings of a reference are ignored", `{"properties":{"a":{"$ref":"#/definitions/s","type":"integer"}},"definitions":{"s":{"type":"string"}}}`, `{"a":"x"}`, `true`},
		{"the meta-schema is at hand", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"type":"objekt"}`, `false`},
		{"and its parts", `{"$ref":"http://json-schema.org/draft-07/schema#/properties/title"}`, `5`, `false`},
		{"nothing is fetched", `{"$ref":"http://localhost/x.json"}`, `1`, `{"$raises":"RefResolutionError"}`},
		{"nor read", `{"$ref":"file:///etc/hostname"}`, `1`, `{"$raises":"RefResolutionError"}`},
		{"a loop of references", `{"$ref":"#"}`, `1`, `{"$raises":"RecursionError"}`},
		{"negative index in a pointer", `{"definitions":{"l":[{"type":"string"},{"type":"integer"}]},"$ref":"#/definitions/l/-1"}`, `1`, `true`},
		{"a reference by identifier", `{"$id":"http://x.y/root.json","definitions":{"a":{"$id":"item.json","type":"string"}},"properties":{"p":{"$ref":"item.json"}}}`, `{"p":1}`, `false`},
		{"a reference by anchor", `{"definitions":{"a":{"$id":"#foo","type":"string"}},"properties":{"p":{"$ref":"#foo"}}}`, `{"p":1}`, `false`},
		{"escapes in a pointer", `{"definitions":{"a/b c~":{"type":"string"}},"properties":{"p":{"$ref":"#/definitions/a~1b%20c~0"}}}`, `{"p":1}`, `false`},
		{"$schema at the root is ignored", `{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":1}`, `1`, `false`},
		{"additionalItems beside a bool", `{"items":true,"additionalItems":false}`, `[1]`, `{"$raises":"TypeError"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := verdict(draft7.Compile(loads(t, c.schema)).Validate(loads(t, c.instance))); got != c.want {
				t.Errorf("%s on %s: got %s, want %s", c.schema, c.instance, got, c.want)
			}
		})
	}
}

// The limit of recursion is where the reference has it: 164 levels through a
// reference in items, and 108 nested objects or lists in a schema.
func TestRecursion_LimitOfTheReference(t *testing.T) {
	t.Parallel()
	nested := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	lists := draft7.Compile(loads(t, `{"type":["array","integer"],"items":{"$ref":"#"}}`))
	for n, want := range map[int]string{164: "", 165: "RecursionError"} {
		if _, err := lists.Validate(loads(t, nested("[", "1", "]", n))); pycompat.Class(err) != want {
			t.Errorf("%d levels of lists: %v, want %q", n, err, want)
		}
	}
	for n, want := range map[int]bool{108: true, 109: false} {
		if got := draft7.Check(loads(t, nested(`{"type":"object","properties":{"a":`, `{"type":"string"}`, `}}`, n))); got != want {
			t.Errorf("%d nested objects: %v", n, got)
		}
	}
	for n, want := range map[int]bool{108: true, 109: false} {
		if got := draft7.Check(loads(t, nested(`{"items":`, `{"type":"string"}`, `}`, n))); got != want {
			t.Errorf("%d nested lists: %v", n, got)
		}
	}
}

// Work is bounded whatever the schema: branches that double at every level, and
// uniqueness over elements that cannot be sorted.
func TestBudget(t *testing.T) {
	t.Parallel()
	doubling := `{"definitions":{`
	for i := range 60 {
		doubling += fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	doubling += `"d60":{"type":"null"}},"$ref":"#/definitions/d0"}`
	var objects strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&objects, `{"k":%d},`, i)
	}
	for _, c := range []struct{ name, schema, instance string }{
		{"doubling branches", doubling, `1`},
		{"many objects", `{"uniqueItems":true}`, `[` + objects.String() + `0]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := draft7.Compile(loads(t, c.schema)).Validate(loads(t, c.instance)); !errors.Is(err, draft7.ErrBudget) {
				t.Errorf("got %v, want ErrBudget", err)
			}
		})
	}
}

func TestValidate_OtherDraftInside(t *testing.T) {
	t.Parallel()
	s := draft7.Compile(loads(t, `{"properties":{"a":{"$schema":"https://json-schema.org/draft/2020-12/schema"}}}`))
	if _, err := s.Validate(loads(t, `{"a":1}`)); !errors.Is(err, draft7.ErrDraft) {
		t.Errorf("got %v, want ErrDraft", err)
	}
	if ok, err := s.Validate(loads(t, `{"b":1}`)); !ok || err != nil {
		t.Errorf("got %v, %v for an instance that does not reach it", ok, err)
	}
}

func TestSchema_Concurrent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#"}},"additionalProperties":{"type":"integer"}}`,
		`{"$id":"http://x.y/r","properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"$id":"d","type":"object"}}}`,
	} {
		s, instance := draft7.Compile(loads(t, text)), loads(t, `{"a":{}}`)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					if ok, err := s.Validate(instance); !ok || err != nil {
						t.Errorf("got %v, %v", ok, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// FuzzValidate looks for panics, verdicts that change, and combinations that
// contradict each other, in schemas and instances of any kind.
func FuzzValidate(f *testing.F) {
	for _, s := range [][2]string{
		{`{"type":"object","required":["a"],"properties":{"a":{"minimum":1}}}`, `{"a":0.5}`},
		{`{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#"}}}`, `1`},
		{`{"$id":"x","allOf":[{"$id":"y","$ref":"z#/a"},{"$ref":""}]}`, `[]`},
		{`{"patternProperties":{"(":true,"a|b":{"type":"null"}},"additionalProperties":false}`, `{"a":1}`},
		{`{"items":[true],"additionalItems":{"uniqueItems":true}}`, `[1,[[1],[true]]]`},
		{`{"dependencies":{"a":["b"],"c":{"minProperties":2.0}},"propertyNames":{"maxLength":1}}`, `{"a":1,"c":2}`},
		{`{"if":{"multipleOf":0.1},"then":{"const":1},"else":{"enum":[true,1.0]}}`, `1e400`},
		{`{"type":5,"enum":{},"minLength":"x","allOf":true}`, `"s"`},
		{`[{"$schema":3}]`, `null`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, schema, instance string) {
		s, errS := loadsOr(schema)
		v, errV := loadsOr(instance)
		if errS != nil || errV != nil {
			return
		}
		draft7.Check(s)
		got := verdict(draft7.Compile(s).Validate(v))
		if again := verdict(draft7.Compile(s).Validate(v)); again != got {
			t.Fatalf("got %s, then %s", got, again)
		}
		// A schema inside not has the opposite verdict, or the same error.
		inverse := verdict(draft7.Compile(loads(t, `{"not":`+schema+`}`)).Validate(v))
		if !strings.Contains(schema, "$") && got[0] != '{' && inverse[0] != '{' && got == inverse {
			t.Fatalf("both the schema and its negation are %s", got)
		}
	})
}
