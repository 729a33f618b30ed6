package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// fresh builds the commands that are measured, as scripts/setup does: figures of
// binaries that were left over from an earlier state are figures of nothing.
func fresh() error {
	for _, name := range []string{"evalrouter", "evalrouterd", "evalrouter-bench", "evalrouter-tui"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join("bin", name), "./"+filepath.Join("cmd", name))
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
}
