package export_test

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export/attack"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

// parquetRows reads a file back, each row by the names of its columns; what is
// absent is not there.
func parquetRows(t *testing.T, file []byte) (rows []map[string]string, f *parquet.File) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	columns := f.Schema().Columns()
	for _, g := range f.RowGroups() {
		in := g.Rows()
		buf := make([]parquet.Row, 10)
		for {
			n, err := in.ReadRows(buf)
			for _, r := range buf[:n] {
				row := map[string]string{}
				for _, v := range r {
					if !v.IsNull() {
						row[strings.Join(columns[v.Column()], ".")] = v.String()
					}
				}
				rows = append(rows, row)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return rows, f
}

// The Parquet file holds what the CSV holds, of every kind of task, with the
// texts as they came; numbers are numbers, and what is not there is null.
func TestParquet_AsCSV(t *testing.T) {
	t.Parallel()
	texts, score := attack.Texts(), 0.25
	var rows book
	for i, x := range texts {
		row := history.SampleRow{Sample: core.Sample{Idx: 2 * i, TaskID: "id " + x, State: core.SampleGraded, Outcome: bundle.Right, Attempt: 1, Charge: 7, Score: &score, Grader: "g@1"}, Raw: []byte(x), Finish: "stop", UsageDoc: `{"input":3,"output":4}`}
		if i%5 == 0 {
			row = history.SampleRow{Sample: core.Sample{Idx: 2 * i, TaskID: "id " + x, State: core.SampleFailed, Outcome: core.ProviderError, Code: "provider_timeout", Attempt: 3}}
		}
		rows = append(rows, row)
	}
	r := runOf(2*len(texts), core.Partial, core.SpendingCap)
	r.Quote.Profile.TaskCount = r.Planned
	var file, again, plainText bytes.Buffer
	for _, out := range []io.Writer{&file, &again} {
		if err := source(rows).Parquet(t.Context(), r, "accuracy", out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("the same run gives other bytes")
	}
	if err := source(rows).CSV(t.Context(), r, "accuracy", &plainText); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&plainText).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got, f := parquetRows(t, file.Bytes())
	if len(got) != len(lines)-1 || len(got) != r.Planned {
		t.Fatalf("%d rows and %d lines of %d tasks", len(got), len(lines)-1, r.Planned)
	}
	if name, ok := f.Lookup("evalrouter.score"); !ok || name != "accuracy" {
		t.Errorf("the score is that of %q", name)
	}
	for i, line := range lines[1:] {
		for c, name := range lines[0] {
			want := line[c]
			switch name {
			case "score_accuracy":
				name = "score"
			case "task_id", "answer":
				if want = got[i]["task_id"]; i%2 == 0 && name == "answer" && got[i]["status"] == "graded" {
					want = texts[i/2]
				} else if name == "answer" {
					want = ""
				} else if i%2 == 0 {
					want = "id " + texts[i/2]
				}
			}
			if got[i][name] != want {
				t.Fatalf("task %d: %s is %q, the CSV has %q", i, name, got[i][name], want)
			}
		}
	}
}
