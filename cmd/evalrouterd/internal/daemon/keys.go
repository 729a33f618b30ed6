package daemon

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// keys finds API keys by what they prove to be.
type keys struct {
	store  *store.Store
	master *seal.Master
}

// Identify finds the key of a token. A mistyped one never reaches the
// database; an unknown one costs as much time as a known one.
func (k keys) Identify(ctx context.Context, token string) (store.Key, bool, error) {
	key, err := seal.ParseKey(token)
	if err != nil || key.Kind() != seal.APIKey && key.Kind() != seal.IngestKey {
		return store.Key{}, false, nil
	}
	row, ok, err := k.store.KeyByPrefix(ctx, key.Prefix())
	if err != nil {
		return store.Key{}, false, err
	}
	if !ok {
		row.MAC = nil
	}
	return row, k.master.Matches(key, row.MAC), nil
}
