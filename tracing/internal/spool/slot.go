package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxSlots bounds the processes that share a folder.
const maxSlots = 256

var (
	errHeld = errors.New("held by another process")
	// ErrNoSlot says that too many processes share the folder.
	ErrNoSlot = errors.New("every slot of the spool is taken")
)

// takeSlot locks the first slot that no process has.
func takeSlot(dir string) (slot string, unlock func() error, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, fmt.Errorf("find the spool: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make the spool: %w", err)
	}
	for n := range maxSlots {
		slot := filepath.Join(dir, fmt.Sprintf("slot-%03d", n))
		if err := private(slot); err != nil {
			return "", nil, err
		}
		unlock, err := lock(filepath.Join(slot, "lock"))
		if errors.Is(err, errHeld) {
			continue
		}
		return slot, unlock, err
	}
	return "", nil, ErrNoSlot
}

// private makes a folder for this user alone, or checks one that is there: who
// may write to it could choose what is sent with the key.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make a slot of the spool: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the spool: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the spool's folder %s is open to other users; run chmod 700 on it or name another", dir)
	}
	return nil
}

// adopt moves the segments of slots without a process into ours, which keeps
// their order, under names that no segment of ours has.
func adopt(dir, ours string) (paths []string, err error) {
	slots, err := filepath.Glob(filepath.Join(escape(dir), "slot-*"))
	if err != nil {
		return nil, fmt.Errorf("look for slots of the spool: %w", err)
	}
	for _, slot := range slots {
		if slot == ours || private(slot) != nil {
			continue
		}
		moved, err := adoptSlot(slot, ours)
		if err != nil {
			return nil, err
		}
		paths = append(paths, moved...)
	}
	return paths, nil
}

func adoptSlot(slot, ours string) (moved []string, err error) {
	unlock, err := lock(filepath.Join(slot, "lock"))
	if errors.Is(err, errHeld) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	files, err := segmentFiles(slot)
	if err != nil {
		return nil, fmt.Errorf("look at a slot of the spool: %w", err)
	}
	for _, from := range files { // Glob sorts
		to := filepath.Join(ours, filepath.Base(slot)+"-"+filepath.Base(from))
		for n := 2; exists(to); n++ {
			to = filepath.Join(ours, fmt.Sprintf("%s-%d-%s", filepath.Base(slot), n, filepath.Base(from)))
		}
		if err := os.Rename(from, to); err != nil {
			return nil, fmt.Errorf("take over a segment of the spool: %w", err)
		}
		moved = append(moved, to)
	}
	return moved, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
