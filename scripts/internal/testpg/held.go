package testpg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// prefix begins the name of every cluster's folder.
const prefix = "evalrouter-pg-"

// lockFile is locked for as long as the owner of a folder or its keeper lives.
const lockFile = "lock"

// hold locks a folder. Its lock appears under its name when it is locked: who finds it free finds nobody's folder.
func hold(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.Create(path + ".new")
	if err != nil {
		return nil, fmt.Errorf("lock the folder of PostgreSQL: %w", err)
	}
	err = errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_EX), os.Rename(f.Name(), path))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the folder of PostgreSQL: %w", err), f.Close())
	}
	return f, nil
}

// sweep removes the folders of clusters whose owner and keeper were killed together, as the end of a container does:
// in memory they would stay until the machine ends.
func sweep(parent string) error {
	locks, err := filepath.Glob(filepath.Join(parent, prefix+"*", lockFile))
	for _, lock := range locks {
		f, openErr := os.Open(lock)
		if openErr != nil {
			continue // another user's, or gone meanwhile
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(lock)))
		}
		f.Close()
	}
	if err != nil {
		return fmt.Errorf("remove folders of PostgreSQL that nobody owns: %w", err)
	}
	return nil
}
