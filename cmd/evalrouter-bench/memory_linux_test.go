package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/archive/archivetest"
)

// measure is a small program between the test and what it measures: on Linux
// a process counts the memory of the one that started it into its own peak.
// It runs a program on every file and prints exit code, peak KiB and file.
func measure() {
	for _, file := range os.Args[2:] {
		cmd := exec.Command(os.Args[1], "validate", file, "--json")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the exit code is what is looked at
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		fmt.Println(cmd.ProcessState.ExitCode(), peak, filepath.Base(file), out.String())
	}
}

// All hostile zip files are refused with exit code 2 by the rule that is
// meant, in no more than 64 MiB.
func TestHostile_Memory(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(os.Getenv("EVALROUTER_TEST_BIN"), "evalrouter-bench")
	if os.Getenv("EVALROUTER_TEST_BIN") == "" {
		t.Skip("EVALROUTER_TEST_BIN names no folder of built binaries, and memory is measured of the program as it ships")
	}
	dir := t.TempDir()
	all := archivetest.All()
	args := []string{bin}
	for i, h := range all {
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(file, h.Build(), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, err := exec.Command("measure", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const limit = 64 << 10
	seen, most := 0, 0
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(f) < 4 {
			continue
		}
		i, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatalf("cannot read %q", line)
		}
		seen++
		peak, _ := strconv.Atoi(f[1]) // the program above printed a number
		most = max(most, peak)
		if f[0] != "2" || !strings.Contains(f[3], `"`+all[i].Rule+`"`) {
			t.Errorf("%s: exit code %s, want the rule %s: %s", all[i].Name, f[0], all[i].Rule, f[3])
		}
		if peak > limit || peak == 0 {
			t.Errorf("%s: %d KiB", all[i].Name, peak)
		}
	}
	if seen != len(all) {
		t.Errorf("%d of %d files were looked at: %s", seen, len(all), out)
	}
	t.Logf("%d hostile files, at most %d KiB", seen, most)
}
