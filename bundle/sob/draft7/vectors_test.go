package draft7_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob/draft7"
)

type vector struct {
	Name  string `json:"case"`
	Input struct {
		Schema    string `json:"schema_json"`
		Candidate string `json:"candidate_json"`
	} `json:"input"`
	SchemaValid bool            `json:"schema_valid"`
	Expected    json.RawMessage `json:"expected"`
}

// vectors reads a corpus of cases; want is how many it must have.
func vectors(t *testing.T, path string, want int) []vector {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []vector
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		var v vector
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, v)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) != want {
		t.Fatalf("%s has %d cases, want %d", path, len(out), want)
	}
	return out
}

func shared(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "vectors")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("shared vectors are not at hand (../shared/vectors): " + name + " is not replayed")
	}
	return filepath.Join(dir, name)
}

func loads(t testing.TB, text string) any {
	t.Helper()
	v, err := value.Loads(text)
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return v
}

func loadsOr(text string) (any, error) { return value.Loads(text) }

// verdict is the outcome of a validation as the corpora write it.
func verdict(ok bool, err error) string {
	if err != nil {
		b, _ := json.Marshal(map[string]string{"$raises": pycompat.Class(err)})
		return string(b)
	}
	b, _ := json.Marshal(ok)
	return string(b)
}

func compact(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v)
	b, _ := json.Marshal(v)
	return string(b)
}

func TestVectors_Validates(t *testing.T) {
	t.Parallel()
	replayValidates(t, vectors(t, shared(t, "sob_validates.jsonl"), 420))
}

func replayValidates(t *testing.T, cases []vector) {
	t.Helper()
	for _, c := range cases {
		got := verdict(draft7.Compile(loads(t, c.Input.Schema)).Validate(loads(t, c.Input.Candidate)))
		if want := compact(c.Expected); got != want {
			t.Errorf("%s: %s on %s: got %s, want %s", c.Name, c.Input.Schema, c.Input.Candidate, got, want)
		}
	}
}

func TestVectors_IsValidSchema(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, shared(t, "sob_is_valid_schema.jsonl"), 50) {
		got := verdict(draft7.Check(loads(t, c.Input.Schema)), nil)
		if want := compact(c.Expected); got != want {
			t.Errorf("%s: %s: got %s, want %s", c.Name, c.Input.Schema, got, want)
		}
	}
}

// The committed corpus is schemas and instances drawn at random, with what
// python-jsonschema 4.10.3 says to them. What it raises on a schema that its own
// check refuses is not promised, and not compared.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var checked []vector
	for _, c := range vectors(t, "testdata/reference.jsonl", 668) {
		if got := draft7.Check(loads(t, c.Input.Schema)); got != c.SchemaValid {
			t.Errorf("%s: Check(%s) = %v", c.Name, c.Input.Schema, got)
		}
		if c.SchemaValid {
			checked = append(checked, c)
		}
	}
	replayValidates(t, checked)
}
