package comparison_test

import (
	"bytes"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
)

// FuzzRead gives the readers any bytes: they refuse them or read them, and what
// they read can be compared with itself without a panic.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		full, "", "{", "[]", `{"samples":[{}]}`, `{"samples":[{"status":"graded","answer":1}],"profiles":[{}]}`, `{"profiles":null}`,
		`{"schema":"evalrouter.export.v1","target_kind":"managed","profiles":[{"counts":{"graded":1}}],"samples":[{"status":"graded"}]}`,
		line(1, 1, "c") + line(2, 0, ""), `{"task_id":"t","score":1e308}` + "\n" + `{"task_id":"u","score":-1e308}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := run("a", nil)
		if s, err := comparison.ReadSummary(bytes.NewReader(b)); err == nil {
			m.Summary = s
		}
		if s, tasks, err := comparison.ReadFull(bytes.NewReader(b)); err == nil {
			m.Summary, m.Tasks = s, tasks
		}
		scores, err := comparison.ReadScores(bytes.NewReader(b))
		if err == nil {
			m.Scores = scores
		}
		other := m
		other.Summary.RunID += "x"
		for _, o := range []comparison.Options{{}, {WithoutRaw: true}, {Statistics: true}} {
			if c, err := comparison.Make([]comparison.Member{m, other}, o); err == nil && c.Schema != api.ComparisonSchema {
				t.Error("a comparison without its schema")
			}
		}
	})
}
