// Package distribution makes the files of a release out of published modules,
// and looks at what it made.
//
// The decisions:
//
//   - Programs are built by `go install MODULE@VERSION` from a proxy, never from
//     a checkout, so that everybody can build the same bytes from the same
//     modules, and so that the version in a program is that of its module.
//   - Names in a release carry no version: the address of the newest one stays
//     the same. The version is in the programs, the man pages and the list of
//     parts.
//   - Every time in an archive is that of the commit, every owner nobody, and
//     files stand in the order of their names: two builds are the same bytes.
package distribution

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/modproxy"
)

// Platform is a system and a machine as Go spells them.
type Platform struct{ System, Machine string }

// Platforms are what is released.
func Platforms() []Platform {
	var all []Platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, machine := range []string{"amd64", "arm64"} {
			all = append(all, Platform{system, machine})
		}
	}
	return all
}

// Host is where this program runs.
func Host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

func (p Platform) String() string { return p.System + "_" + p.Machine }

func (p Platform) exe() string {
	if p.System == "windows" {
		return ".exe"
	}
	return ""
}

// Installer runs the go command over published modules, in a world of its own:
// nothing that it does reaches the caches of who runs it but the build cache.
type Installer struct {
	Proxy   string   // folder of published modules
	Version string   // of these
	Work    string   // folder for downloaded modules and results
	Cache   string   // GOCACHE, "" for the usual one
	Env     []string // PATH, HOME and the settings of the go command of who runs it
	Out     io.Writer
}

// environ is that of the go command. Modules of others come out of the cache of
// who runs it where they are there, otherwise from where the go command usually
// gets them.
func (in Installer) environ(ctx context.Context, more ...string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY", "GOCACHE")
	cmd.Env = in.Env
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask go for its settings: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		return nil, fmt.Errorf("go env printed %d lines, not 3", len(lines))
	}
	cache := in.Cache
	if cache == "" {
		cache = lines[2]
	}
	proxy, err := filepath.Abs(in.Proxy)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", in.Proxy, err)
	}
	work, err := filepath.Abs(in.Work)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", in.Work, err)
	}
	return append(append(append([]string{}, in.Env...),
		"GOPROXY="+fileURL(proxy)+","+fileURL(filepath.Join(lines[0], "cache", "download"))+","+lines[1],
		"GONOSUMDB="+modproxy.Prefix+"*", // no sum database has a release before it is out
		"GOPATH="+filepath.Join(work, "path"), "GOMODCACHE="+filepath.Join(work, "modules"), "GOCACHE="+cache,
		"GOBIN=", "GOWORK=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOEXPERIMENT=",
	), more...), nil
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive of Windows
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Go runs the go command in a folder and shows what it says.
func (in Installer) Go(ctx context.Context, dir string, more []string, args ...string) error {
	env, err := in.environ(ctx, more...)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, in.Out, in.Out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Install installs commands as a person does, and returns the folder they are in.
func (in Installer) Install(ctx context.Context, commands ...string) (string, error) {
	return in.install(ctx, Host(), nil, commands)
}

// archived is how the programs of an archive are built: stripped, without paths
// of the machine, and marked, so that `evalrouter upgrade` knows.
func (in Installer) archived(ctx context.Context, p Platform, commands []string) (string, error) {
	return in.install(ctx, p, []string{"-trimpath", "-ldflags=-s -w", "-tags=archive"}, commands)
}

func (in Installer) install(ctx context.Context, p Platform, flags, commands []string) (string, error) {
	// Each result has a path of its own: an installed command and one of an archive are not the same bytes.
	path := filepath.Join(in.Work, "installed")
	if flags != nil {
		path = filepath.Join(in.Work, "archived")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", fmt.Errorf("make %s: %w", path, err)
	}
	env := []string{"GOPATH=" + path, "CGO_ENABLED=0", "GOOS=" + p.System, "GOARCH=" + p.Machine, "GOAMD64=v1", "GOARM64=v8.0"}
	for _, name := range commands {
		args := append(append([]string{"install"}, flags...), modproxy.Prefix+"cmd/"+name+"@"+in.Version)
		if err := in.Go(ctx, in.Work, env, args...); err != nil {
			return "", err
		}
	}
	if p == Host() {
		return filepath.Join(path, "bin"), nil
	}
	return filepath.Join(path, "bin", p.String()), nil
}
