package daemon

import (
	"context"
	"crypto/rand"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/roster"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/secretfile"
)

// operator is whoever runs commands on the machine, for the log of changes.
func operator() core.By { return core.By{Entry: newCallID(), Actor: "operator"} }

func (o *open) roster(sys System) roster.Roster {
	return roster.Roster{Store: o.store.Access(), Out: sys.Stdout, By: operator, NewID: newID}
}

func accountsListCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error { return o.roster(sys).List(ctx) })
	}
}

func accountsApproveCommand(f *flagSet) action {
	data := f.data()
	workspace := f.StringLong("workspace", "", "`WORKSPACE` that the person becomes a member of")
	role := f.StringLong("role", string(core.RoleMember), "their `ROLE` in it: owner, admin, member or viewer")
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		if !core.Role(*role).Known() {
			return refuse("invalid_input", "a role is owner, admin, member or viewer; nobody was approved")
		}
		return withData(ctx, at, func(o *open) error {
			var w core.WorkspaceInfo
			if *workspace != "" {
				if w, err = o.member(ctx, *workspace); err != nil {
					return err
				}
			}
			return o.roster(sys).Approve(ctx, operands[0], w.ID, core.Role(*role))
		})
	}
}

func accountsStateCommand(state string) func(*flagSet) action {
	return func(f *flagSet) action {
		data := f.data()
		return func(ctx context.Context, sys System, operands []string) error {
			at, err := data(sys)
			if err != nil {
				return err
			}
			return withData(ctx, at, func(o *open) error { return o.roster(sys).SetState(ctx, operands[0], state) })
		}
	}
}

// accountsPasswordCommand gives an account a password that its owner forgot.
func accountsPasswordCommand(f *flagSet) action {
	data := f.data()
	file := f.StringLong("file", "", "a `FILE` with the new password, readable by its owner only")
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		text, err := secretfile.Read(*file)
		if err != nil {
			return refuse("invalid_input", "--file names no file with a password that can be used: %s; nothing was changed", reason(err))
		}
		if bad := password.Fit(text, identity.Address(operands[0])); bad != "" {
			return refuse("invalid_input", "%s Nothing was changed", bad)
		}
		hash, err := password.New(password.Usual(), rand.Reader).Hash(ctx, text)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error { return o.roster(sys).SetPassword(ctx, operands[0], hash) })
	}
}

const maxLog = 1000

// auditLogCommand prints the log of changes, newest first.
func auditLogCommand(f *flagSet) action {
	data, asJSON := f.data(), f.toggle("json", "print one JSON document a line")
	workspace := f.StringLong("workspace", "", "only what concerns this `WORKSPACE`")
	limit := f.IntLong("limit", 50, "at most this `NUMBER` of lines")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		if *limit < 1 || *limit > maxLog {
			return refuse("invalid_input", "--limit is 1 to %d", maxLog)
		}
		return inspect(ctx, at, func(o *open) error { return o.roster(sys).Log(ctx, core.WorkspaceID(*workspace), *limit, *asJSON) })
	}
}
