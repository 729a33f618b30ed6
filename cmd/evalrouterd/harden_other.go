//go:build !linux

package main

// harden does what a system offers against dumps of memory; here that is left to
// whoever starts the process.
func harden() {}
