//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// replaceProcess becomes another program, so that nothing stands between it
// and the terminal.
func replaceProcess(path string, args []string) error {
	return fmt.Errorf("start %s: %w", path, syscall.Exec(path, args, os.Environ()))
}
