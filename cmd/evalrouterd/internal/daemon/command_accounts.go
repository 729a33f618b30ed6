package daemon

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/secretfile"
	"github.com/evalrouter/evalrouter/lib/plain"
)

func accountsListCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			users, err := o.store.Access().Users(ctx)
			if err != nil {
				return err
			}
			waiting, err := o.store.Access().Registrations(ctx)
			if err != nil {
				return err
			}
			t := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "EMAIL\tNAME\tSTATE\tSINCE\tID")
			for _, u := range users {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", plain.Line(u.Email), plain.Line(u.Name), u.State, day(u.CreatedAt), u.ID)
			}
			for _, g := range waiting {
				state := "waits for approval"
				if g.Code != nil {
					state = "waits for its code"
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", plain.Line(g.Email), plain.Line(g.Name), state, day(g.CreatedAt), g.ID)
			}
			return t.Flush()
		})
	}
}

func day(t core.Micros) string { return time.UnixMicro(int64(t)).UTC().Format(time.DateOnly) }

// accountsApproveCommand lets somebody in who registered, and makes them a
// member of a workspace if it is told to. An account that exists is only made
// a member.
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
			u, err := o.approved(ctx, sys, operands[0])
			if err != nil {
				return err
			}
			if w.ID == "" {
				fmt.Fprintf(sys.Stdout, "%s can sign in.\n", plain.Line(u.Email))
				return nil
			}
			if err := o.store.Access().AddMember(ctx, u.ID, w.ID, core.Role(*role), operator()); err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "%s can sign in, and is %s of the workspace %s.\n", plain.Line(u.Email), *role, w.ID)
			return nil
		})
	}
}

// approved finds an account by its address, or makes one of the registration
// with that address or id. Of several registrations only the operator knows
// whose is right.
func (o *open) approved(ctx context.Context, sys System, name string) (core.User, error) {
	a := o.store.Access()
	email := identity.Address(name)
	if email != "" {
		u, err := a.UserByEmail(ctx, email)
		if err == nil && u.State != core.UserActive {
			return u, refuse("invalid_input", "this account is kept out; nothing was changed. 'evalrouterd accounts enable %s' lets it in again", plain.Line(u.Email))
		}
		if !errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			return u, err
		}
	}
	all, err := a.Registrations(ctx)
	if err != nil {
		return core.User{}, err
	}
	var fit []core.Registration
	for _, g := range all {
		if g.ID == name || email != "" && g.Email == email {
			fit = append(fit, g)
		}
	}
	switch len(fit) {
	case 0:
		return core.User{}, refuse("not_found", "nobody with this address has registered; nobody was approved. 'evalrouterd accounts list' shows who waits")
	case 1:
		return a.Approve(ctx, fit[0].ID, core.UserID(newID()), operator())
	}
	ids := make([]string, len(fit))
	for i, g := range fit {
		ids[i] = fmt.Sprintf("%s (%s, from %s)", g.ID, plain.Line(g.Name), orNone(g.Address))
	}
	return core.User{}, refuse("ambiguous_id", "several people registered with this address, and only one has it; nobody was approved. Ask which is theirs and name it by its id: %s", strings.Join(ids, "; "))
}

func accountsStateCommand(state, said string) func(*flagSet) action {
	return func(f *flagSet) action {
		data := f.data()
		return func(ctx context.Context, sys System, operands []string) error {
			at, err := data(sys)
			if err != nil {
				return err
			}
			return withData(ctx, at, func(o *open) error {
				u, err := o.store.Access().UserByEmail(ctx, identity.Address(operands[0]))
				if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
					return refuse("not_found", "there is no account with this address; nothing was changed")
				}
				if err != nil {
					return err
				}
				if err := o.store.Access().SetState(ctx, u.ID, state, operator()); err != nil {
					return err
				}
				fmt.Fprintf(sys.Stdout, said, plain.Line(u.Email))
				return nil
			})
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
		email := identity.Address(operands[0])
		if bad := password.Fit(text, email); bad != "" {
			return refuse("invalid_input", "%s Nothing was changed", bad)
		}
		return withData(ctx, at, func(o *open) error {
			u, err := o.store.Access().UserByEmail(ctx, email)
			if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
				return refuse("not_found", "there is no account with this address; nothing was changed")
			}
			if err != nil {
				return err
			}
			hash, err := password.New(password.Usual(), rand.Reader).Hash(ctx, text)
			if err != nil {
				return err
			}
			if err := o.store.Access().SetPassword(ctx, u.ID, hash, "", operator()); err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "%s has the new password. Every browser and terminal was signed out.\n", plain.Line(u.Email))
			return nil
		})
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
		return inspect(ctx, at, func(o *open) error {
			lines, err := o.store.Access().Log(ctx, core.WorkspaceID(*workspace), nil, *limit)
			if err != nil {
				return err
			}
			if *asJSON {
				return logJSON(sys, lines)
			}
			t := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "AT\tWHO\tFROM\tWORKSPACE\tWHAT\tWHOM\tDETAIL")
			for _, l := range lines {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", stamp(l.At), orDash(l.Actor), orDash(l.Address), orDash(string(l.Workspace)), l.Action, plain.Line(l.Subject), orDash(string(plain.Line(l.Detail))))
			}
			return t.Flush()
		})
	}
}

func logJSON(sys System, lines []core.LogLine) error {
	enc := json.NewEncoder(sys.Stdout)
	for _, l := range lines {
		if err := enc.Encode(map[string]string{
			"id": l.ID, "at": stamp(l.At), "actor": l.Actor, "address": l.Address, "workspace_id": string(l.Workspace), "action": l.Action, "subject": l.Subject, "detail": l.Detail,
		}); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t core.Micros) string { return time.UnixMicro(int64(t)).UTC().Format(time.RFC3339) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
