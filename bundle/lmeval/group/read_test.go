package group_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/lmeval/group"
	"github.com/evalrouter/evalrouter/bundle/lmeval/task"
)

func parse(t *testing.T, text string) (group.Group, error) {
	t.Helper()
	d, err := task.Parse(fstest.MapFS{"g.yaml": {Data: []byte(text)}}, "g.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return group.Read(d)
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := parse(t, `
group: sums
group_alias: Sums
task:
  - plus
  - group: hard
    task: times
aggregate_metric_list:
  - metric: acc
    aggregation: mean
    weight_by_size: no
    filter_list: none
  - {metric: exact_match, filter_list: [strict, flex]}
metadata: {version: 1}
`)
	want := group.Group{
		Name: "sums", Alias: "Sums", Tasks: []string{"plus"}, Groups: []group.Group{{Name: "hard", Tasks: []string{"times"}}},
		Aggregate: []group.Rule{{Metric: "acc", Filters: []string{"none"}, Unsized: true}, {Metric: "exact_match", Filters: []string{"strict", "flex"}}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("Read: %v (-want +got):\n%s", err, d)
	}
}

func TestRead_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"unknown key", "group: g\ntask: a\ncolour: red\n", "colour"},
		{"no name", "task: a\n", "group is missing"},
		{"no tasks", "group: g\n", "names nothing"},
		{"changed task", "group: g\ntask: [{task: a, num_fewshot: 3}]\n", "changes a task"},
		{"aggregation", "group: g\ntask: a\naggregate_metric_list: [{metric: acc, aggregation: median}]\n", "only the mean"},
		{"weight", "group: g\ntask: a\naggregate_metric_list: [{metric: acc, weight_by_size: 2}]\n", "weight_by_size"},
		{"no metric", "group: g\ntask: a\naggregate_metric_list: [{filter_list: x}]\n", "metric is missing"},
		{"rule key", "group: g\ntask: a\naggregate_metric_list: [{metric: acc, by: x}]\n", "by is not supported"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := parse(t, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %v, want an error about %q", err, tt.want)
			}
		})
	}
}
