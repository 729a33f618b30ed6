package testpg

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// inMemory is where Linux keeps files in memory.
const inMemory = "/dev/shm"

// InMemory is a folder for files in memory, where so many bytes of it are free, else the one for temporary files. Every
// database is three hundred files, so that hundreds of them, each used for a second, cost a disk more than what they
// are tested for. What a server that is killed has written is there as on a disk; after a power cut it is not.
func InMemory(room uint64) string {
	var in syscall.Statfs_t
	if err := syscall.Statfs(inMemory, &in); err != nil || uint64(in.Bavail)*uint64(in.Bsize) < room || Free(os.DirFS("/")) < room {
		return os.TempDir()
	}
	return inMemory
}

// Free is how many bytes of memory this process could take, as the file system of a Linux machine tells it: what the
// machine has left, and what is left to each group of processes that this one is in. The limit of a file system
// promises none of it. It is 0 where nothing is told.
func Free(root fs.FS) uint64 {
	var left uint64
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) == 3 && f[0] == "MemAvailable:" {
			left = number(f[1]) << 10
		}
	}
	text, _ = fs.ReadFile(root, "proc/self/cgroup")
	_, group, _ := strings.Cut(strings.TrimSpace(string(text)), "0::/")
	for at := path.Join("sys/fs/cgroup", group); at != "sys/fs"; at = path.Dir(at) {
		limit, err := fs.ReadFile(root, path.Join(at, "memory.max"))
		if err != nil || strings.TrimSpace(string(limit)) == "max" {
			continue
		}
		used, _ := fs.ReadFile(root, path.Join(at, "memory.current"))
		if n, m := number(string(limit)), number(string(used)); n > m {
			left = min(left, n-m)
		} else {
			left = 0
		}
	}
	return left
}

// number is what a file says, 0 where it says none.
func number(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n
}
