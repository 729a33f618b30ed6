package place

import (
	"net/url"
	"os/exec"
)

// Browser opens pages with the program of the desktop, or says why it does
// not: in CI, over SSH and without a display nobody would see them.
type Browser struct {
	OS    string // as Go spells it
	Env   func(string) (string, bool)
	Start func(name string, args ...string) error
}

// Open opens a web address. why is empty when a browser was started.
func (b Browser) Open(address string) (why string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "it is no web address"
	}
	if why := b.silent(); why != "" {
		return why
	}
	cmd := []string{"xdg-open", address}
	switch {
	case b.OS == "windows":
		cmd = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case b.OS == "darwin":
		cmd = []string{"open", address}
	case b.has("WSL_DISTRO_NAME"):
		cmd = []string{"wslview", address}
	}
	if b.Start(cmd[0], cmd[1:]...) != nil {
		return "no browser could be started"
	}
	return ""
}

func (b Browser) silent() string {
	switch {
	case b.has("EVALROUTER_NO_BROWSER"):
		return "EVALROUTER_NO_BROWSER is set"
	case b.has("CI"):
		return "this is CI"
	case b.has("SSH_CONNECTION"), b.has("SSH_TTY"), b.has("SSH_CLIENT"):
		return "this is an SSH session"
	case b.OS == "linux" && !b.has("WSL_DISTRO_NAME") && !b.has("DISPLAY") && !b.has("WAYLAND_DISPLAY"):
		return "there is no display"
	}
	return ""
}

func (b Browser) has(name string) bool {
	v, _ := b.Env(name)
	return v != ""
}

// start starts a program that outlives this process and shares none of its
// streams.
func start(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
