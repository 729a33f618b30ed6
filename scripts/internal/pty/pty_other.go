//go:build !linux

package pty

import (
	"errors"
	"os"
	"syscall"
)

// Open opens nothing here.
func Open(int, int) (ctrl, tty *os.File, err error) { return nil, nil, errors.ErrUnsupported }

// Own changes nothing here.
func Own() *syscall.SysProcAttr { return nil }
