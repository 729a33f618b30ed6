package testpg

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evalrouter/evalrouter/scripts/internal/debian"
)

const serverPackage = "postgresql"

// InstallHint is the one line that installs the server on Debian.
const InstallHint = "sudo apt-get install -y --no-install-recommends " + serverPackage

// ErrMayNotInstall says that the server is missing and that this user cannot install it.
var ErrMayNotInstall = fmt.Errorf("PostgreSQL is not installed: %w", debian.ErrMayNotInstall)

// Installer installs the server with the system's package manager.
type Installer struct {
	UID int       // effective user id
	Out io.Writer // receives what the package manager says
}

// Obtain returns the folder of the server programs and installs them first when they are missing and it may.
func (i Installer) Obtain(ctx context.Context, glob string) (string, error) {
	if dir, ok := FindServer(glob); ok {
		return dir, nil
	}
	err := debian.Installer{UID: i.UID, Out: i.Out}.Install(ctx, serverPackage)
	if errors.Is(err, debian.ErrMayNotInstall) {
		return "", ErrMayNotInstall
	}
	if err != nil {
		return "", err
	}
	if dir, ok := FindServer(glob); ok {
		return dir, nil
	}
	return "", errors.New("find PostgreSQL: the package was installed, but its server programs are in none of the known folders")
}
