package e2e_test

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// takeovers is how many workers are killed to see how long their run stands
// still. scripts/prove pg sets it.
var takeovers = flag.Int("e2e.takeovers", 0, "kills of the worker of a run, under the usual lease")

// takeoverWithin is the promise: so long after the death of its worker a run
// goes on at the latest.
const takeoverWithin = time.Minute

// One of three workers dies without a word, under the leases and sweeps that
// everybody has. Its run goes on within a minute: a new question is asked.
func TestCluster_TakeoverWithinAMinute(t *testing.T) {
	if *takeovers == 0 {
		t.Skip("a takeover under the usual lease takes most of a minute; scripts/prove pg measures it")
	}
	e := serveCounting(t, 200*time.Millisecond)
	c := newClusterWith(t, 0, 0, e)
	tasks := 600 * *takeovers
	id := c.start(e, c.sums(tasks), clusterConcurrency)
	lost := 0
	for k := range *takeovers {
		goal, _ := e.seen()
		c.until("questions", func() bool { total, _ := e.seen(); return total >= goal+50 })
		i := c.workerOf(id)
		if err := c.workers[i].cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-c.workers[i].gone
		died := time.Now()
		before, _ := e.seen()
		c.within(2*takeoverWithin, "a question of another worker", func() bool { total, _ := e.seen(); return total > before })
		stood := time.Since(died)
		t.Logf("takeover %d of %d: %.1f s", k+1, *takeovers, stood.Seconds())
		if stood > takeoverWithin {
			t.Errorf("the run stood still for %s; %s are promised", stood, takeoverWithin)
		}
		lost += clusterConcurrency
		c.workers[i] = c.worker(i, "--allow-private", strings.TrimPrefix(e.URL, "http://"))
	}
	r := c.ended(id)
	if _, twice := e.seen(); twice != 0 || r.GradedCount < tasks-lost || r.GradedCount+r.Outcomes["provider_error"] != tasks {
		t.Errorf("the run is %s (%s) with %v of %d tasks; %d questions were asked twice", r.Status, r.TerminalReason, r.Outcomes, tasks, twice)
	}
	c.auditDatabase()
}

// workerOf is which worker has a turn at a run: its name begins with the number
// of its process.
func (c *cluster) workerOf(id string) (worker int) {
	c.t.Helper()
	bin, ok := testpg.FindServer(testpg.DebianGlob)
	if !ok {
		c.t.Fatal("the server that runs is gone")
	}
	c.until("the worker of the run", func() bool {
		out, err := exec.Command(filepath.Join(bin, "psql"), "-At", c.pg.URL, "-c", "SELECT owner FROM runs WHERE id = '"+id+"'").Output()
		if err != nil {
			c.t.Fatal(err)
		}
		pid, _, _ := strings.Cut(strings.TrimSpace(string(out)), "-")
		for i, w := range c.workers {
			if strconv.Itoa(w.cmd.Process.Pid) == pid {
				worker = i
				return true
			}
		}
		return false
	})
	return worker
}
