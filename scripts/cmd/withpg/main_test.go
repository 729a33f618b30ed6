package main

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

func TestRun(t *testing.T) {
	t.Parallel()
	if _, ok := testpg.FindServer(testpg.DebianGlob); !ok {
		t.Skip("PostgreSQL is not installed: " + testpg.InstallHint)
	}
	for _, tt := range []struct {
		name string
		argv []string
		code int
		want string // in the error
	}{
		{"the command sees the address", []string{"sh", "-c", `case "$EVALROUTER_TEST_PG" in postgres://*) exit 0;; esac; exit 1`}, 0, ""},
		{"its exit code is ours", []string{"sh", "-c", "exit 7"}, 7, ""},
		{"no such command", []string{"./absent"}, 1, "run ./absent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, err := run(t.Context(), tt.argv)
			if code != tt.code || (err == nil) != (tt.want == "") || (err != nil && !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("exit %d, %v; want %d, %q", code, err, tt.code, tt.want)
			}
		})
	}
}

func TestRunNeedsCommand(t *testing.T) {
	t.Parallel()
	if code, err := run(t.Context(), nil); code != 2 || err == nil {
		t.Errorf("exit %d, %v", code, err)
	}
}
