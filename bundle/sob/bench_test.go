package sob_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob"
	"github.com/evalrouter/evalrouter/bundle/sob/draft7"
)

// publishedRecords are the response records of one published model.
func publishedRecords(tb testing.TB) (lines []string) {
	tb.Helper()
	text := readFile(tb, sharedDir(tb, "data", "sob", "gpt-5.5"), "responses.jsonl")
	return strings.Split(strings.TrimSpace(text), "\n")
}

// BenchmarkEvaluateLines is records from their lines of a response file to
// their rows: everything parsed, the schema checked and compiled for each.
func BenchmarkEvaluateLines(b *testing.B) {
	lines := publishedRecords(b)
	text := strings.Join(lines, "\n")
	b.ResetTimer()
	for range b.N {
		for _, err := range sob.EvaluateLines(strings.NewReader(text), sob.Image) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(lines))/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkValidate is a parsed answer held to a prepared schema, and
// BenchmarkCheck a parsed schema held to the meta-schema.
func BenchmarkValidate(b *testing.B) {
	type pair struct {
		schema *draft7.Schema
		answer any
	}
	var pairs []pair
	for _, line := range publishedRecords(b) {
		r := loads(b, line)
		pairs = append(pairs, pair{draft7.Compile(at(r, "input", "json_schema")), at(r, "output", "candidate_response")})
	}
	b.ResetTimer()
	for i := range b.N {
		p := pairs[i%len(pairs)]
		if _, err := p.schema.Validate(p.answer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	var schemas []any
	for _, line := range publishedRecords(b) {
		schemas = append(schemas, at(loads(b, line), "input", "json_schema"))
	}
	b.ResetTimer()
	for i := range b.N {
		if !draft7.Check(schemas[i%len(schemas)]) {
			b.Fatal("a published schema is not valid")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	var schemas []any
	for _, line := range publishedRecords(b) {
		schemas = append(schemas, at(loads(b, line), "input", "json_schema"))
	}
	b.ResetTimer()
	for i := range b.N {
		draft7.Compile(schemas[i%len(schemas)])
	}
}

// BenchmarkSummarize is a summary with its intervals over all 5,000 text records.
func BenchmarkSummarize(b *testing.B) {
	rows := make([]sob.Row, 5000)
	for i := range rows {
		rows[i].Weight = float64(i%3 + 1)
		for m := range rows[i].Scores {
			rows[i].Scores[m] = float64((i*7+m)%11) / 10
		}
	}
	b.ResetTimer()
	for range b.N {
		sob.Summarize(rows, true, sob.DefaultBootstrap())
	}
}

func BenchmarkLoads(b *testing.B) {
	lines := publishedRecords(b)
	for i := range b.N {
		if _, err := value.Loads(lines[i%len(lines)]); err != nil {
			b.Fatal(err)
		}
	}
}
