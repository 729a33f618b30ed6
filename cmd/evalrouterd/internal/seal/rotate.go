package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Rotate puts a new master key into the file and keeps the one before beside
// it, for opening. In a file that has two keys already it changes nothing. The
// caller is the only one that writes the file.
func Rotate(path string, random io.Reader) (*Master, error) {
	m, err := Load(path, random)
	if err != nil || m.previous != nil {
		return m, err
	}
	if err := sweep(path); err != nil {
		return nil, err
	}
	next := &Master{pepper: m.pepper, previous: &m.key, random: random}
	if _, err := io.ReadFull(random, next.key[:]); err != nil {
		return nil, fmt.Errorf("draw a key: %w", err)
	}
	if err := next.document().write(path, os.Rename); err != nil {
		return nil, fmt.Errorf("replace master key %s: %w", path, err)
	}
	return next, nil
}

// Retire takes the key before out of the file. What is still sealed with it is
// void from then on.
func Retire(path string, random io.Reader) error {
	m, err := Load(path, random)
	if err != nil || m.previous == nil {
		return err
	}
	if err := sweep(path); err != nil {
		return err
	}
	m.previous = nil
	if err := m.document().write(path, os.Rename); err != nil {
		return fmt.Errorf("replace master key %s: %w", path, err)
	}
	return nil
}

// sweep removes what a process that died while it wrote the file left beside it:
// it holds a key.
func sweep(path string) error {
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), temporary))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func (m *Master) document() document {
	d := document{Format: format, Key: base64.StdEncoding.EncodeToString(m.key[:]), Pepper: base64.StdEncoding.EncodeToString(m.pepper[:])}
	if m.previous != nil {
		d.Previous = base64.StdEncoding.EncodeToString(m.previous[:])
	}
	return d
}

// Rotating says that the file has two keys.
func (m *Master) Rotating() bool { return m.previous != nil }

// Follows says that check is the Check of the key before.
func (m *Master) Follows(check string) bool {
	return m.previous != nil && m.checkOf(*m.previous) == check
}

// Reseal seals anew what the key before has sealed. It gives nil for what the
// present key opens, and ErrUnopenable for what neither does.
func (m *Master) Reseal(b Binding, sealed []byte) ([]byte, error) {
	now := &Master{key: m.key, pepper: m.pepper, random: m.random}
	if _, err := now.Open(b, sealed); !errors.Is(err, ErrUnopenable) {
		return nil, err
	}
	key, err := m.Open(b, sealed)
	if err != nil {
		return nil, err
	}
	return m.Seal(b, key)
}

// File is the file of a master key with the chance that new keys are made of.
type File struct {
	Path   string
	Random io.Reader
}

// Rotate is Rotate of the file.
func (f File) Rotate() (*Master, error) { return Rotate(f.Path, f.Random) }

// Retire is Retire of the file.
func (f File) Retire() error { return Retire(f.Path, f.Random) }
