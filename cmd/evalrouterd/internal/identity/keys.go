package identity

import (
	"context"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Keys keeps API keys.
type Keys interface {
	AddKey(ctx context.Context, k core.APIKey, by core.By) error
	Key(ctx context.Context, w core.WorkspaceID, id string) (core.APIKey, error)
	RotateKey(ctx context.Context, w core.WorkspaceID, id string, next core.APIKey, overlap core.Micros, by core.By) (core.APIKey, error)
	RevokeKey(ctx context.Context, w core.WorkspaceID, id string, by core.By) error
}

// KeyMaker is who makes and ends keys: a person or a key, with what it may do.
type KeyMaker struct {
	Workspace core.WorkspaceID
	Actor     string
	User      core.UserID // "" for a key
	Scopes    []string
	Address   string
}

// NewKey is what a key is asked for with.
type NewKey struct {
	Name      string
	Scopes    []string
	ExpiresAt core.Micros // 0 = never
	Ceiling   usd.Micro   // 0 = none
}

const (
	keysAdmin = "keys:admin"
	// MaxOverlap is how long a rotated key may go on.
	MaxOverlap = 24 * hour
)

func (s *Service) madeBy(m KeyMaker) core.By {
	return core.By{Entry: s.NewEntry(), Workspace: m.Workspace, Actor: m.Actor, Address: m.Address}
}

// MakeKey makes a key of the scopes in all. The secret is shown once.
func (s *Service) MakeKey(ctx context.Context, m KeyMaker, n NewKey, all []string) (secret seal.Key, k core.APIKey, err error) {
	n.Name = strings.TrimSpace(n.Name)
	scopes := core.Within(n.Scopes, all)
	switch {
	case personName(n.Name) != nil:
		return secret, k, wrong("name", "A key has a name of 1 to 80 characters. No key was made.")
	case len(n.Scopes) == 0:
		return secret, k, wrong("scopes", "A key has at least one scope. No key was made.")
	case slices.ContainsFunc(n.Scopes, func(v string) bool { return !slices.Contains(all, v) }):
		return secret, k, wrong("scopes", "A scope is not known. No key was made.")
	case slices.ContainsFunc(scopes, func(v string) bool { return !slices.Contains(m.Scopes, v) }):
		return secret, k, core.Refuse(core.InsufficientScope, "Nobody gives a key scopes that they do not have. No key was made.").With("required", scopes)
	case n.ExpiresAt != 0 && n.ExpiresAt <= s.Now():
		return secret, k, wrong("expires_at", "A key ends in the future. No key was made.")
	case n.Ceiling < 0:
		return secret, k, wrong("spend_ceiling_microusd", "A ceiling is more than nothing. No key was made.")
	case n.Ceiling > 0 && slices.Contains(scopes, keysAdmin):
		return secret, k, wrong("scopes", "A key with a ceiling makes no keys: they would have none. No key was made.")
	}
	if secret, err = s.Draw(seal.APIKey); err != nil {
		return secret, k, err
	}
	k = core.APIKey{ID: s.NewID(), Workspace: m.Workspace, Name: n.Name, Prefix: secret.Prefix(), MAC: s.Master.MAC(secret), Scopes: scopes, CreatedBy: m.User, Ceiling: n.Ceiling, ExpiresAt: n.ExpiresAt}
	if err := s.Keys.AddKey(ctx, k, s.madeBy(m)); err != nil {
		return seal.Key{}, k, err
	}
	k, err = s.Keys.Key(ctx, m.Workspace, k.ID)
	return secret, k, err
}

// RotateKey makes a successor of a key and ends the key after an overlap.
func (s *Service) RotateKey(ctx context.Context, m KeyMaker, id string, overlap core.Micros) (secret seal.Key, k core.APIKey, err error) {
	if overlap < 0 || overlap > MaxOverlap {
		return secret, k, wrong("overlap_seconds", "Both keys are good for a day at most. Nothing was made.")
	}
	old, err := s.Keys.Key(ctx, m.Workspace, id)
	if err != nil {
		return secret, k, err
	}
	if slices.ContainsFunc(old.Scopes, func(v string) bool { return !slices.Contains(m.Scopes, v) }) {
		return secret, k, core.Refuse(core.InsufficientScope, "Nobody rotates a key with scopes that they do not have. Nothing was made.").With("required", old.Scopes)
	}
	if secret, err = s.Draw(seal.Kind(old.Prefix[:3])); err != nil {
		return secret, k, err
	}
	k, err = s.Keys.RotateKey(ctx, m.Workspace, id, core.APIKey{ID: s.NewID(), Prefix: secret.Prefix(), MAC: s.Master.MAC(secret), CreatedBy: m.User}, overlap, s.madeBy(m))
	if err != nil {
		return seal.Key{}, k, err
	}
	return secret, k, nil
}

// RevokeKey ends a key at once.
func (s *Service) RevokeKey(ctx context.Context, m KeyMaker, id string) error {
	return s.Keys.RevokeKey(ctx, m.Workspace, id, s.madeBy(m))
}

// wrong refuses a field of a request.
func wrong(path, message string) error {
	return core.Refuse(Unfit, "%s", message).With("field", path)
}
