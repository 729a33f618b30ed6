//go:build keyring

package main

import (
	"errors"

	"github.com/zalando/go-keyring"

	"github.com/evalrouter/evalrouter/lib/signin"
)

// The entry that holds the credentials of all sign-ins.
const (
	keychainService = "evalrouter"
	keychainUser    = "credentials"
)

// keychain keeps credentials with the desktop.
type keychain struct{}

var _ signin.Vault = keychain{}

// vault is the keychain, or nil where none answers: then the private file is
// used. Nothing is read of it but whether it is there.
func vault() signin.Vault {
	if _, err := keyring.Get(keychainService, "probe"); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return keychain{}
}

// Name is what whoami says.
func (keychain) Name() string { return "the keychain" }

// Load reads the entry; none is nil.
func (keychain) Load() ([]byte, error) {
	s, err := keyring.Get(keychainService, keychainUser)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	return []byte(s), err
}

// Save replaces the entry; nil removes it.
func (keychain) Save(data []byte) error {
	if data == nil {
		err := keyring.Delete(keychainService, keychainUser)
		if errors.Is(err, keyring.ErrNotFound) {
			return nil
		}
		return err
	}
	return keyring.Set(keychainService, keychainUser, string(data))
}
