package guide_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/guide"
)

// How a program came onto a machine decides what replaces it.
func TestUpgrade_ByInstallation(t *testing.T) {
	t.Parallel()
	const install, module = "go install ", "github.com/evalrouter/evalrouter/cmd/"
	const latest = "https://github.com/evalrouter/evalrouter/releases/latest/download/"
	checkout := []string{"git pull", "./scripts/setup"}
	for _, tt := range []struct {
		name string
		in   guide.Installation
		kind string
		want []string
	}{
		{"go install", guide.Installation{Version: "v0.3.1"}, "module", []string{install + module + "evalrouter@latest"}},
		{"go install of a commit", guide.Installation{Version: "v0.0.0-20261130000000-0123456789ab"}, "module", []string{install + module + "evalrouter@latest"}},
		{
			"go install of several, with a keychain",
			guide.Installation{Version: "v0.3.1", Settings: map[string]string{"-tags": "keyring"}, Beside: []string{"evalrouterd", "evalrouter-tui"}}, "module",
			[]string{install + "-tags keyring " + module + "evalrouter@latest", install + "-tags keyring " + module + "evalrouterd@latest", install + "-tags keyring " + module + "evalrouter-tui@latest"},
		},
		{"a build in a checkout", guide.Installation{Version: "0.0.0-dev"}, "checkout", checkout},
		{"a build in a clean checkout at a tag", guide.Installation{Version: "v0.3.1", Settings: map[string]string{"vcs.revision": "0123"}}, "checkout", checkout},
		{"a build in a changed checkout", guide.Installation{Version: "v0.3.1+dirty"}, "checkout", checkout},
		{
			"an archive on Linux", guide.Installation{Version: "v0.3.1", Settings: map[string]string{"-tags": "archive"}, System: "linux", Machine: "arm64", Folder: "/opt/my tools"}, "archive",
			[]string{
				"curl -fLO " + latest + "evalrouter_linux_arm64.tar.gz", "curl -fLO " + latest + "checksums.txt", "sha256sum --check --ignore-missing checksums.txt",
				"tar -xzf evalrouter_linux_arm64.tar.gz -C '/opt/my tools' --strip-components=2 evalrouter/bin",
			},
		},
		{
			"an archive on macOS", guide.Installation{Version: "v0.3.1", Settings: map[string]string{"-tags": "keyring,archive"}, System: "darwin", Machine: "arm64", Folder: "/opt/bin"}, "archive",
			[]string{
				"curl -fLO " + latest + "evalrouter_darwin_arm64.tar.gz", "curl -fLO " + latest + "checksums.txt", "shasum -a 256 --check --ignore-missing checksums.txt",
				"tar -xzf evalrouter_darwin_arm64.tar.gz -C /opt/bin --strip-components=2 evalrouter/bin",
			},
		},
		{
			"an archive on Windows", guide.Installation{Version: "v0.3.1", Settings: map[string]string{"-tags": "archive"}, System: "windows", Machine: "amd64", Folder: `C:\Program Files\er`}, "archive",
			[]string{
				"Invoke-WebRequest " + latest + "evalrouter_windows_amd64.zip -OutFile evalrouter_windows_amd64.zip",
				"Invoke-WebRequest " + latest + "checksums.txt -OutFile checksums.txt",
				"Select-String (Get-FileHash evalrouter_windows_amd64.zip).Hash checksums.txt",
				"Expand-Archive -Force evalrouter_windows_amd64.zip .", `Copy-Item -Force evalrouter\bin\* 'C:\Program Files\er'`,
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.in.Kind(); got != tt.kind {
				t.Errorf("it came as %s, want %s", got, tt.kind)
			}
			if diff := cmp.Diff(tt.want, tt.in.Commands()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The test's own build is one of a checkout, and its folder is there.
func TestUpgrade_Here(t *testing.T) {
	t.Parallel()
	in := guide.Here("0.0.0-dev")
	if in.Kind() != "checkout" || in.Folder == "" || strings.Join(in.Beside, "") != "" {
		t.Errorf("%+v", in)
	}
}
