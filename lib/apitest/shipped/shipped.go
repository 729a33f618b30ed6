// Package shipped has tests start commands as they ship. A test binary that plays
// the command takes several times as long to start: everything that tests need is
// linked into it, and the race detector. It serves the tests of this repository,
// and nothing of it is promised to others.
package shipped

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// folder is the variable that names a folder of built commands. The test command
// of the repository sets it.
const folder = "EVALROUTER_TEST_BIN"

// Program is the path of a built command, "" where there is none.
func Program(name string) string {
	path := filepath.Join(os.Getenv(folder), name)
	if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// Commands are tests that find some commands on PATH, in its first folder, which
// holds links to the test binary under their names: each that was built takes the
// place of its link. The others stay what they are.
type Commands struct {
	Tests interface{ Run() int }
	Names []string
}

// Run runs the tests. It answers their exit code.
func (c Commands) Run() int {
	first, _, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator))
	for _, name := range c.Names {
		built := Program(name)
		if built == "" {
			continue
		}
		link := filepath.Join(first, name)
		// It leads to the running test binary, which must not be written to.
		if err := errors.Join(os.Remove(link), copyProgram(built, link)); err != nil {
			fmt.Fprintf(os.Stderr, "put the built %s on PATH: %v\n", name, err)
			return 1
		}
	}
	return c.Tests.Run()
}

func copyProgram(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o700)
}
