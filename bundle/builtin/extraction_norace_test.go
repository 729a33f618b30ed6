//go:build !race

package builtin_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle/builtin"
)

// meets checks a value against the part of JSON Schema that the benchmark
// uses, and returns what is wrong.
func meets(path string, schema map[string]any, v any) []string {
	var out []string
	for k := range schema {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items", "description"}, k) {
			out = append(out, path+": this test does not know "+k)
		}
	}
	types, ok := schema["type"].([]any)
	if !ok {
		types = []any{schema["type"]}
	}
	if !slices.ContainsFunc(types, func(w any) bool { return w == typeOf(v) || w == "number" && typeOf(v) == "integer" }) {
		out = append(out, fmt.Sprintf("%s: %s, want %v", path, typeOf(v), types))
	}
	switch x := v.(type) {
	case map[string]any:
		props := schema["properties"].(map[string]any)
		if schema["additionalProperties"] != false || len(schema["required"].([]any)) != len(props) {
			out = append(out, path+": the schema leaves fields open")
		}
		for _, k := range schema["required"].([]any) {
			if _, ok := x[k.(string)]; !ok {
				out = append(out, path+": lacks "+k.(string))
			}
		}
		for k, c := range x {
			p, ok := props[k].(map[string]any)
			if !ok {
				out = append(out, path+": has "+k)
				continue
			}
			out = append(out, meets(path+"."+k, p, c)...)
		}
	case []any:
		for i, c := range x {
			out = append(out, meets(fmt.Sprintf("%s[%d]", path, i), schema["items"].(map[string]any), c)...)
		}
	}
	return out
}

func typeOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(x.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

func decode(t *testing.T, s string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// The right object meets the schema, the prompt shows that same schema, and
// the text before it holds every fact.
func TestExtraction_TargetsMeetSchemaAndText(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("extraction")
	ts := b.Tasks(builtin.DefaultSeed, builtin.DefaultSize)
	nulls := 0
	for pos := range ts.Len() {
		x := task(t, ts, pos)
		text, shown, ok := strings.Cut(x.Input[0].Text, "\n\nSchema:\n")
		if !ok {
			t.Fatal("no schema in the prompt")
		}
		schema := decode(t, string(x.Schema))
		if a, b := fmt.Sprint(schema), fmt.Sprint(decode(t, shown)); a != b {
			t.Errorf("task %d shows another schema", pos)
		}
		if strings.ContainsAny(string(x.Schema), "\n") {
			t.Errorf("task %d: the schema is not compact", pos)
		}
		target := decode(t, x.Target[0])
		for _, wrong := range meets("", schema.(map[string]any), target) {
			t.Errorf("task %d: %s", pos, wrong)
		}
		walk("", target, func(path string, v any) {
			if v == nil {
				nulls++
			}
			if missing := absent(text, path, v); missing != "" {
				t.Errorf("task %d: %s is not in the text: %s", pos, missing, text)
			}
		})
	}
	if nulls == 0 {
		t.Error("no task has an absent value")
	}
}

func walk(path string, v any, leaf func(string, any)) {
	switch x := v.(type) {
	case map[string]any:
		for k, c := range x {
			walk(path+"."+k, c, leaf)
		}
	case []any:
		for _, c := range x {
			walk(path+"[]", c, leaf)
		}
	default:
		leaf(path, v)
	}
}

// computed are the values that follow from the text by a calculation that the
// schema describes; TestExtraction_Computed does those.
var computed = []string{".due_date", ".total", ".deposit", ".outage.minutes", ".floor"}

func absent(text, path string, v any) string {
	if slices.Contains(computed, path) {
		return ""
	}
	switch x := v.(type) {
	case string:
		if d, err := time.Parse("2006-01-02", x); err == nil {
			if strings.Contains(text, d.Format("2 January 2006")) || strings.Contains(text, d.Format("January 2, 2006")) {
				return ""
			}
			return x
		}
		if c, err := time.Parse("15:04", x); err == nil && strings.Contains(text, c.Format("3:04 pm")) {
			return ""
		}
		if !strings.Contains(text, x) {
			return x
		}
	case json.Number:
		if !slices.Contains(plainNumbers(text), money(x.String())) {
			return x.String()
		}
	}
	return ""
}

// plainNumbers reads the numbers of a text without commas, two decimals each.
func plainNumbers(text string) []string {
	var out []string
	for _, s := range numberIn.FindAllString(text, -1) {
		out = append(out, money(strings.TrimRight(strings.ReplaceAll(s, ",", ""), ".")))
	}
	return out
}

func money(s string) string {
	whole, cents, _ := strings.Cut(s, ".")
	return whole + "." + (cents + "00")[:2]
}

// The values that must be worked out, worked out from the text.
func TestExtraction_Computed(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("extraction")
	ts := b.Tasks(builtin.DefaultSeed, builtin.DefaultSize)
	seen := map[string]int{}
	check := func(pos int, name, got string, want any) {
		seen[name]++
		if fmt.Sprint(want) != got {
			t.Errorf("task %d: %s is %v, worked out %s", pos, name, want, got)
		}
	}
	for pos := range ts.Len() {
		x := task(t, ts, pos)
		text := x.Input[0].Text
		target := decode(t, x.Target[0]).(map[string]any)
		if d, ok := target["due_date"]; ok {
			from, err := time.Parse("2006-01-02", target["date"].(string))
			if err != nil {
				t.Fatal(err)
			}
			m := regexp.MustCompile(`(\d+) days (?:after the date|of its date)`).FindStringSubmatch(text)
			var n int
			fmt.Sscan(m[1], &n)
			check(pos, "due_date", from.AddDate(0, 0, n).Format("2006-01-02"), d)
			cents := 0
			for _, m := range regexp.MustCompile(`(\d+) of the [a-z ]+ at \$([\d,.]*\d)`).FindAllStringSubmatch(text, -1) {
				cents += toInt(m[1]) * toInt(strings.ReplaceAll(money(strings.ReplaceAll(m[2], ",", "")), ".", ""))
			}
			m = regexp.MustCompile(`discount of \$([\d.]*\d)`).FindStringSubmatch(text)
			cents -= toInt(strings.ReplaceAll(money(m[1]), ".", ""))
			check(pos, "total", fmt.Sprintf("%d.%02d", cents/100, cents%100), money(fmt.Sprint(target["total"])))
		}
		if d, ok := target["deposit"]; ok {
			m := regexp.MustCompile(`deposit (?:is|of) (\d) `).FindStringSubmatch(text)
			check(pos, "deposit", fmt.Sprint(toInt(m[1])*toInt(fmt.Sprint(target["monthly"].(map[string]any)["rent"]))), d)
			m = regexp.MustCompile(`(first|second|third|fourth|fifth) floor`).FindStringSubmatch(text)
			check(pos, "floor", fmt.Sprint(slices.Index(rankWords, m[1])+1), target["floor"])
		}
		if o, ok := target["outage"].(map[string]any); ok {
			m := regexp.MustCompile(`(\d\d):(\d\d)`).FindAllStringSubmatch(text, -1)
			check(pos, "minutes", fmt.Sprint(60*(toInt(m[1][1])-toInt(m[0][1]))+toInt(m[1][2])-toInt(m[0][2])), o["minutes"])
		}
	}
	for _, name := range []string{"due_date", "total", "deposit", "floor", "minutes"} {
		if seen[name] < 20 {
			t.Errorf("%s was worked out only %d times", name, seen[name])
		}
	}
}

func toInt(s string) int {
	n := 0
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}
