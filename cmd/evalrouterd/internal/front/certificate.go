package front

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// recheck is how old what is known about the files may be.
const recheck = 5 * time.Second

// Certificate is a certificate with its key, in two files that may be replaced
// at any time. While only one of them has been replaced, or the new ones cannot
// be used, the old pair stays in use.
type Certificate struct {
	cert, key string
	now       func() time.Time
	log       *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	files   files // of pair
	tried   files // the last ones that could not be used
	checked time.Time
}

// files identifies the state of both files.
type files struct{ cert, key fs.FileInfo }

func (f files) same(g files) bool { return sameFile(f.cert, g.cert) && sameFile(f.key, g.key) }

func sameFile(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// LoadCertificate reads a PEM certificate chain and its key. A key that anybody
// can read is refused.
func LoadCertificate(cert, key string, now func() time.Time, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, now: now, log: log, checked: now()}
	at, err := c.stat()
	if err != nil {
		return nil, err
	}
	if c.pair, err = c.load(at); err != nil {
		return nil, err
	}
	c.files = at
	return c, nil
}

func (c *Certificate) stat() (f files, err error) {
	var other error
	f.cert, err = os.Stat(c.cert)
	f.key, other = os.Stat(c.key)
	return f, errors.Join(err, other)
}

func (c *Certificate) load(at files) (*tls.Certificate, error) {
	if perm := at.key.Mode().Perm(); perm&0o007 != 0 {
		return nil, fmt.Errorf("everybody can read or change the key %s (mode %04o); chmod o= closes it, and a key that others could read needs to be changed", c.key, perm)
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("read certificate %s with key %s: %w", c.cert, c.key, err)
	}
	return &pair, nil
}

// Expires is the end of the certificate that is in use.
func (c *Certificate) Expires() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pair.Leaf.NotAfter
}

// get is the pair for a new connection.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.checked) < recheck {
		return c.pair, nil
	}
	c.checked = now
	at, err := c.stat()
	if err == nil && at.same(c.files) {
		return c.pair, nil
	}
	var pair *tls.Certificate
	if err == nil {
		pair, err = c.load(at)
	}
	switch {
	case err == nil:
		c.pair, c.files, c.tried = pair, at, files{}
		c.log.Info("certificate replaced", "file", c.cert, "expires", pair.Leaf.NotAfter.UTC())
	case !at.same(c.tried): // said once for each state of the files
		c.tried = at
		c.log.Error("the new certificate cannot be used; the old one stays in use", "error", err.Error(), "expires", c.pair.Leaf.NotAfter.UTC())
	}
	return c.pair, nil
}

// config is TLS as this service speaks it.
func (c *Certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}
