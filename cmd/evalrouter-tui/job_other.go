//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

import "github.com/evalrouter/evalrouter/tui"

func abort() {}

// job is the process; no shell here stops and continues it.
type job struct{}

func newJob() job { return job{} }

func (job) events() <-chan tui.JobEvent { return nil }

func (job) stop() error { return nil }
