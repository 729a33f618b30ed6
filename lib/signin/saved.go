package signin

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/lib/profile"
)

// Saved is what the sign-in at an origin left, for the resolution of a profile.
// It reads no credential; the token is read when one is needed.
func (a *Accounts) Saved(baseURL string) (*profile.Saved, error) {
	acc, found, err := a.Find(baseURL)
	if err != nil || !found {
		return nil, err
	}
	return &profile.Saved{
		BaseURL: acc.BaseURL, WorkspaceID: acc.WorkspaceID, Kind: strings.ReplaceAll(acc.Kind, "_", " "), AllowHTTP: acc.AllowHTTP,
		Token: func(ctx context.Context, refused string) (string, error) {
			return a.Another(ctx, acc.BaseURL, refused)
		},
	}, nil
}
