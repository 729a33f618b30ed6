package evals_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/evals"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

// growing is an API whose run decides a task after every answer that it gives to
// whoever follows it, up to its last one.
type growing struct {
	t       *testing.T
	record  map[string]any
	asked   int
	decided int
}

func (g *growing) answer(w http.ResponseWriter, r *http.Request, _ evals.Looker) {
	var v any
	if strings.HasSuffix(r.URL.Path, "/events") {
		v = map[string]any{"data": []map[string]any{{"sequence": 1 + g.decided, "type": "task.graded", "run_id": "r", "created_at": "2026-11-02T09:00:00Z", "data": map[string]any{}}}}
	} else {
		g.record["status"], g.record["outcomes"] = "running", map[string]int{"right": g.decided}
		v = g.record
	}
	if err := json.NewEncoder(w).Encode(v); err != nil {
		g.t.Error(err)
	}
	if g.asked++; g.asked > 1 { // the first only finds the run
		g.decided = min(g.decided+1, 3)
	}
}

// Watch wakes at once, as a run does that goes on.
func (g *growing) Watch(...core.RunID) (<-chan struct{}, func()) {
	c := make(chan struct{})
	close(c)
	return c, func() {}
}

// TestStream_Current: a page that is told under the sequence of a change shows that
// change, also where it comes while the page is made. Otherwise a browser that has
// the sequence would be left with the old figures.
func TestStream_Current(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../httpapi/testdata/golden/run_created.json")
	if err != nil {
		t.Fatal(err)
	}
	g := &growing{t: t, record: map[string]any{}}
	if err := json.Unmarshal(raw, &g.record); err != nil {
		t.Fatal(err)
	}
	bodies, err := pages.New()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds, soon := 0, make(chan time.Time)
	close(soon)
	h := &evals.Handlers{API: g.answer, Bodies: bodies, Changes: g, Self: "http://example.org", People: true, After: func(d time.Duration) <-chan time.Time {
		if d != 500*time.Millisecond { // only the pace between two tellings
			return nil
		}
		if rounds++; rounds == 4 {
			cancel()
			return nil
		}
		return soon
	}}
	out := httptest.NewRecorder()
	for _, p := range h.Pages() {
		if p.Path != "/runs/{id}/stream" {
			continue
		}
		r := httptest.NewRequestWithContext(ctx, "GET", "/runs/r/stream", nil)
		r.SetPathValue("id", "r")
		if _, err := p.Show(out, r, web.Visit{In: true, At: core.Membership{WorkspaceInfo: core.WorkspaceInfo{ID: "w"}}}); err != web.ErrAnswered {
			t.Fatal(err)
		}
	}
	if !strings.Contains(out.Body.String(), "3 of 3 tasks are decided") {
		t.Errorf("the last task is never told:\n%s", out.Body)
	}
	for event := range strings.SplitSeq(out.Body.String(), "\n\n") {
		var seq, decided int
		shown := regexp.MustCompile(`(\d) of 3 tasks are decided`).FindString(event)
		if shown == "" {
			continue // the stream is still there
		}
		if _, err := fmt.Sscanf(event, "id: %d", &seq); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(shown, "%d", &decided); err != nil {
			t.Fatal(err)
		}
		if decided < seq-1 {
			t.Errorf("under the sequence of %d tasks the browser is told: %s", seq-1, shown)
		}
	}
}

// deadlined is an answer that notes until when each piece of it may be taken.
type deadlined struct {
	*httptest.ResponseRecorder
	most time.Duration
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.most = max(d.most, time.Until(at))
	return nil
}

// waits is a run at which nothing changes; it notes who began to wait for it.
type waits chan struct{}

func (w waits) Watch(...core.RunID) (<-chan struct{}, func()) {
	w <- struct{}{}
	return nil, func() {}
}

// TestStream_Bounds: fifty pages of a workspace are followed at once and no more,
// those of another one beside them; a browser has ten seconds for each piece, and
// comes again after five minutes, to be asked again who it is.
func TestStream_Bounds(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../httpapi/testdata/golden/run_created.json")
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := pages.New()
	if err != nil {
		t.Fatal(err)
	}
	over, waiting := make(chan time.Time), make(waits, 1000)
	h := &evals.Handlers{Bodies: bodies, Changes: waiting, Self: "http://example.org", People: true, API: func(w http.ResponseWriter, r *http.Request, _ evals.Looker) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			fmt.Fprint(w, `{"data":[]}`)
			return
		}
		w.Write(raw)
	}, After: func(d time.Duration) <-chan time.Time {
		if d == 5*time.Minute {
			return over
		}
		return nil
	}}
	follow := func(w core.WorkspaceID) (*deadlined, error) {
		out := &deadlined{ResponseRecorder: httptest.NewRecorder()}
		for _, p := range h.Pages() {
			if p.Path == "/runs/{id}/stream" {
				r := httptest.NewRequestWithContext(t.Context(), "GET", "/runs/r/stream", nil)
				r.SetPathValue("id", "r")
				_, err := p.Show(out, r, web.Visit{In: true, At: core.Membership{WorkspaceInfo: core.WorkspaceInfo{ID: w}}})
				return out, err
			}
		}
		return out, nil
	}
	ended := make(chan *deadlined, 51)
	for i := range 51 {
		go func() {
			out, err := follow(core.WorkspaceID([]string{"w", "w2"}[i/50]))
			if err != web.ErrAnswered {
				t.Error(err)
			}
			ended <- out
		}()
		<-waiting
	}
	var refusal *core.Refusal
	if _, err := follow("w"); !errors.As(err, &refusal) || refusal.Code != "rate_limited" {
		t.Errorf("one more is answered %v", err)
	}
	close(over)
	for range 51 {
		if out := <-ended; out.most <= 9*time.Second || out.most > 10*time.Second || out.Code != 200 {
			t.Errorf("a piece may be taken for %s", out.most)
		}
	}
}
