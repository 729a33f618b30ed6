//go:build !race

package sob_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalrouter/evalrouter/bundle/sob"
)

// The published files must come out byte for byte: every record with every
// float and missing path, and every mean and bound of the summary.
func TestPublished_RecordsAndSummaries(t *testing.T) {
	t.Parallel()
	for _, model := range publishedModels() {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			dir := sharedDir(t, "data", "sob", model)
			scored, malformed, err := evaluateAll(readFile(t, dir, "responses.jsonl"), sob.Image)
			if err != nil {
				t.Fatal(err)
			}
			want := readFile(t, dir, "eval_summary.json")
			var records []byte
			for i := range scored {
				if records, err = scored[i].AppendLine(records, sob.Image); err != nil {
					t.Fatal(err)
				}
			}
			lines := compareLines(t, readFile(t, dir, "eval_records.jsonl"), string(records))

			// Records read back from their lines are the records, and give the
			// summary, as a chain of runs derives it.
			var read []sob.Evaluation
			for line := range bytes.Lines(records) {
				e, err := sob.ReadLine(string(line))
				if err != nil {
					t.Fatal(err)
				}
				read = append(read, e)
			}
			if d := cmp.Diff(scored, read, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("read back (-want +got):\n%s", d)
			}
			compareLines(t, want, derive(t, sourceOf(t, want), read, malformed))
			t.Logf("figure b: %s: %d records and the summary equal the published bytes", model, lines)
		})
	}
}

func derive(t *testing.T, source string, scored []sob.Evaluation, malformed int) string {
	t.Helper()
	report, err := sob.Derive(source, sob.Image, scored, malformed, sob.DefaultBootstrap())
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sourceOf(t *testing.T, summary string) string {
	t.Helper()
	source, ok := at(loads(t, summary), "response_file").(string)
	if !ok {
		t.Fatal("the summary names no response file")
	}
	return source
}

// compareLines reports the first lines that differ and returns how many there are.
func compareLines(t *testing.T, want, got string) int {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(w) != len(g) {
		t.Errorf("%d lines, want %d", len(g), len(w))
	}
	shown := 0
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			if shown++; shown <= 5 {
				t.Errorf("line %d\n got %s\nwant %s", i+1, around(g[i], w[i]), around(w[i], g[i]))
			}
		}
	}
	return len(w) - 1
}

// around is the part of a where it first differs from b.
func around(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("...%s", a[max(0, i-60):min(len(a), i+60)])
}
