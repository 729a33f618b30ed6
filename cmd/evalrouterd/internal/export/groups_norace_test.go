//go:build !race

package export_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

// A run of many tasks is written in groups of rows, so that it is never held.
func TestParquet_Groups(t *testing.T) {
	t.Parallel()
	const n = 12_345
	for _, tt := range []struct {
		name   string
		answer string
		tasks  int
		groups int
	}{{"many", "x", n, 3}, {"long", strings.Repeat("long ", 100_000), 40, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var rows book
			for i := range tt.tasks {
				rows = append(rows, history.SampleRow{Sample: core.Sample{Idx: i, TaskID: strconv.Itoa(i), State: core.SampleGraded, Outcome: bundle.Wrong}, Raw: fmt.Appendf(nil, "%d %s", i, tt.answer)})
			}
			var file bytes.Buffer
			if err := source(rows).Parquet(t.Context(), runOf(tt.tasks, core.Completed, core.ReasonCompleted), "accuracy", &file); err != nil {
				t.Fatal(err)
			}
			got, f := parquetRows(t, file.Bytes())
			if len(got) != tt.tasks || len(f.RowGroups()) != tt.groups || got[tt.tasks-1]["answer"] != fmt.Sprintf("%d %s", tt.tasks-1, tt.answer) {
				t.Errorf("%d rows in %d groups", len(got), len(f.RowGroups()))
			}
		})
	}
}
