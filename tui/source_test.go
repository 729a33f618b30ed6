package tui_test

import (
	"errors"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// A task's answer comes out of the export, wherever it stands in it; one that
// is not in it is said to be missing.
func TestSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(80, 24)
	toReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("The run has ended")
	runs, err := w.src.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	page, err := w.src.Tasks(t.Context(), runs[0].ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, len(page.Data) - 1} {
		task := page.Data[i]
		s, err := w.src.Sample(t.Context(), runs[0].ID, task.TaskID)
		if err != nil || s.TaskID != task.TaskID || s.Answer == nil {
			t.Errorf("task %s: %+v, %v", task.TaskID, s, err)
		}
	}
	if _, err := w.src.Sample(t.Context(), runs[0].ID, "no-such-task"); !errors.Is(err, api.NotFound) {
		t.Errorf("a task that is not there: %v", err)
	}
	w.fake.Fail("GET /v1/runs/{id}/export", 9, 503, api.Unavailable)
	if _, err := w.src.Sample(t.Context(), runs[0].ID, page.Data[0].TaskID); !errors.Is(err, api.Unavailable) {
		t.Errorf("an outage reads as %v", err)
	}
}
