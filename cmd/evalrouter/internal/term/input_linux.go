package term

import "syscall"

// discardInput throws away what was typed and not yet read.
func discardInput(fd int) error {
	const (
		tcflsh   = 0x540B
		tciflush = 0
	)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), tcflsh, tciflush); errno != 0 {
		return errno
	}
	return nil
}
