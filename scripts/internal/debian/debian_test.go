package debian_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/debian"
)

func program(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "here", "")
	t.Setenv("PATH", dir)
	got := debian.Missing([]debian.Tool{{Package: "a", Programs: []string{"elsewhere", "here"}}, {Package: "b", Programs: []string{"away"}}})
	if !slices.Equal(got, []string{"b"}) {
		t.Errorf("missing %v", got)
	}
}

func TestInstall(t *testing.T) {
	tests := []struct {
		name, apt string
		uid       int
		calls     []string
		err       error
		says      string
	}{
		{"as root", `echo "$* $DEBIAN_FRONTEND $RUNLEVEL"`, 0, []string{"update", "install --no-install-recommends b c noninteractive 1"}, nil, ""},
		{"as somebody else", `echo called`, 1000, nil, debian.ErrMayNotInstall, ""},
		{"without a package manager", "", 0, nil, debian.ErrMayNotInstall, ""},
		{"refused", `echo no; exit 100`, 0, []string{"no"}, nil, "install [b c]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.apt != "" {
				program(t, dir, "apt-get", tt.apt+"\n")
			}
			t.Setenv("PATH", dir)
			var out bytes.Buffer
			err := debian.Installer{UID: tt.uid, Out: &out}.Install(t.Context(), "b", "c")
			if tt.err != nil && !errors.Is(err, tt.err) || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) || tt.err == nil && tt.says == "" && err != nil {
				t.Errorf("error %v", err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if tt.calls == nil {
				lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
			}
			if len(lines) != len(tt.calls) {
				t.Fatalf("calls %q", lines)
			}
			for i, want := range tt.calls {
				if !strings.Contains(lines[i], want) {
					t.Errorf("call %q, want %q", lines[i], want)
				}
			}
		})
	}
}
