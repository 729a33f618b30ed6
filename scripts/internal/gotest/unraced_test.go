package gotest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/gotest"
)

func TestUnraced(t *testing.T) {
	t.Parallel()
	const head = "package p\n\n"
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"no file for it", map[string]string{"a_test.go": head + "func TestA() {}\n"}, nil},
		{"tests of such a file", map[string]string{"a_norace_test.go": head + "func TestB() {}\nfunc TestA() {}\nfunc help() {}\n", "b_test.go": head + "func TestC() {}\n"}, []string{"TestA", "TestB"}},
		{"what looks at its constant", map[string]string{
			"norace_test.go": head + "const raced = false\n", "race_test.go": head + "const raced = true\n",
			"a_test.go": head + "func TestA() { if raced { return } }\nfunc TestB() {}\n",
		}, []string{"TestA"}},
		{"by way of another function, in another file", map[string]string{
			"norace_test.go": head + "const raced = false\n", "a_test.go": head + "func rounds(n int) int { if raced { return 1 }; return n }\n",
			"b_test.go": head + "func TestA() { for range twice() {} }\nfunc TestB() { for range 2 {} }\nfunc twice() int { return rounds(2) }\n",
		}, []string{"TestA"}},
		{"by way of a variable and of a method", map[string]string{
			"norace_test.go": head + "const raced = false\n", "a_test.go": head + "var seeds = flag.Int(\"seeds\", some(raced), \"\")\n",
			"b_test.go": head + "func TestA() { w := world{}; w.play() }\nfunc TestB() { for range 2 {} }\ntype world struct{}\nfunc (w world) play() { for range *seeds {} }\n",
		}, []string{"TestA"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := gotest.Unraced(dir)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestUnraced_BrokenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "norace_test.go"), []byte("no Go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gotest.Unraced(dir); err == nil {
		t.Error("a file that is no Go was read")
	}
}
