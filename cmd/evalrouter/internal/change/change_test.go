package change_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/change"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// book is a service that knows runs and what became of their tasks: "1" is
// right, "0" wrong, "h" half right, "-" not graded.
type book struct {
	runs  []api.RunRecord
	tasks map[string]string
	asked evalrouter.RunQuery
	fails error
}

func (b *book) List(_ context.Context, q evalrouter.RunQuery) (api.Page[api.RunRecord], error) {
	b.asked = q
	return api.Page[api.RunRecord]{Data: b.runs}, b.fails
}

func (b *book) Tasks(_ context.Context, id string, q evalrouter.TaskQuery) (api.Page[api.TaskRecord], error) {
	all, from := b.tasks[id], 0
	fmt.Sscan(q.Cursor, &from) // "" is the beginning
	page := api.Page[api.TaskRecord]{}
	for i := from; i < min(from+3, len(all)); i++ { // pages of three, so that there are several
		t := api.TaskRecord{TaskID: fmt.Sprintf("t%d", i), Attempt: 1}
		if v, ok := map[byte]float64{'1': 1, '0': 0, 'h': 0.5}[all[i]]; ok {
			t.Scores = map[string]float64{"accuracy": v}
		}
		page.Data = append(page.Data, t)
	}
	if from+3 < len(all) {
		next := fmt.Sprint(from + 3)
		page.NextCursor = &next
	}
	return page, nil
}

func (b *book) Results(context.Context, string, int) (api.ResultRecord, error) {
	return api.ResultRecord{}, errors.New("not asked for")
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func run(id, tasks, hash string, at time.Time) api.RunRecord {
	right, n := strings.Count(tasks, "1"), len(tasks)-strings.Count(tasks, "-")
	route := "r"
	return api.RunRecord{
		ID: id, Status: api.StatusCompleted, CreatedAt: at, PlannedCount: len(tasks), Model: api.Model{Selected: &api.SelectedModel{RouteID: &route}},
		Profiles: []api.ProfileSelection{{ID: "b@1", TaskIDsHash: hash, ManifestSHA256: "m"}},
		Headline: &api.Headline{Key: "accuracy", Name: "Accuracy", Value: float64(right) / float64(n), Denominator: n},
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	tests := []struct {
		name, now, before string
		sameTasks         bool
		want              string // "" for no comparison
	}{
		{"nothing changed", many("1", 10), many("1", 10), true, "+0.0 points|0 gained, 0 lost|p 1|not shown"},
		{"a few changed", "1110000000", "0010000000", true, "+20.0 points|2 gained, 0 lost|p 0.5|not shown"},
		{"shown to be better", many("1", 10), many("0", 10), true, "+100.0 points|10 gained, 0 lost|p 0.002|better"},
		{"shown to be worse", many("0", 10), many("1", 10), true, "-100.0 points|0 gained, 10 lost|p 0.002|worse"},
		{"only tasks that both graded count", "11-0", "0110", true, "+33.3 points|1 gained, 0 lost|p 1|not shown"},
		{"half scores have no pairs", "1h10", "0110", true, "|no interval|not shown"},
		{"other tasks", "1110000000", "0010000000", false, "+20.0 points|95 % interval|not shown"},
		{"other tasks, shown", many("1", 40), many("0", 40), false, "+100.0 points|95 % interval|better"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			hash := "h1"
			if !tt.sameTasks {
				hash = "h2"
			}
			now, before := run("now", tt.now, "h1", noon), run("before", tt.before, hash, noon.Add(-time.Hour))
			b := &book{runs: []api.RunRecord{now, before}, tasks: map[string]string{"now": tt.now, "before": tt.before}}
			c, err := change.Find(t.Context(), b, now)
			if err != nil || c == nil || c.RunID != "before" || c.SameTasks != tt.sameTasks {
				t.Fatalf("%+v, %v", c, err)
			}
			var out bytes.Buffer
			change.Show(&term.Page{W: &out}, c)
			for part := range strings.SplitSeq(tt.want, "|") {
				if !strings.Contains(out.String(), part) {
					t.Errorf("no %q in:\n%s", part, out.String())
				}
			}
			if !strings.HasPrefix(out.String(), "Before   ") || !strings.Contains(out.String(), fmt.Sprintf("of %d", c.Graded)) {
				t.Errorf("the earlier rate stands without its n:\n%s", out.String())
			}
		})
	}
}

// What is asked for is the same benchmark version and route, and only completed
// runs before this one count.
func TestFindPrevious(t *testing.T) {
	t.Parallel()
	now := run("now", "11", "h", noon)
	failed, later, graded := run("failed", "11", "h", noon.Add(-time.Hour)), run("later", "11", "h", noon.Add(time.Hour)), run("empty", "11", "h", noon.Add(-time.Hour))
	failed.Status, graded.Headline = api.StatusFailed, nil
	b := &book{runs: []api.RunRecord{later, now, failed, graded}}
	if c, err := change.Find(t.Context(), b, now); c != nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
	want := evalrouter.RunQuery{ProfileID: "b@1", RouteID: "r", Status: api.StatusCompleted, CreatedBefore: noon, Paging: evalrouter.Paging{Limit: 10}}
	if d := cmp.Diff(want, b.asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	b.fails = errors.New("broken")
	if _, err := change.Find(t.Context(), b, now); !errors.Is(err, b.fails) {
		t.Errorf("an unreadable list: %v", err)
	}
	b.asked = evalrouter.RunQuery{}
	now.Headline = nil
	if c, err := change.Find(t.Context(), b, now); c != nil || err != nil || b.asked.ProfileID != "" {
		t.Errorf("a run without a figure was compared: %+v, %v", c, err)
	}
}
