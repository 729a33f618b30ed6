// Package badge finds who a token stands for. A mistyped token never reaches
// the database, and an unknown one costs as much time as a known one.
package badge

import (
	"context"
	"log/slog"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
)

// Keys finds API keys by what they prove to be.
type Keys struct {
	Store  *access.Store
	Master *seal.Master
	Now    func() core.Micros
	Log    *slog.Logger
}

// noteUse is how old the note of a key's last use may become: a request is not
// worth a commit.
const noteUse = 60 * 1_000_000

// Identify finds the key of a token. A mistyped one never reaches the
// database; an unknown one costs as much time as a known one.
func (k Keys) Identify(ctx context.Context, token string) (core.APIKey, bool, error) {
	key, err := seal.ParseKey(token)
	if err != nil || key.Kind() != seal.APIKey && key.Kind() != seal.IngestKey {
		return core.APIKey{}, false, nil
	}
	row, ok, err := k.Store.KeyByPrefix(ctx, key.Prefix())
	if err != nil {
		return core.APIKey{}, false, err
	}
	if !ok {
		row.MAC = nil
	}
	ok = k.Master.Matches(key, row.MAC)
	if ok && k.Now()-row.LastUsedAt >= noteUse {
		// The note is for people; a database that takes no writes still answers.
		if err := k.Store.TouchKey(ctx, row.ID); err != nil {
			k.Log.Debug("use of a key was not noted", "error", err.Error())
		}
	}
	return row, ok, nil
}

// Sessions finds people by their access tokens.
type Sessions struct {
	*access.Store
	Master *seal.Master
}

// SignedIn finds whom a token stands for. A mistyped one never reaches the
// database; an unknown one costs as much time as a known one.
func (s Sessions) SignedIn(ctx context.Context, token string) (core.SignedIn, bool, error) {
	key, err := seal.ParseKey(token)
	if err != nil || key.Kind() != seal.SessionKey {
		return core.SignedIn{}, false, nil
	}
	v, ok, err := s.Store.SignedIn(ctx, key.Prefix())
	if err != nil {
		return v, false, err
	}
	if !ok {
		v.MAC = nil
	}
	return v, s.Master.Matches(key, v.MAC), nil
}
