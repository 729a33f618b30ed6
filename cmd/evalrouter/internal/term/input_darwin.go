package term

import (
	"syscall"
	"unsafe"
)

// discardInput throws away what was typed and not yet read.
func discardInput(fd int) error {
	const tiocflush = 0x80047410
	read := 1 // FREAD
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), tiocflush, uintptr(unsafe.Pointer(&read))); errno != 0 {
		return errno
	}
	return nil
}
