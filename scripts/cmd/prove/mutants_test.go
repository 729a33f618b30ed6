package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A mutant whose text is not in its file any more proves nothing: whoever
// changes the code changes the mutant with it.
func TestMutants_Fit(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	all, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 25 {
		t.Errorf("%d mutants; 25 are the least", len(all))
	}
	names := map[string]bool{}
	for _, m := range all {
		src, err := os.ReadFile(m.File)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if n := bytes.Count(src, []byte(m.Old)); n != 1 || m.Old == m.New {
			t.Errorf("%s: its text stands %d times in %s; it must stand once and change", m.Name, n, m.File)
		}
		for _, pkg := range m.Tests {
			dir, _, _ := bytes.Cut([]byte(pkg), []byte("/..."))
			if _, err := os.Stat(string(dir)); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
		if names[m.Name] {
			t.Errorf("%s stands twice", m.Name)
		}
		names[m.Name] = true
	}
}
