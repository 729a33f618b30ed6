// Package pty opens pseudo-terminals, on Linux.
package pty

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// Open gives both ends of a terminal of a size: what a program under test writes
// to tty is read from ctrl.
func Open(columns, rows int) (ctrl, tty *os.File, err error) {
	ctrl, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = ctrl.Close()
		}
	}()
	var n, unlock int32
	if err := ioctl(ctrl, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)); err != nil {
		return nil, nil, err
	}
	if err := ioctl(ctrl, syscall.TIOCGPTN, unsafe.Pointer(&n)); err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	size := [4]uint16{uint16(rows), uint16(columns)}
	if err := ioctl(tty, syscall.TIOCSWINSZ, unsafe.Pointer(&size)); err != nil {
		_ = tty.Close()
		return nil, nil, err
	}
	return ctrl, tty, nil
}

func ioctl(f *os.File, req uintptr, arg unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), req, uintptr(arg)); errno != 0 {
		return fmt.Errorf("set up a pseudo-terminal: %w", errno)
	}
	return nil
}

// Own makes a program's terminal its own, in a session of its own.
func Own() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
