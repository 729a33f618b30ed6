package sob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// The committed corpus holds records of our own making, with what the
// reference's rules give for them: computed in CPython 3.11 with
// python-jsonschema 4.10.3, not by this package.

func TestCorpus_Records(t *testing.T) {
	t.Parallel()
	cases := readCases(t, "testdata/records.jsonl")
	if len(cases) < 150 {
		t.Fatalf("only %d cases", len(cases))
	}
	raised := 0
	for _, v := range cases {
		record := loads(t, v.text("record"))
		if text, ok := at(v.input, "text").(string); ok {
			answer := sob.Extract(text, sob.Rescue).Value
			_ = at(record, "output").(*value.Dict).Set("candidate_response", answer)
		}
		e, err := sob.EvaluateRecord(record, sob.Modality(v.text("modality")))
		got := result{err: err}
		if err == nil {
			line, err := e.AppendLine(nil, sob.Image)
			if err != nil {
				t.Fatal(err)
			}
			got.value = loads(t, string(line))
		} else {
			raised++
		}
		if d := cmp.Diff(expectation(v.expected), outcome(got)); d != "" {
			t.Errorf("case %s (-want +got):\n%s\n%s", v.name, d, clip(v.text("record")))
		}
	}
	if raised == 0 {
		t.Error("no case raises")
	}
}

func TestCorpus_Summary(t *testing.T) {
	t.Parallel()
	scored, malformed, err := evaluateAll(readFile(t, "testdata", "responses.jsonl"), sob.Image)
	if err != nil {
		t.Fatal(err)
	}
	want := loads(t, readFile(t, "testdata", "summary.json"))
	if got := int64(len(scored)); got != at(want, "records") || int64(malformed) != at(want, "malformed") {
		t.Errorf("%d records and %d malformed lines", got, malformed)
	}
	b := sob.Bootstrap{Samples: int(at(want, "samples").(int64)), Seed: at(want, "seed").(int64)}
	rows := make([]sob.Row, len(scored))
	for i := range scored {
		rows[i] = scored[i].Row
	}
	for name, weighted := range map[string]bool{"plain": false, "weighted": true} {
		s := sob.Summarize(rows, weighted, b)
		var got []any
		for i, m := range sob.Summarized() {
			f := s.Metrics[i]
			got = append(got, []any{m.String(), f.Mean, f.Low, f.High})
		}
		for i, c := range sob.Categories() {
			f := s.Categories[i]
			got = append(got, []any{c.Title, f.Mean, f.Low, f.High})
		}
		if d := cmp.Diff(value.Repr(at(want, name)), value.Repr(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
