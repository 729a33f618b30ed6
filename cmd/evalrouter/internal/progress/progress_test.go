package progress_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/progress"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/google/go-cmp/cmp"
)

type clock struct{ now time.Time }

func (c *clock) at(s float64) {
	c.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

func update(c *clock, s float64, status api.RunStatus, done int) flow.Update {
	c.at(s)
	return flow.Update{
		Run:     api.RunRecord{ID: "r", Status: status, ProcessedCount: done, PlannedCount: 4, SpendMicrousd: 100, CapMicrousd: 1_000_000},
		Elapsed: time.Duration(s * float64(time.Second)),
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, mode           string
		terminal, structured bool
		want                 string // json, words, line or ""
	}{
		{"PRG-03 auto in a terminal", "auto", true, false, "line"},
		{"PRG-07 auto when redirected", "auto", false, false, "words"},
		{"PRG-08 auto beside JSON", "auto", true, true, "json"},
		{"PRG-05 plain", "plain", true, false, "words"},
		{"PRG-10 json", "json", true, false, "json"},
		{"PRG-06 off", "off", true, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			c := &clock{}
			p := progress.New(&b, tt.mode, tt.terminal, tt.structured, func() int { return 80 }, func() time.Time { return c.now })
			p.Show(update(c, 1, api.StatusRunning, 1))
			got := ""
			switch s := b.String(); {
			case strings.HasPrefix(s, "{"):
				got = "json"
			case strings.HasPrefix(s, "run="):
				got = "words"
			case s != "":
				got = "line"
			}
			if got != tt.want {
				t.Errorf("showed %q as %q, want %q", b.String(), got, tt.want)
			}
		})
	}
}

// A record on every change, one in 30 s without any, and
// every field.
func TestRecords_PRG11_PRG12_PRG13(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := &clock{}
	p := progress.New(&b, progress.JSON, false, false, func() int { return 80 }, func() time.Time { return c.now })
	p.Show(update(c, 0, api.StatusQueued, 0))
	p.Show(update(c, 1, api.StatusRunning, 0))
	p.Show(update(c, 2, api.StatusRunning, 0)) // no change
	p.Show(update(c, 3, api.StatusRunning, 1))
	p.Show(update(c, 32, api.StatusRunning, 1)) // 29 s
	p.Show(update(c, 33, api.StatusRunning, 1)) // 30 s
	lost := update(c, 70, api.StatusRunning, 1)
	lost.Down = time.Second
	p.Show(lost)
	p.Show(update(c, 71, api.StatusCompleted, 4))
	var times []float64
	for line := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		times = append(times, m["elapsed_seconds"].(float64))
		for _, f := range []string{"schema", "at", "run_id", "group_id", "phase", "processed", "planned", "errors", "spend_microusd", "elapsed_seconds"} {
			if _, ok := m[f]; !ok {
				t.Errorf("no %s in %s", f, line)
			}
		}
		if m["schema"] != "evalrouter.progress.v1" || m["spend_microusd"] != "100" {
			t.Errorf("record %s", line)
		}
	}
	if diff := cmp.Diff([]float64{0, 1, 3, 33, 70, 71}, times); diff != "" {
		t.Errorf("records at (-want +got):\n%s", diff)
	}
}

func TestLine_C4(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := &clock{}
	p := progress.New(&b, progress.Auto, true, false, func() int { return 30 }, func() time.Time { return c.now })
	frames := func() int { return strings.Count(b.String(), "\r") }
	for i := range 100 {
		p.Show(update(c, float64(i)/100, api.StatusRunning, 1))
	}
	if n := frames(); n > 5 {
		t.Errorf("%d frames in a second", n)
	}
	before := frames()
	p.Show(update(c, 1, api.StatusCompleted, 4))
	if frames() != before+1 {
		t.Error("the end is not shown")
	}
	for l := range strings.SplitSeq(b.String(), "\r") {
		if l = strings.TrimSuffix(l, "\x1b[K"); len([]rune(l)) > 29 {
			t.Errorf("%d cells: %q", len([]rune(l)), l)
		}
	}
	p.Done()
	if !strings.HasSuffix(b.String(), "\r\x1b[K") {
		t.Error("the line is left behind")
	}
}

// The percentage stands beside the counts of processed tasks, and is
// left out when they do not make sense.
func TestLinePercentage_PRG09(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		done int
		want string
	}{
		{"a quarter", 1, "1/4  25 %"},
		{"impossible", 5, "5/4  0:01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			c := &clock{}
			p := progress.New(&b, progress.Auto, true, false, func() int { return 80 }, func() time.Time { return c.now })
			p.Show(update(c, 1, api.StatusRunning, tt.done))
			if !strings.Contains(b.String(), tt.want) {
				t.Errorf("showed %q, want %q", b.String(), tt.want)
			}
		})
	}
}

// PRG-04: a percentage needs counts that make sense together.
func TestPercentageNeedsCounts_PRG04(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		planned, done   int
		want, wantCount string
	}{
		{"both are known", 4, 2, "50 %", "2/4"},
		{"how many is not known", 0, 2, "", ""},
		{"more than planned", 4, 5, "", ""},
		{"a negative count", 4, -1, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &clock{}
			var out bytes.Buffer
			p := progress.New(&out, progress.Auto, true, false, func() int { return 80 }, func() time.Time { return c.now })
			u := update(c, 1, api.StatusRunning, tt.done)
			u.Run.PlannedCount = tt.planned
			p.Show(u)
			if got := out.String(); strings.Contains(got, "%") != (tt.want != "") || !strings.Contains(got, tt.want) || !strings.Contains(got, tt.wantCount) {
				t.Errorf("the line is %q", got)
			}
		})
	}
}

// A sentence for every tenth and every phase, and no more.
func TestSpoken(t *testing.T) {
	t.Parallel()
	c := &clock{}
	var out bytes.Buffer
	p := progress.New(&out, progress.Spoken, true, false, func() int { return 80 }, func() time.Time { return c.now })
	show := func(s float64, status api.RunStatus, done int, down time.Duration) {
		u := update(c, s, status, done)
		u.Run.PlannedCount, u.Down = 40, down
		p.Show(u)
	}
	show(0, api.StatusQueued, 0, 0)
	for i := range 41 {
		show(float64(i), api.StatusRunning, i, 0)
	}
	show(50, api.StatusRunning, 40, time.Second)
	show(51, api.StatusRunning, 40, 2*time.Second)
	show(52, api.StatusRunning, 40, 0)
	show(60, api.StatusCompleted, 40, 0)
	p.Done()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		"The run is queued, 0 percent, 0 of 40 tasks, 0 errors, $0.0001 spent.", "The run is running, 0 percent, 0 of 40 tasks, 0 errors, $0.0001 spent.",
		"The run is running, 10 percent, 4 of 40 tasks, 0 errors, $0.0001 spent.",
	}
	if len(lines) != 1+11+2+1 || strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\r") {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
	if d := cmp.Diff(want, lines[:3]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	out.Reset()
	group := update(c, 61, api.StatusRunning, 20)
	group.Run.ID, group.Run.GroupID, group.Run.PlannedCount = "", new("g"), 40
	p.Show(group)
	if got := out.String(); !strings.HasPrefix(got, "The group is running, 50 percent, 20 of 40 tasks") {
		t.Errorf("of a group: %q", got)
	}
}
