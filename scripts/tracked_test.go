package scripts_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// most is how large a file of the repository may be.
const most = 1 << 20

// A program that was built here must not be committed: nobody can review it, and
// every clone carries it for good.
func TestTracked_HoldsNoPrograms(t *testing.T) {
	t.Parallel()
	list, err := exec.Command("git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("this tree is no git checkout: ", err)
	}
	names := strings.Split(strings.TrimRight(string(list), "\x00"), "\x00")
	if len(names) < 100 {
		t.Fatalf("git lists %d files", len(names))
	}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join("..", name))
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted here, or a link
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, at most %d are kept", name, info.Size(), most)
		}
		if program(t, filepath.Join("..", name)) {
			t.Errorf("%s is a built program", name)
		}
	}
}

// program says whether a file begins as ELF, Mach-O and Windows programs do.
func program(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil {
		head = head[:n] // shorter than that
	}
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ\x90\x00"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}
