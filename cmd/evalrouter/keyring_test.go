//go:build keyring

package main

import (
	"errors"
	"testing"

	"github.com/zalando/go-keyring"
)

// AUT-13: with the keychain the credential goes there and nowhere else. The
// library's own mock stands for the desktop.
func TestKeychain_AUT13(t *testing.T) {
	keyring.MockInit()
	v := vault()
	if v == nil {
		t.Fatal("a keychain that answers is not used")
	}
	if b, err := v.Load(); b != nil || err != nil {
		t.Errorf("an empty one holds %q, %v", b, err)
	}
	if err := v.Save([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if b, err := v.Load(); string(b) != "{}" || err != nil {
		t.Errorf("kept %q, %v", b, err)
	}
	for range 2 {
		if err := v.Save(nil); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
	keyring.MockInitWithError(errors.New("no session bus"))
	if vault() != nil {
		t.Error("a keychain that does not answer is used")
	}
}
