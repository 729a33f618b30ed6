//go:build !unix

package main

import (
	"fmt"
	"os"
	"os/exec"
)

// replaceProcess runs another program in this one's place.
func replaceProcess(path string, args []string) error {
	cmd := exec.Command(path, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}
