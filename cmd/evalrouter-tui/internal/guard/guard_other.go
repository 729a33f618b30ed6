//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package guard

import (
	"errors"
	"io"
)

// Guard guards nothing: a console is given back by the system.
type Guard struct{}

// New is nobody.
func New() *Guard { return nil }

// Start starts nothing.
func (*Guard) Start(string) {}

// Taking does nothing.
func (*Guard) Taking() {}

// Given does nothing.
func (*Guard) Given() {}

// Close does nothing.
func (*Guard) Close() {}

// Serve is not there.
func Serve(io.Reader) error { return errors.New("terminals are not guarded on this system") }
