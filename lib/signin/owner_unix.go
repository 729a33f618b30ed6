//go:build unix

package signin

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign says that something belongs to another user.
func foreign(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Getuid()
}
