package signin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/internal/filelock"
)

// Kinds of a stored credential.
const (
	Session = "session"
	APIKey  = "api_key"
)

// Schemas of the two files.
const (
	profileSchema     = "evalrouter.profile.v1"
	credentialsSchema = "evalrouter.credentials.v1"
)

// Account is where somebody is signed in. It holds no secret.
type Account struct {
	BaseURL string `json:"base_url"`
	Kind    string `json:"kind"`
	// Who is an e-mail address or a key's name, for people.
	Who         string `json:"who,omitempty"`
	WorkspaceID string `json:"workspace_id"`
	// Workspace is its name, for people.
	Workspace string `json:"workspace,omitempty"`
	// Store says where the credential is, for people.
	Store string `json:"store,omitempty"`
	// AllowHTTP says that plain http to this machine was allowed when this was
	// kept. It is for this origin only, and nothing else allows it unasked.
	AllowHTTP bool `json:"allow_http,omitempty"`
}

// credential is what a vault keeps of an account.
type credential struct {
	BaseURL      string     `json:"base_url"`
	Kind         string     `json:"kind"`
	AccessToken  string     `json:"access_token"`
	RefreshToken string     `json:"refresh_token,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at"`
	WorkspaceID  string     `json:"workspace_id"`
}

// document is both files: a list under a schema.
type document[T any] struct {
	Schema   string `json:"schema"`
	Accounts []T    `json:"accounts"`
}

// Accounts are this user's sign-ins, the current one first. It is safe for
// concurrent use, in one process and in several.
type Accounts struct {
	// Dir is the private directory.
	Dir string
	// Vault finds where credentials are kept. It is asked once, when one is
	// needed; without it, or where it finds nothing, they are in a private file.
	Vault func() Vault
	// Transport carries requests; redirects are never followed.
	Transport http.RoundTripper
	// AllowHTTP permits plain http to this machine, beside the accounts that were
	// kept with it.
	AllowHTTP bool
	UserAgent string
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error

	found sync.Once
	kept  Vault

	mu   sync.Mutex
	last map[string]credential // what Token gave, by origin
}

func joined(dir, name string) string { return filepath.Join(dir, name) }

func (a *Accounts) vault() Vault {
	a.found.Do(func() {
		if a.Vault != nil {
			a.kept = a.Vault()
		}
		if a.kept == nil {
			a.kept = File{a.Dir}
		}
	})
	return a.kept
}

// List is where somebody is signed in. It reads no credential.
func (a *Accounts) List() ([]Account, error) {
	return decode[Account](folder(a.Dir).read(profileFile))(profileSchema, joined(a.Dir, profileFile))
}

// Find is the account at an origin, or the current one for "". It reads no
// credential.
func (a *Accounts) Find(baseURL string) (Account, bool, error) {
	all, err := a.List()
	if err != nil || len(all) == 0 {
		return Account{}, false, err
	}
	if baseURL == "" {
		return all[0], true, nil
	}
	at := slices.IndexFunc(all, func(x Account) bool { return sameOrigin(x.BaseURL, baseURL) })
	if at < 0 {
		return Account{}, false, nil
	}
	return all[at], true, nil
}

// Origin is a base URL as the client reads it, with what is allowed there.
func (a *Accounts) Origin(baseURL string) (string, error) {
	return evalrouter.Origin(baseURL, a.Plain(baseURL))
}

// Plain says that plain http to this machine is allowed for an origin: now, or
// when its sign-in was kept.
func (a *Accounts) Plain(baseURL string) bool {
	if a.AllowHTTP {
		return true
	}
	acc, found, err := a.Find(baseURL)
	return err == nil && found && acc.AllowHTTP
}

// sameOrigin compares base URLs as a client reads them.
func sameOrigin(a, b string) bool {
	x, err := evalrouter.Origin(a, true)
	if err != nil {
		return false
	}
	y, err := evalrouter.Origin(b, true)
	return err == nil && x == y
}

// decode reads a document of accounts; nothing is an empty one.
func decode[T any](b []byte, err error) func(schema, where string) ([]T, error) {
	return func(schema, where string) ([]T, error) {
		if err != nil || b == nil {
			return nil, err
		}
		var doc document[T]
		if json.Unmarshal(b, &doc) != nil || doc.Schema != schema {
			return nil, corrupt(where)
		}
		return doc.Accounts, nil
	}
}

func (a *Accounts) credentials() ([]credential, error) {
	b, err := a.vault().Load()
	return decode[credential](b, kept(err))(credentialsSchema, a.vault().Name())
}

func (a *Accounts) saveProfile(all []Account) error {
	if len(all) == 0 {
		return folder(a.Dir).remove(profileFile)
	}
	b, err := json.MarshalIndent(document[Account]{profileSchema, all}, "", "  ")
	if err != nil {
		return err
	}
	return folder(a.Dir).write(profileFile, append(b, '\n'))
}

