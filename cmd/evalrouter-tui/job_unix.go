//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evalrouter/evalrouter/tui"
)

// abort lets a failure of the runtime end in a signal. A shell that sees one
// gives the terminal its own settings; after an exit it takes over those it
// finds, which are the workspace's. Nothing of the memory is written for it.
func abort() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // less is always allowed
	debug.SetTraceback("crash")
}

// job is the process as its shell controls it.
type job struct{ in chan os.Signal }

func newJob() job {
	j := job{make(chan os.Signal, 4)}
	j.listen()
	return j
}

func (j job) listen() { signal.Notify(j.in, syscall.SIGTSTP, syscall.SIGCONT) }

// events are what others do to the job: `kill -TSTP`, or continuing it after a
// stop that could not be seen coming.
func (j job) events() <-chan tui.JobEvent {
	out := make(chan tui.JobEvent)
	go func() { // for as long as the process
		for s := range j.in {
			if s == syscall.SIGTSTP {
				out <- tui.AskedToStop
			} else {
				out <- tui.Continued
			}
		}
	}()
	return out
}

// stop stops the whole group, as the shell's own Ctrl+Z does, and comes back
// when it is continued. Where no shell could continue it, it does nothing.
//
// It is SIGSTOP because a Go program that ever listened to SIGTSTP cannot be
// stopped by it any more.
func (j job) stop() error {
	parent := os.Getppid()
	session, err := unix.Getsid(parent)
	if err != nil {
		return nil
	}
	group, err := unix.Getpgid(parent)
	if own, mine := unix.Getsid(0); err != nil || mine != nil || session != own || group == unix.Getpgrp() {
		return nil
	}
	signal.Stop(j.in)
	defer j.listen()
	back := make(chan os.Signal, 1)
	signal.Notify(back, syscall.SIGCONT)
	defer signal.Stop(back)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return err
	}
	<-back
	return nil
}
