//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// suspend stops the whole group, as the shell's own Ctrl+Z does, and comes back
// when it is continued.
func suspend() error {
	back := make(chan os.Signal, 1)
	signal.Notify(back, syscall.SIGCONT)
	defer signal.Stop(back)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	<-back
	return nil
}
