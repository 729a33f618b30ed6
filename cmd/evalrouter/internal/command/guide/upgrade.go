package guide

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/shellword"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
	"github.com/evalrouter/evalrouter/lib/plain"
)

const (
	module   = "github.com/evalrouter/evalrouter/cmd/"
	releases = "https://github.com/evalrouter/evalrouter/releases/latest/download/"
)

// Installation is what can be seen of how a program came onto this machine.
type Installation struct {
	Version  string
	Settings map[string]string // of the build, as the go command recorded them
	System   string            // GOOS
	Machine  string            // GOARCH
	Folder   string            // where the program stands
	Beside   []string          // the other programs of this project in the same folder
}

// Here is the installation of the running program.
func Here(version string) Installation {
	in := Installation{Version: version, Settings: map[string]string{}, System: runtime.GOOS, Machine: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			in.Settings[s.Key] = s.Value
		}
	}
	program, err := os.Executable()
	if err != nil {
		return in
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	in.Folder = filepath.Dir(program)
	for _, name := range []string{"evalrouterd", "evalrouter-tui", "evalrouter-bench", "evalrouter-langsmith", "evalrouter-mcp"} {
		if _, err := os.Stat(filepath.Join(in.Folder, name+filepath.Ext(program))); err == nil {
			in.Beside = append(in.Beside, name)
		}
	}
	return in
}

// Kind is archive, checkout or module. Archives are built with the tag archive
// (scripts/release); a build in a checkout has no version or is marked with its
// commit; the rest came by "go install".
func (in Installation) Kind() string {
	_, committed := in.Settings["vcs.revision"]
	switch {
	case slices.Contains(in.tags(), "archive"):
		return "archive"
	case committed || !strings.HasPrefix(in.Version, "v") || strings.Contains(in.Version, "+dirty"):
		return "checkout"
	}
	return "module"
}

func (in Installation) tags() []string { return strings.Split(in.Settings["-tags"], ",") }

// Commands bring this installation up to date, in the shell of its system.
func (in Installation) Commands() []string {
	switch in.Kind() {
	case "archive":
		return in.unpack()
	case "checkout":
		return []string{"git pull", "./scripts/setup"}
	}
	install := "go install "
	if slices.Contains(in.tags(), "keyring") {
		install += "-tags keyring "
	}
	var lines []string
	for _, name := range append([]string{"evalrouter"}, in.Beside...) {
		lines = append(lines, install+module+name+"@latest")
	}
	return lines
}

// unpack fetches an archive of the newest release, compares it with the sums of
// the release, and puts its programs over these.
func (in Installation) unpack() []string {
	name := "evalrouter_" + in.System + "_" + in.Machine
	folder := shellword.Quote(in.System, in.Folder)
	if in.System == "windows" {
		return []string{
			"Invoke-WebRequest " + releases + name + ".zip -OutFile " + name + ".zip",
			"Invoke-WebRequest " + releases + "checksums.txt -OutFile checksums.txt",
			"Select-String (Get-FileHash " + name + ".zip).Hash checksums.txt",
			"Expand-Archive -Force " + name + ".zip .",
			`Copy-Item -Force evalrouter\bin\* ` + folder,
		}
	}
	sum := "sha256sum"
	if in.System == "darwin" {
		sum = "shasum -a 256"
	}
	return []string{
		"curl -fLO " + releases + name + ".tar.gz",
		"curl -fLO " + releases + "checksums.txt",
		sum + " --check --ignore-missing checksums.txt",
		"tar -xzf " + name + ".tar.gz -C " + folder + " --strip-components=2 evalrouter/bin",
	}
}

// advice is how this program is brought up to date, as JSON.
type advice struct {
	Version   string   `json:"version"`
	Installed string   `json:"installed"` // module, archive or checkout
	Commands  []string `json:"commands"`
}

// Upgrade is "evalrouter upgrade". It prints what to run and runs nothing: how a
// program came onto a machine is how it should be replaced.
func Upgrade(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "upgrade", Short: "Print how this installation is upgraded",
		Long:     "Nothing is asked, downloaded or installed.",
		Examples: []string{"evalrouter upgrade", "evalrouter upgrade --json"},
		Exec: func(_ context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			in := Here(a.Version)
			v := advice{Version: in.Version, Installed: in.Kind(), Commands: in.Commands()}
			return a.Value(v, func(p *term.Page) {
				p.Line("evalrouter %s, from a%s. To upgrade:", v.Version, map[string]string{
					"archive": "n archive of a release", "checkout": " checkout", "module": " module, by go install",
				}[v.Installed])
				for _, c := range v.Commands {
					p.Write("  " + plain.Line(c) + "\n") // one line, to be pasted
				}
				p.Line("A service that runs here ends with: evalrouter local stop")
			})
		},
	}
}
