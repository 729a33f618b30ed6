package testpg_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

func TestInMemory(t *testing.T) {
	t.Parallel()
	if got := testpg.InMemory(math.MaxUint64); got != os.TempDir() {
		t.Errorf("there is room for everything in %s", got)
	}
	want := "/dev/shm"
	if _, err := os.Stat(want); err != nil {
		want = os.TempDir()
	}
	if got := testpg.InMemory(0); got != want {
		t.Errorf("no room is needed in %s, want %s", got, want)
	}
}

func TestFree(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	machine := func(files ...string) fstest.MapFS {
		all := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal:       24683620 kB\nMemAvailable:    8388608 kB\nBuffers: 1 kB\n")}}
		for i := 0; i < len(files); i += 2 {
			all[files[i]] = &fstest.MapFile{Data: []byte(files[i+1] + "\n")}
		}
		return all
	}
	for _, tt := range []struct {
		name string
		root fstest.MapFS
		want uint64
	}{
		{"nothing is told", fstest.MapFS{}, 0},
		{"a machine", machine(), 8 * gib},
		{"no limit", machine("proc/self/cgroup", "0::/user.slice/a", "sys/fs/cgroup/user.slice/a/memory.max", "max"), 8 * gib},
		{"a limit", machine("proc/self/cgroup", "0::/a", "sys/fs/cgroup/a/memory.max", "4294967296", "sys/fs/cgroup/a/memory.current", "1073741824"), 3 * gib},
		{"of a group around it", machine("proc/self/cgroup", "0::/a/b", "sys/fs/cgroup/a/memory.max", "4294967296", "sys/fs/cgroup/a/memory.current", "0"), 4 * gib},
		{"of a container", machine("proc/self/cgroup", "0::/", "sys/fs/cgroup/memory.max", "2147483648", "sys/fs/cgroup/memory.current", "1073741824"), gib},
		{"all of it taken", machine("proc/self/cgroup", "0::/a", "sys/fs/cgroup/a/memory.max", "1", "sys/fs/cgroup/a/memory.current", "2"), 0},
		{"groups of old", machine("proc/self/cgroup", "1:memory:/a"), 8 * gib},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := testpg.Free(tt.root); got != tt.want {
				t.Errorf("%d bytes are free, want %d", got, tt.want)
			}
		})
	}
}

// A cluster stands where it is put, beside another one, and removes what a killed owner and its killed keeper left.
func TestStartIn(t *testing.T) {
	t.Parallel()
	bin := server(t)
	parent, err := os.MkdirTemp(os.TempDir(), "pg-in-")
	if err == nil {
		err = os.Chmod(parent, 0o711) // the server may be another user
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(parent)
	folders := func() []string {
		all, err := filepath.Glob(filepath.Join(parent, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	start := func() *testpg.Cluster {
		c, err := testpg.StartIn(t.Context(), parent, bin)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := start()
	defer first.Stop()
	if at := query(t, bin, first.URL, "show data_directory"); len(folders()) != 1 || !strings.HasPrefix(at, parent) {
		t.Fatalf("it stands in %s, and %s holds %q", at, parent, folders())
	}
	left := filepath.Join(parent, "evalrouter-pg-left")
	if err := os.MkdirAll(filepath.Join(left, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	held := exec.CommandContext(t.Context(), "sleep", "60")
	lock, err := os.Create(filepath.Join(left, "lock"))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	held.ExtraFiles = []*os.File{lock}
	if err != nil || held.Start() != nil {
		t.Fatal("no process has the lock", err)
	}
	lock.Close()
	start().Stop()
	if len(folders()) != 2 {
		t.Errorf("beside a living one and a locked one there are %q", folders())
	}
	_ = held.Process.Kill()
	_ = held.Wait()
	start().Stop()
	if at := folders(); len(at) != 1 || query(t, bin, first.URL, "select 1") != "1" {
		t.Errorf("of what nobody has there is left %q", at)
	}
}
