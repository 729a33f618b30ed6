package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// maxKeyDays is how long a key with an end may be good.
const maxKeyDays = 3650

const aDay = 24 * 3600 * 1_000_000

func keysCreateCommand(f *flagSet) action {
	data := f.data()
	workspace := f.StringLong("workspace", "", "`WORKSPACE` that the key acts for")
	name := f.StringLong("name", "", "`NAME` of the key")
	scopes := f.StringLong("scopes", "", "`SCOPES` by comma: "+strings.Join(httpapi.Scopes(), ","))
	days := f.IntLong("days", 0, "`NUMBER` of days that the key is good for; 0 for no end")
	ceiling := f.StringLong("ceiling", "", "what its runs may cost in all, in `USD`; without it there is no bound of its own")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		k := core.APIKey{Name: *name, Scopes: strings.FieldsFunc(*scopes, func(r rune) bool { return r == ',' || r == ' ' })}
		for _, s := range k.Scopes {
			if !slices.Contains(httpapi.Scopes(), s) {
				return refuse("invalid_input", "a scope is not known; the scopes are %s. No key was made", strings.Join(httpapi.Scopes(), ", "))
			}
		}
		if *workspace == "" || *name == "" || len(*name) > 80 || len(k.Scopes) == 0 {
			return refuse("invalid_input", "a key needs --workspace, --name (at most 80 characters) and --scopes; no key was made")
		}
		if *days < 0 || *days > maxKeyDays {
			return refuse("invalid_input", "--days is at most %d; no key was made", maxKeyDays)
		}
		if *ceiling != "" {
			if k.Ceiling, err = usd.Parse(*ceiling); err != nil || k.Ceiling == 0 || slices.Contains(k.Scopes, "keys:admin") {
				return refuse("invalid_input", "--ceiling is US dollars such as 25 or 0.50, and not for a key that makes keys; no key was made")
			}
		}
		return withData(ctx, at, func(o *open) error {
			if *days > 0 {
				k.ExpiresAt = o.store.Now() + core.Micros(*days)*aDay
			}
			return createKey(ctx, sys, o, *workspace, k)
		})
	}
}

func createKey(ctx context.Context, sys System, o *open, workspace string, k core.APIKey) error {
	w, err := o.member(ctx, workspace)
	if err != nil {
		return err
	}
	if err := o.unlock(ctx); err != nil {
		return err
	}
	key, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		return err
	}
	slices.Sort(k.Scopes)
	k.ID, k.Workspace, k.Prefix, k.MAC, k.Scopes = newID(), w.ID, key.Prefix(), o.master.MAC(key), slices.Compact(k.Scopes)
	if err := o.store.Access().AddKey(ctx, k, operator()); err != nil {
		return err
	}
	showKey(sys, key, w.ID)
	return nil
}

// showKey prints a key, alone on the output, so that it can be led into a
// secret manager.
func showKey(sys System, key seal.Key, w core.WorkspaceID) {
	fmt.Fprintf(sys.Stderr, "Key %s for workspace %s. It is shown once; keep it in a secret manager.\n", key.Prefix(), w)
	fmt.Fprintln(sys.Stdout, key.Reveal())
}

// keysListCommand lists the keys of a workspace.
func keysListCommand(f *flagSet) action {
	data := f.data()
	workspace := f.StringLong("workspace", "", "`WORKSPACE` whose keys are listed")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			w, err := o.member(ctx, *workspace)
			if err != nil {
				return err
			}
			return o.roster(sys).Keys(ctx, w.ID, o.store.Now())
		})
	}
}

// keysSucceedCommand makes a key's successor.
func keysSucceedCommand(f *flagSet) action {
	data := f.data()
	overlap := f.DurationLong("overlap", time.Hour, "`TIME` for which the old key is good too, at most a day; 0 ends it at once")
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		if *overlap < 0 || *overlap > identity.MaxOverlap*time.Microsecond {
			return refuse("invalid_input", "--overlap is at most a day; nothing was done")
		}
		return withData(ctx, at, func(o *open) error {
			k, err := o.roster(sys).Key(ctx, operands[0])
			if err != nil {
				return err
			}
			if err := o.unlock(ctx); err != nil {
				return err
			}
			key, err := seal.NewKey(seal.Kind(k.Prefix[:3]), rand.Reader)
			if err != nil {
				return err
			}
			next := core.APIKey{ID: newID(), Prefix: key.Prefix(), MAC: o.master.MAC(key)}
			if _, err := o.store.Access().RotateKey(ctx, k.Workspace, k.ID, next, core.Micros(overlap.Microseconds()), operator()); err != nil {
				return err
			}
			showKey(sys, key, k.Workspace)
			return nil
		})
	}
}

// keysRevokeCommand ends a key.
func keysRevokeCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error { return o.roster(sys).Revoke(ctx, operands[0]) })
	}
}
