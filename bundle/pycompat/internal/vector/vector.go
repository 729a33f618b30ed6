// Package vector reads golden cases for the tests of pycompat: the shared
// vectors where they are at hand, and the committed corpora in testdata.
package vector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Case is one line of a corpus. Numbers are json.Number, so that 1 and 1.0
// stay apart.
type Case struct {
	Name     string         `json:"case"`
	Input    map[string]any `json:"input"`
	Params   map[string]any `json:"params"`
	Expected any            `json:"expected"`
}

// Raises returns the exception class that the case expects, "" for none.
func (c Case) Raises() string {
	if m, ok := c.Expected.(map[string]any); ok {
		class, _ := m["$raises"].(string)
		return class
	}
	return ""
}

// Field returns a field of an expectation that is an object.
func (c Case) Field(name string) any { return c.Expected.(map[string]any)[name] }

// Shared runs f on every case of the shared vector file of the given name. It
// skips the test where the shared folder is absent, and fails for a file that
// is missing from it, has no case, or has another number of cases than want.
func Shared(t *testing.T, name string, want int, f func(t *testing.T, c Case)) {
	t.Helper()
	dir := filepath.Join(root(t), "..", "shared", "vectors")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("shared vectors are not at hand (../shared/vectors): %s is not replayed", name)
	}
	got := run(t, filepath.Join(dir, name+".jsonl"), f)
	if got != want {
		t.Errorf("%s has %d cases, want %d", name, got, want)
	}
	t.Logf("figure a: %s: %d cases", name, got)
}

// Committed runs f on every case of testdata/name.jsonl of the package under test.
func Committed(t *testing.T, name string, f func(t *testing.T, c Case)) {
	t.Helper()
	if run(t, filepath.Join("testdata", name+".jsonl"), f) == 0 {
		t.Errorf("%s has no cases", name)
	}
}

func run(t *testing.T, path string, f func(t *testing.T, c Case)) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var c Case
		if err := d.Decode(&c); err != nil {
			t.Fatalf("%s: line %d: %v", path, n+1, err)
		}
		if c.Name == "" {
			c.Name = fmt.Sprint(n)
		}
		n++
		t.Run(c.Name, func(t *testing.T) { f(t, c) })
	}
	return n
}

// root is the folder of go.work, the repository's.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("no go.work above the package: the shared vectors cannot be found")
		}
		dir = parent
	}
}

// Float reads a float of an expectation, {"$float": "nan"} too.
func Float(t *testing.T, v any) float64 {
	t.Helper()
	if m, ok := v.(map[string]any); ok {
		v = json.Number(m["$float"].(string))
	}
	f, err := v.(json.Number).Float64()
	if err != nil {
		t.Fatalf("read float %v: %v", v, err)
	}
	return f
}

// Floats reads a list of floats.
func Floats(t *testing.T, v any) []float64 {
	t.Helper()
	items := v.([]any)
	out := make([]float64, len(items))
	for i, item := range items {
		out[i] = Float(t, item)
	}
	return out
}

// Ints reads a list of integers.
func Ints(t *testing.T, v any) []int {
	t.Helper()
	items := v.([]any)
	out := make([]int, len(items))
	for i, item := range items {
		n, err := item.(json.Number).Int64()
		if err != nil {
			t.Fatalf("read integer %v: %v", item, err)
		}
		out[i] = int(n)
	}
	return out
}

// Strings reads a list of strings.
func Strings(v any) []string {
	items := v.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.(string)
	}
	return out
}
