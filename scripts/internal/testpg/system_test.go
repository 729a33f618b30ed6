package testpg_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

func program(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFindServer(t *testing.T) {
	root := t.TempDir()
	for _, v := range []string{"9", "15", "17"} {
		program(t, filepath.Join(root, "lib", v, "bin", "initdb"), "")
		if v != "17" { // 17 is a client only
			program(t, filepath.Join(root, "lib", v, "bin", "postgres"), "")
		}
	}
	program(t, filepath.Join(root, "path", "initdb"), "")
	program(t, filepath.Join(root, "path", "postgres"), "")
	for _, tt := range []struct {
		name, glob, path string
		want             string
	}{
		{"newest complete version", filepath.Join(root, "lib/*/bin"), "", filepath.Join(root, "lib/15/bin")},
		{"else PATH", filepath.Join(root, "none/*/bin"), filepath.Join(root, "path"), filepath.Join(root, "path")},
		{"nowhere", filepath.Join(root, "none/*/bin"), filepath.Join(root, "none"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			got, ok := testpg.FindServer(tt.glob)
			if ok != (tt.want != "") || (ok && got != tt.want) {
				t.Errorf("FindServer = %q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}

func TestObtainInstallsOnlyAsRoot(t *testing.T) {
	root := t.TempDir()
	glob := filepath.Join(root, "lib/*/bin")
	// A package manager that installs an empty server, and records how it was called.
	program(t, filepath.Join(root, "bin", "apt-get"), `#!/bin/sh
echo "apt-get $* $DEBIAN_FRONTEND"
case "$*" in *install*) /bin/mkdir -p "`+root+`/lib/15/bin"
	for p in initdb postgres; do echo > "`+root+`/lib/15/bin/$p"; /bin/chmod +x "`+root+`/lib/15/bin/$p"; done;;
esac
`)
	t.Setenv("PATH", filepath.Join(root, "bin"))
	var out bytes.Buffer
	_, err := testpg.Installer{UID: 1000, Out: &out}.Obtain(t.Context(), glob)
	if !errors.Is(err, testpg.ErrMayNotInstall) || out.Len() > 0 {
		t.Fatalf("as an ordinary user: %v, output %q; want a refusal and no call", err, &out)
	}
	dir, err := testpg.Installer{UID: 0, Out: &out}.Obtain(t.Context(), glob)
	if err != nil || dir != filepath.Join(root, "lib/15/bin") {
		t.Fatalf("as root: %q, %v", dir, err)
	}
	calls := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(calls) != 2 || !strings.Contains(calls[0], "update") || !strings.HasSuffix(calls[1], "postgresql noninteractive") {
		t.Errorf("calls: %q", calls)
	}
}

func TestInstallFailureIsReported(t *testing.T) {
	root := t.TempDir()
	program(t, filepath.Join(root, "apt-get"), "#!/bin/sh\nexit 100\n")
	t.Setenv("PATH", root)
	_, err := testpg.Installer{UID: 0, Out: &bytes.Buffer{}}.Obtain(t.Context(), filepath.Join(root, "none/*/bin"))
	if err == nil || !strings.Contains(err.Error(), "install [postgresql]") {
		t.Errorf("err = %v", err)
	}
}
