package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

var everyCall = flag.Bool("death.whole", false, "die at every kind of system call that changes a file, not only where names change")

// The first start of the service makes its database, keys and tokens. It is
// killed at the first, second, and every later system call that changes a
// file, until it lives; each time the next start must find its way, and a
// third find nothing left to do.
func TestDeath_InAFirstStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("strace, which kills the service at a system call, is not there or may not trace")
	}
	kinds := []struct {
		call string
		step int // die at every step-th
	}{{"renameat", 1}, {"linkat", 1}, {"fsync", 1}, {"ftruncate", 1}, {"unlinkat", 1}, {"fchmod", 1}, {"mkdirat", 1}, {"pwrite64", 20}}
	if !*everyCall {
		kinds = kinds[:2]
	}
	deaths := 0
	for _, k := range kinds {
		n := 0
		for when := 1; s.diesAt(k.call, when); when += k.step {
			n++
		}
		t.Logf("%-10s %d deaths", k.call, n)
		deaths += n
	}
	if deaths == 0 {
		t.Error("nothing died")
	}
}

// diesAt starts the service in a new folder and kills it when one of its
// threads makes a system call for the when-th time. It says whether that
// happened.
func (s *site) diesAt(call string, when int) bool {
	s.t.Helper()
	data := filepath.Join(s.t.TempDir(), "data")
	start := []string{filepath.Join(s.bin, "evalrouterd"), "local", "--data", data, "--port", "0", "--idle", "20ms"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "strace", append([]string{"-f", "-q", "-o", os.DevNull, "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, when)}, start...)...)
	cmd.Env = []string{"HOME=" + s.home, "PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		s.t.Fatalf("%s %d: %v\n%s", call, when, err, out)
	}
	for _, what := range []string{"the start after it", "the one after that"} {
		if out := s.run("evalrouterd", start[1:]...); out.code != 0 {
			s.t.Errorf("killed at %s %d: %s ends with %d\n%s%s", call, when, what, out.code, out.stdout, out.stderr)
		}
	}
	if out := s.run("evalrouterd", "audit", "--data", data); out.code != 0 {
		s.t.Errorf("killed at %s %d: audit: exit %d\n%s%s", call, when, out.code, out.stdout, out.stderr)
	}
	return true
}
