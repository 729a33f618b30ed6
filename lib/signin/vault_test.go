package signin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/signin"
)

// chain is a keychain, with how often it was read.
type chain struct {
	data  []byte
	loads int
}

func (c *chain) Name() string { return "the keychain" }

func (c *chain) Load() ([]byte, error) {
	c.loads++
	return c.data, nil
}

func (c *chain) Save(b []byte) error {
	c.data = b
	return nil
}

// AUT-13 CAT-04: where there is a keychain, no file holds a secret, and what a
// profile is made of is found without reading it.
func TestKeychain_AUT13_CAT04(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{})
	c := &chain{}
	keep := func() signin.Vault { return c }
	b.Vault = keep
	got := b.enter()
	if !strings.Contains(string(c.data), got.Refresh) {
		t.Error("the keychain does not hold the credential")
	}
	if _, err := os.Stat(filepath.Join(b.dir, "credentials.json")); err == nil {
		t.Error("a file was made beside the keychain")
	}
	c.loads = 0
	fresh := &signin.Accounts{Dir: b.dir, Vault: keep, Transport: b.Transport, AllowHTTP: true, Now: b.clock.Now, Sleep: b.clock.Sleep}
	saved, err := fresh.Saved("")
	if err != nil || saved.WorkspaceID != b.Fake.WorkspaceID || c.loads != 0 {
		t.Errorf("the profile %+v, %v, after %d looks into the keychain", saved, err, c.loads)
	}
	if token, err := saved.Token(t.Context(), ""); token != got.Access || err != nil || c.loads != 1 {
		t.Errorf("the token: %v, after %d looks", err, c.loads)
	}
	if acc, _, err := fresh.Find(""); acc.Store != "the keychain" || err != nil {
		t.Errorf("kept in %q, %v", acc.Store, err)
	}
	// Where the keychain does not answer nobody else's file takes its place.
	without := &signin.Accounts{Dir: b.dir, Transport: b.Transport, AllowHTTP: true, Now: b.clock.Now, Sleep: b.clock.Sleep}
	if _, err := without.Token(t.Context(), b.Fake.URL); !errors.Is(err, api.SignedOut) || !strings.Contains(err.Error(), "was put into the keychain") {
		t.Errorf("without it: %v", err)
	}
}
