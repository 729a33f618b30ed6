// Package viewer opens pages and files on the desk of the person in front, or
// says why it does not.
//
// Nothing is opened where nobody would see it, or where someone asked for that:
// in CI, over SSH, without a display, with --no-browser or
// EVALROUTER_NO_BROWSER=1. A viewer that is missing or fails is never an error:
// the address or the path is printed in any case.
package viewer

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Viewer opens things with the programs of the desktop.
type Viewer struct {
	// OS is the system's name as Go spells it.
	OS string
	// Env looks up an environment variable.
	Env func(name string) (string, bool)
	// Start starts a program and does not wait for it.
	Start func(name string, args ...string) error
	// Off forbids browsers, whatever the surroundings.
	Off bool
}

// Page opens an address in the browser. why says why it was not opened, "" if
// it was.
func (v *Viewer) Page(address string) (why string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "it is no web address"
	}
	if why := v.Silent(); why != "" {
		return why
	}
	return v.start("no browser could be started", v.opener(address))
}

// File opens a saved file with the program that the desktop has for it.
func (v *Viewer) File(path string) (why string) {
	if why := v.Silent(); why != "" {
		return why
	}
	return v.start("no program could be started for it", v.opener(path))
}

// Reveal shows a saved file in the file manager.
func (v *Viewer) Reveal(path string) (why string) {
	if why := v.Silent(); why != "" {
		return why
	}
	cmd := []string{"xdg-open", filepath.Dir(path)}
	switch {
	case v.OS == "windows":
		cmd = []string{"explorer", "/select," + path}
	case v.OS == "darwin":
		cmd = []string{"open", "-R", path}
	case v.wsl():
		cmd = []string{"wslview", filepath.Dir(path)}
	}
	return v.start("no file manager could be started", cmd)
}

func (v *Viewer) start(failed string, cmd []string) string {
	if v.Start(cmd[0], cmd[1:]...) != nil {
		return failed
	}
	return ""
}

// opener is the command that opens an address or an absolute path. None of
// them goes through a shell.
func (v *Viewer) opener(what string) []string {
	switch {
	case v.OS == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", what}
	case v.OS == "darwin":
		return []string{"open", what}
	case v.wsl():
		return []string{"wslview", what}
	}
	return []string{"xdg-open", what}
}

// Silent says why nothing is opened here, "" if something may be.
func (v *Viewer) Silent() string {
	switch {
	case v.Off:
		return "--no-browser"
	case v.get("EVALROUTER_NO_BROWSER") == "1":
		return "EVALROUTER_NO_BROWSER=1"
	case v.get("CI") != "":
		return "this is CI"
	case v.get("SSH_CONNECTION") != "" || v.get("SSH_TTY") != "" || v.get("SSH_CLIENT") != "":
		return "this is an SSH session"
	case v.OS != "windows" && v.OS != "darwin" && !v.wsl() && v.get("DISPLAY") == "" && v.get("WAYLAND_DISPLAY") == "":
		return "there is no display"
	}
	return ""
}

func (v *Viewer) wsl() bool {
	return v.OS == "linux" && strings.TrimSpace(v.get("WSL_DISTRO_NAME")) != ""
}

func (v *Viewer) get(name string) string {
	s, _ := v.Env(name)
	return s
}
