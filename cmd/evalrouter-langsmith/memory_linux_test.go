package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
)

var backfill = flag.Int("backfill", 150, "how many traces TestBackfill imports")

// A back-fill needs no more memory for many traces than for few. The pace is
// off, which only makes it harder.
func TestBackfill_FlatMemory(t *testing.T) {
	t.Parallel()
	s := newSite(fakesmith.Options{})
	t.Cleanup(s.close)
	small := fakesmith.NewSink(false)
	t.Cleanup(small.Close)
	runs := make([]*fakesmith.Run, 0, 2**backfill)
	answer := json.RawMessage(`{"answer":"on its way"}`)
	for i := range *backfill {
		pair := trace(i+1, time.Duration(i+60)*25*time.Second)
		pair[0].Outputs = answer
		runs = append(runs, pair...)
	}
	s.smith.Add(runs...)
	peakPath := filepath.Join(t.TempDir(), "peak")
	cmd := exec.Command(program(t), "sync", "--project", project, "--state", filepath.Join(t.TempDir(), "state"), "--since", "2020-01-01", "--settle", "0", "--json", "--allow-http")
	cmd.Env = append(s.env(), "TEST_UNPACED=1", "EVALROUTER_BASE_URL="+small.URL, peakFile+"="+peakPath)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := len(small.Revisions()); n != *backfill {
		t.Fatalf("%d of %d traces arrived", n, *backfill)
	}
	text, err := os.ReadFile(peakPath)
	if err != nil {
		t.Fatal(err)
	}
	// Not the kernel's figure for the child, which begins with the parent's.
	var peak int
	if _, err := fmt.Sscanf(string(text), "VmHWM: %d kB", &peak); err != nil {
		t.Fatalf("read peak memory from %q: %v", text, err)
	}
	peak /= 1024
	t.Logf("%d traces, peak memory %d MB, %s of processor time: %s", *backfill, peak, cmd.ProcessState.UserTime().Round(time.Millisecond), strings.TrimSpace(string(out)))
	if peak > 80 && !raceEnabled(t) {
		t.Errorf("peak memory %d MB, want at most 80", peak)
	}
}
