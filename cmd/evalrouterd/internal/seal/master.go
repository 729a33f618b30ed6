// Package seal keeps provider keys and API keys.
//
//   - A provider's key is sealed with AES-256-GCM under a key of its own,
//     derived from the master key and a random salt that stands in the row. It
//     is bound to its workspace, its connection, the origin of the base URL and
//     its version: a row that is moved, or a connection that is pointed
//     elsewhere, cannot be opened, so an editor of connections cannot send a
//     key to a host of theirs.
//   - An API key is kept as HMAC-SHA-256 under a pepper. A copy of the database
//     opens neither.
//   - Master key and pepper live in one file outside the database, created once
//     and readable by its owner only. Whoever loses it must give the keys again.
//   - The master key is rotated in two replacements of the file. Between them it
//     has both keys, so that whatever dies there leaves nothing that cannot be
//     opened. The pepper stays: it opens nothing, and another one would void
//     every API key.
package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	format  = "evalrouter.master_key.v1"
	keySize = 32
	maxFile = 4 << 10
	// temporary names files that will take the place of the master key.
	temporary = ".master-*"
)

// Master holds the secrets of an installation. It does not print.
type Master struct {
	key, pepper [keySize]byte
	// previous is the key before, while what it sealed is being sealed anew; nil
	// otherwise. It opens and never seals.
	previous *[keySize]byte
	random   io.Reader
	none     [keySize]byte // what a key is compared with that is not known
}

// document is the file.
type document struct {
	Format string `json:"format"`
	Key    string `json:"key"`
	Pepper string `json:"pepper"`
	// Previous is there during a rotation.
	Previous string `json:"previous,omitempty"`
}

// Load reads the file. random is the source of salts and nonces:
// crypto/rand.Reader outside tests. A file that others may read, or that is
// not a regular file, is refused; fs.ErrNotExist means that there is none.
func Load(path string, random io.Reader) (*Master, error) {
	b, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("read master key %s: %w", path, err)
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil || d.Format != format {
		return nil, fmt.Errorf("read master key %s: not a master key file of this version", path)
	}
	m := &Master{random: random}
	parts := []struct {
		text string
		to   *[keySize]byte
	}{{d.Key, &m.key}, {d.Pepper, &m.pepper}}
	if d.Previous != "" {
		m.previous = &[keySize]byte{}
		parts = append(parts, struct {
			text string
			to   *[keySize]byte
		}{d.Previous, m.previous})
	}
	for _, p := range parts {
		raw, err := base64.StdEncoding.DecodeString(p.text)
		if err != nil || len(raw) != keySize {
			return nil, fmt.Errorf("read master key %s: damaged; restore it from a backup", path)
		}
		copy(p.to[:], raw)
	}
	return m, nil
}

// LoadOrCreate reads the file, or creates it when there is none. When two
// processes create it at once, both get the one that stayed. Use Load where
// sealed keys exist already: a new master key cannot open them.
func LoadOrCreate(path string, random io.Reader) (*Master, error) {
	m, err := Load(path, random)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	if err := create(path, random); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create master key %s: %w", path, err)
	}
	return Load(path, random)
}

// readPrivate reads a regular file that only its owner can read. The file
// that is checked is the file that is read.
func readPrivate(path string) ([]byte, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(named, opened) {
		return nil, errors.New("replaced while it was opened")
	}
	if perm := opened.Mode().Perm(); perm != 0o600 {
		return nil, fmt.Errorf("mode %04o; it must be 0600 (chmod 600), and if others could read it, its keys need to be changed", perm)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("too large")
	}
	return b, err
}

// create writes a new file whole or not at all, and never over another.
func create(path string, random io.Reader) error {
	var secret [2 * keySize]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return fmt.Errorf("draw a key: %w", err)
	}
	d := document{
		Format: format,
		Key:    base64.StdEncoding.EncodeToString(secret[:keySize]),
		Pepper: base64.StdEncoding.EncodeToString(secret[keySize:]),
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return d.write(path, os.Link) // fails when path exists
}

// write makes a whole file and lets place put it where it belongs.
func (d document) write(path string, place func(from, to string) error) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), temporary) // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already after a rename
	_, err = tmp.Write(append(b, '\n'))
	err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := place(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// String hides the secrets.
func (m *Master) String() string { return "[redacted]" }

// Format hides them from every verb of package fmt.
func (m *Master) Format(f fmt.State, _ rune) { io.WriteString(f, m.String()) }

// Check identifies the master key without telling anything about it, so that
// processes that share a database can tell whether they have the same one.
func (m *Master) Check() string { return m.checkOf(m.key) }

func (m *Master) checkOf(key [keySize]byte) string {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte("evalrouter master key check v1"))
	h.Write(m.pepper[:])
	return hex.EncodeToString(h.Sum(nil))
}
