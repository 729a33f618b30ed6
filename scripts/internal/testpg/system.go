package testpg

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// serverCredential returns the user that the server runs as: nil (our own) unless uid is root.
func serverCredential(uid int) (*syscall.Credential, error) {
	if uid != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("read the ids of user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("find a user for PostgreSQL: it refuses to run as root, and neither postgres nor nobody exists")
}

// makeDir makes the cluster's folder where the server's user can reach it and a socket path fits.
func makeDir(first string, cred *syscall.Credential) (string, error) {
	var errs []error
	for _, parent := range []string{first, os.TempDir(), "/tmp", "/var/tmp"} {
		if cred != nil && !open(parent) {
			errs = append(errs, fmt.Errorf("%s is closed to other users", parent))
			continue
		}
		if len(parent) > maxSocketDir {
			errs = append(errs, fmt.Errorf("%s is too long for a socket path", parent))
			continue
		}
		dir, err := os.MkdirTemp(parent, prefix) // mode 0700
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := chown(dir, cred); err != nil {
			return "", errors.Join(err, os.Remove(dir))
		}
		return dir, nil
	}
	return "", fmt.Errorf("make a folder for PostgreSQL: %w", errors.Join(errs...))
}

// open reports whether every user may pass through all folders of path.
func open(path string) bool {
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if p == filepath.Dir(p) {
			return true
		}
	}
}

func chown(path string, cred *syscall.Credential) error {
	if cred == nil {
		return nil
	}
	if err := os.Chown(path, int(cred.Uid), int(cred.Gid)); err != nil {
		return fmt.Errorf("hand %s to the server's user: %w", path, err)
	}
	return nil
}

// serverEnv drops PG* variables: a PGDATA or PGPORT of the user's own server must not steer this one.
func serverEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "PG") })
}

// FindServer returns the folder of the server programs: the newest version in Debian's place (glob, for example
// /usr/lib/postgresql/*/bin), else the folder of initdb on PATH. Debian keeps them off PATH.
func FindServer(glob string) (string, bool) {
	dirs, err := filepath.Glob(glob)
	if err == nil {
		slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
		for _, dir := range dirs {
			if complete(dir) {
				return dir, true
			}
		}
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return "", false
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		return "", false
	}
	dir := filepath.Dir(initdb)
	return dir, complete(dir)
}

// DebianGlob is where Debian and its descendants install the server programs of every version.
const DebianGlob = "/usr/lib/postgresql/*/bin"

func version(dir string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	if err != nil {
		return 0
	}
	return n
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}
