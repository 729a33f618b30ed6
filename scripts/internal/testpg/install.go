package testpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// InstallHint is the one line that installs the server on Debian.
const InstallHint = "sudo apt-get install -y --no-install-recommends postgresql"

// ErrMayNotInstall says that the server is missing and that this user cannot install it.
var ErrMayNotInstall = errors.New("PostgreSQL is not installed, and only root with apt-get may install it here")

// Installer installs the server with the system's package manager.
type Installer struct {
	UID int       // effective user id
	Out io.Writer // receives what the package manager says
}

// Install installs the Debian package without a question and without starting the package's own server.
func (i Installer) Install(ctx context.Context) error {
	apt, err := exec.LookPath("apt-get")
	if i.UID != 0 || err != nil {
		return ErrMayNotInstall
	}
	for _, args := range [][]string{
		{"-q", "-o", "DPkg::Lock::Timeout=300", "update"},
		{"-q", "-y", "-o", "DPkg::Lock::Timeout=300", "install", "--no-install-recommends", "postgresql"},
	} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Stdout, cmd.Stderr = i.Out, i.Out
		// RUNLEVEL=1 is Debian's way to say that packages must not start their services.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("install PostgreSQL with %s: %w", apt, err)
		}
	}
	return nil
}

// Obtain returns the folder of the server programs and installs them first when they are missing and it may.
func (i Installer) Obtain(ctx context.Context, glob string) (string, error) {
	if dir, ok := FindServer(glob); ok {
		return dir, nil
	}
	if err := i.Install(ctx); err != nil {
		return "", err
	}
	if dir, ok := FindServer(glob); ok {
		return dir, nil
	}
	return "", errors.New("find PostgreSQL: the package was installed, but its server programs are in none of the known folders")
}
