package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// ErrUnopenable is returned for a sealed key that does not belong to the
// binding or to this installation, or was altered. Which of them cannot be
// told apart; the key must be given again.
var ErrUnopenable = errors.New("the stored key cannot be opened for this connection; it must be given again")

// Binding is what a sealed key belongs to. A change of any part makes it
// unopenable; of BaseURL only the origin counts.
type Binding struct {
	Workspace  core.WorkspaceID
	Connection core.ConnectionID
	BaseURL    string
	Version    int
}

const (
	sealVersion = 1
	saltSize    = 16
	nonceSize   = 12
	info        = "evalrouter provider key"
)

// Seal encrypts a provider's key: a version byte, salt, nonce and ciphertext.
func (m *Master) Seal(b Binding, key provider.Secret) ([]byte, error) {
	aad, err := b.bytes()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 1+saltSize+nonceSize, 1+saltSize+nonceSize+len(key.Reveal())+16)
	out[0] = sealVersion
	if _, err := io.ReadFull(m.random, out[1:]); err != nil {
		return nil, fmt.Errorf("draw a nonce: %w", err)
	}
	gcm, err := cipherOf(m.key, out[1:1+saltSize])
	if err != nil {
		return nil, err
	}
	return gcm.Seal(out, out[1+saltSize:], []byte(key.Reveal()), aad), nil
}

// Open decrypts what Seal made for an equal binding.
func (m *Master) Open(b Binding, sealed []byte) (provider.Secret, error) {
	aad, err := b.bytes()
	if err != nil {
		return provider.Secret{}, err
	}
	if len(sealed) < 1+saltSize+nonceSize || sealed[0] != sealVersion {
		return provider.Secret{}, ErrUnopenable
	}
	key, err := openWith(m.key, sealed, aad)
	if errors.Is(err, ErrUnopenable) && m.previous != nil {
		key, err = openWith(*m.previous, sealed, aad)
	}
	return key, err
}

func openWith(master [keySize]byte, sealed, aad []byte) (provider.Secret, error) {
	gcm, err := cipherOf(master, sealed[1:1+saltSize])
	if err != nil {
		return provider.Secret{}, err
	}
	key, err := gcm.Open(nil, sealed[1+saltSize:1+saltSize+nonceSize], sealed[1+saltSize+nonceSize:], aad)
	if err != nil {
		return provider.Secret{}, ErrUnopenable
	}
	return provider.NewSecret(string(key)), nil
}

// cipherOf derives the key of one row.
func cipherOf(master [keySize]byte, salt []byte) (cipher.AEAD, error) {
	k, err := hkdf.Key(sha256.New, master[:], salt, info, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	block, err := aes.NewCipher(k)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	return cipher.NewGCM(block)
}

// bytes encodes the binding; each part is preceded by its length, so that no
// two bindings encode alike.
func (b Binding) bytes() ([]byte, error) {
	at, err := origin(b.BaseURL)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, s := range []string{string(b.Workspace), string(b.Connection), at} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return binary.BigEndian.AppendUint64(out, uint64(b.Version)), nil
}

// origin is scheme, host and port, in one spelling.
func origin(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("seal a key: the base URL has no origin")
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port, nil
}
