//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package guard

import "golang.org/x/sys/unix"

// Setting the state drops what was typed but not read: reports of the mouse, say.
const (
	getState = unix.TIOCGETA
	setState = unix.TIOCSETAF
)
