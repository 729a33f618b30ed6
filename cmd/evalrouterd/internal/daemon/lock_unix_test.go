//go:build unix && !solaris && !aix

package daemon

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A child that was forked a moment ago has every open file until it becomes
// another program. The lock of a directory must not wait for that.
func TestLock_IsGivenBackBesideACopy(t *testing.T) {
	t.Parallel()
	d := dataDir(t.TempDir())
	first, err := d.takeLock()
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.Dup(int(first.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	copied := os.NewFile(uintptr(n), "a child's")
	defer copied.Close()
	if _, err := d.takeLock(); err == nil {
		t.Error("a lock that is held was taken")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := d.takeLock()
	if err != nil {
		t.Fatalf("after it was given back: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
