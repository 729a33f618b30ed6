// Package debian installs what tests need with Debian's package manager.
package debian

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// Tool is a program that tests start, and the package that holds it.
type Tool struct{ Program, Package string }

// Missing are the packages of those tools that are not on PATH.
func Missing(tools []Tool) (packages []string) {
	for _, t := range tools {
		if _, err := exec.LookPath(t.Program); err != nil {
			packages = append(packages, t.Package)
		}
	}
	return packages
}
