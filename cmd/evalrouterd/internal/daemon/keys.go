package daemon

import (
	"context"
	"log/slog"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
)

// keys finds API keys by what they prove to be.
type keys struct {
	store  *access.Store
	master *seal.Master
	now    func() core.Micros
	log    *slog.Logger
}

// noteUse is how old the note of a key's last use may become: a request is not
// worth a commit.
const noteUse = 60 * 1_000_000

// Identify finds the key of a token. A mistyped one never reaches the
// database; an unknown one costs as much time as a known one.
func (k keys) Identify(ctx context.Context, token string) (core.APIKey, bool, error) {
	key, err := seal.ParseKey(token)
	if err != nil || key.Kind() != seal.APIKey && key.Kind() != seal.IngestKey {
		return core.APIKey{}, false, nil
	}
	row, ok, err := k.store.KeyByPrefix(ctx, key.Prefix())
	if err != nil {
		return core.APIKey{}, false, err
	}
	if !ok {
		row.MAC = nil
	}
	ok = k.master.Matches(key, row.MAC)
	if ok && k.now()-row.LastUsedAt >= noteUse {
		// The note is for people; a database that takes no writes still answers.
		if err := k.store.TouchKey(ctx, row.ID); err != nil {
			k.log.Debug("use of a key was not noted", "error", err.Error())
		}
	}
	return row, ok, nil
}
