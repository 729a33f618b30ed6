package main

import "golang.org/x/sys/unix"

// harden keeps the memory of this process, with its keys, out of files and away
// from other processes of its user. A system that refuses is no reason not to
// start: what it protects from needs an account on the machine.
func harden() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
