package roster

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/lib/plain"
)

const maxKeys = 1000

// Keys lists the keys of a workspace, newest first, without their secrets.
func (r Roster) Keys(ctx context.Context, w core.WorkspaceID, now core.Micros) error {
	list, err := r.Store.Keys(ctx, w, nil, maxKeys)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PREFIX\tNAME\tMADE\tENDS\tSPENT\tSCOPES")
	for _, k := range list {
		spent, err := r.Store.Spent(ctx, k.Lineage)
		if err != nil {
			return err
		}
		money := spent.String()
		if k.Ceiling > 0 {
			money += " of " + k.Ceiling.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Prefix, plain.Line(k.Name), day(k.CreatedAt), ends(k, now), money, strings.Join(k.Scopes, ","))
	}
	return t.Flush()
}

func ends(k core.APIKey, now core.Micros) string {
	switch {
	case k.RevokedAt != 0:
		return "revoked"
	case k.ExpiresAt == 0:
		return "never"
	case now >= k.ExpiresAt:
		return "ended"
	}
	return stamp(k.ExpiresAt)
}

// Key finds a key by its prefix: whoever gives the key itself has put a secret
// among the arguments.
func (r Roster) Key(ctx context.Context, prefix string) (core.APIKey, error) {
	if len(prefix) > seal.PrefixLen {
		return core.APIKey{}, core.Refuse("secret_in_arguments", "that is more than a key's prefix, and arguments can be read by everybody on this machine; nothing was done. Name the key by its first %d characters", seal.PrefixLen)
	}
	k, ok, err := r.Store.KeyByPrefix(ctx, prefix)
	if err == nil && !ok {
		err = core.Refuse(notFound, "there is no key with this prefix here; nothing was done")
	}
	return k, err
}

// Revoke ends a key at once.
func (r Roster) Revoke(ctx context.Context, prefix string) error {
	k, err := r.Key(ctx, prefix)
	if err != nil {
		return err
	}
	if k.RevokedAt != 0 {
		fmt.Fprintf(r.Out, "Key %s of workspace %s had ended already.\n", k.Prefix, k.Workspace)
		return nil
	}
	if err := r.Store.RevokeKey(ctx, k.Workspace, k.ID, r.By()); err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "Key %s (%s) of workspace %s has ended.\n", k.Prefix, plain.Line(k.Name), k.Workspace)
	return nil
}
