// Package debian installs what tests need with Debian's package manager.
package debian

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// ErrMayNotInstall says that only root with apt-get may install packages.
var ErrMayNotInstall = errors.New("only root with apt-get may install packages here")

// Installer installs packages.
type Installer struct {
	UID int       // effective user id
	Out io.Writer // receives what the package manager says
}

// Install installs packages without a question and without starting their services.
func (i Installer) Install(ctx context.Context, packages ...string) error {
	apt, err := exec.LookPath("apt-get")
	if i.UID != 0 || err != nil {
		return ErrMayNotInstall
	}
	for _, args := range [][]string{
		{"-q", "-o", "DPkg::Lock::Timeout=300", "update"},
		append([]string{"-q", "-y", "-o", "DPkg::Lock::Timeout=300", "install", "--no-install-recommends"}, packages...),
	} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Stdout, cmd.Stderr = i.Out, i.Out
		// RUNLEVEL=1 is Debian's way to say that packages must not start their services.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("install %v with %s: %w", packages, apt, err)
		}
	}
	return nil
}

// Tool is a package, and programs any of which tests can start.
type Tool struct {
	Package  string
	Programs []string
}

// Missing are the packages of those tools of which no program is on PATH.
func Missing(tools []Tool) (packages []string) {
	for _, t := range tools {
		if !slices.ContainsFunc(t.Programs, func(p string) bool { _, err := exec.LookPath(p); return err == nil }) {
			packages = append(packages, t.Package)
		}
	}
	return packages
}
