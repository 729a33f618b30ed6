package testpg

import (
	"os"
	"syscall"
)

// shared is where Linux keeps files in memory.
const shared = "/dev/shm"

// InMemory is a folder for files in memory that has room for so many bytes, else the one for temporary files. Every
// database is three hundred files, so that hundreds of them, each used for a second, cost a disk more than what they
// are tested for. What a server that is killed has written is there as on a disk; after a power cut it is not.
func InMemory(room uint64) string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shared, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return os.TempDir()
	}
	return shared
}
