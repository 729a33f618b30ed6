//go:build !keyring

package main

import "github.com/evalrouter/evalrouter/lib/signin"

// vault is nil: this program was built without the tag keyring, and credentials
// are kept in a private file.
func vault() signin.Vault { return nil }
