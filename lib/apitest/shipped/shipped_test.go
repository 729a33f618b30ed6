package shipped_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evalrouter/evalrouter/lib/apitest/shipped"
)

type tests func() int

func (f tests) Run() int { return f() }

// What was built is found under its name; the rest stays, and so does the binary
// that the links lead to.
func TestCommands(t *testing.T) {
	bin, links := t.TempDir(), t.TempDir()
	self := filepath.Join(links, "self")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(bin, "built"), "as it ships")
	write(self, "the tests")
	for _, name := range []string{"built", "other", "watched"} {
		if err := os.Symlink(self, filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("EVALROUTER_TEST_BIN", bin)
	t.Setenv("PATH", links+string(os.PathListSeparator)+"/bin")
	found := map[string]string{}
	code := shipped.Commands{Names: []string{"built", "other"}, Tests: tests(func() int {
		for _, name := range []string{"built", "other", "watched", "self"} {
			text, err := os.ReadFile(filepath.Join(links, name))
			if err != nil {
				t.Error(err)
			}
			found[name] = string(text)
		}
		return 7
	})}.Run()
	if code != 7 || found["built"] != "as it ships" || found["other"] != "the tests" || found["watched"] != "the tests" || found["self"] != "the tests" {
		t.Errorf("code %d, commands %q", code, found)
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "built"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, folder, command, want string }{
		{"it is there", dir, "built", filepath.Join(dir, "built")},
		{"it was not built", dir, "other", ""},
		{"no folder", "", "built", ""},
		{"a folder that depends on where one is", ".", "shipped.go", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("EVALROUTER_TEST_BIN", tt.folder)
			if got := shipped.Program(tt.command); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
