package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hardened makes the test binary a process that hardens itself and tells how it
// is.
const hardened = "EVALROUTERD_TEST_HARDENED"

func TestMain(m *testing.M) {
	if os.Getenv(hardened) == "" {
		os.Exit(m.Run())
	}
	harden()
	var core unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_CORE, &core)
	dumpable, err2 := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	fmt.Println(core.Cur, core.Max, err, dumpable, err2)
}

// TestHarden leaves no memory of the process to a crash, nor to a debugger of
// the same user.
func TestHarden(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), hardened+"=1")
	out, err := cmd.Output()
	if want := "0 0 <nil> 0 <nil>"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("it is %s (%v), want %s", out, err, want)
	}
}