func (a *Accounts) saveCredentials(all []credential) error {
	if len(all) == 0 {
		return kept(a.vault().Save(nil))
	}
	b, err := json.Marshal(document[credential]{credentialsSchema, all})
	if err != nil {
		return err
	}
	return kept(a.vault().Save(append(b, '\n')))
}

// kept puts an error of a keychain into words; a file's has them.
func kept(err error) error {
	var own *flow.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return unwritable(err)
}

// lockWait is how long one process waits for another one's refresh.
const lockWait = 30 * time.Second

// locked runs fn while no other process changes anything.
func (a *Accounts) locked(ctx context.Context, fn func() error) (err error) {
	root, err := folder(a.Dir).open()
	if err != nil {
		return err
	}
	if err := root.Close(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	l, err := filelock.Take(waiting, joined(a.Dir, lockFile), a.Sleep)
	if err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return &flow.Error{Code: api.StateHeld, Message: "another process has been changing the sign-in for half a minute", Facts: []string{"nothing was sent"}, Err: err}
		}
		return unwritable(err)
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	return fn()
}

// Keep stores a sign-in, which becomes the current one, in the place of an
// earlier one at the same origin. That one is ended at the service too, as far
// as it can be told.
func (a *Accounts) Keep(ctx context.Context, acc Account, t Tokens) error {
	acc.Store = a.vault().Name()
	acc.AllowHTTP = a.Plain(acc.BaseURL) && strings.HasPrefix(acc.BaseURL, "http:")
	defer a.forget(acc.BaseURL)
	var old []credential
	err := a.locked(ctx, func() error {
		secrets, err := a.credentials()
		if err != nil {
			return err
		}
		all, err := a.List()
		if err != nil {
			return err
		}
		secrets = slices.DeleteFunc(secrets, func(c credential) bool {
			same := sameOrigin(c.BaseURL, acc.BaseURL)
			if same && c.Kind == Session {
				old = append(old, c)
			}
			return same
		})
		all = slices.DeleteFunc(all, func(x Account) bool { return sameOrigin(x.BaseURL, acc.BaseURL) })
		c := credential{BaseURL: acc.BaseURL, Kind: acc.Kind, AccessToken: t.Access, RefreshToken: t.Refresh, WorkspaceID: acc.WorkspaceID}
		if !t.ExpiresAt.IsZero() {
			c.ExpiresAt = &t.ExpiresAt
		}
		if err := a.saveCredentials(append([]credential{c}, secrets...)); err != nil {
			return err
		}
		return a.saveProfile(append([]Account{acc}, all...))
	})
	if err != nil {
		return err
	}
	for _, c := range old {
		_ = a.revoke(ctx, c) // otherwise it ends by itself, unused
	}
	return nil
}

// Choose makes a workspace the one of an account, and the account the current.
func (a *Accounts) Choose(ctx context.Context, baseURL, id, name string) error {
	return a.locked(ctx, func() error {
		all, err := a.List()
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(x Account) bool { return sameOrigin(x.BaseURL, baseURL) })
		if at < 0 {
			return SignedOut(baseURL)
		}
		acc := all[at]
		acc.WorkspaceID, acc.Workspace = id, name
		return a.saveProfile(append([]Account{acc}, slices.Delete(all, at, at+1)...))
	})
}

// Leave ends the sign-in at an origin: first at the service, then here. unheard
// says why the service could not be told; what is kept here is removed all the
// same. A stored key is not revoked, because others may use it. found is false
// when there was nothing.
func (a *Accounts) Leave(ctx context.Context, baseURL string) (found bool, unheard, err error) {
	defer a.forget(baseURL)
	err = a.locked(ctx, func() error {
		secrets, err := a.credentials()
		if err != nil {
			return err
		}
		all, err := a.List()
		if err != nil {
			return err
		}
		for _, c := range secrets {
			if sameOrigin(c.BaseURL, baseURL) && c.Kind == Session {
				unheard = a.revoke(ctx, c)
			}
		}
		left := slices.DeleteFunc(slices.Clone(all), func(x Account) bool { return sameOrigin(x.BaseURL, baseURL) })
		found = len(left) < len(all)
		return errors.Join(a.saveCredentials(slices.DeleteFunc(secrets, func(c credential) bool { return sameOrigin(c.BaseURL, baseURL) })), a.saveProfile(left))
	})
	return found, unheard, err
}

// SignedOut is the refusal of what needs somebody to be signed in.
func SignedOut(baseURL string) error {
	return &flow.Error{Code: api.SignedOut, Message: "nobody is signed in at " + baseURL, Facts: []string{"nothing was sent, started or charged"}}
}
