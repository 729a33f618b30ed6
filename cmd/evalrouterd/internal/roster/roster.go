// Package roster is what an operator sees and decides about accounts and keys
// at the machine, as text. Whatever people wrote passes lib/plain.
package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Roster shows and decides. By is who does it, once for each line of the log.
type Roster struct {
	Store *access.Store
	Out   io.Writer
	By    func() core.By
	NewID func() string
}

const (
	notFound  = core.NotFound
	invalid   = core.Code("invalid_input")
	ambiguous = core.Code("ambiguous_id")
)

// List shows accounts, and who waits to be let in.
func (r Roster) List(ctx context.Context) error {
	users, err := r.Store.Users(ctx)
	if err != nil {
		return err
	}
	waiting, err := r.Store.Registrations(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
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
}

// Approve lets somebody in who registered, by address or by the registration's
// id, and makes them a member of a workspace where w is not "". An account that
// exists is only made a member.
func (r Roster) Approve(ctx context.Context, name string, w core.WorkspaceID, role core.Role) error {
	u, err := r.approved(ctx, name)
	if err != nil {
		return err
	}
	if w == "" {
		fmt.Fprintf(r.Out, "%s can sign in.\n", plain.Line(u.Email))
		return nil
	}
	if err := r.Store.AddMember(ctx, u.ID, w, role, r.By()); err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "%s can sign in, and is %s of the workspace %s.\n", plain.Line(u.Email), role, w)
	return nil
}

// approved finds an account, or makes one of a registration. Of several with
// the same address only the operator knows whose is right.
func (r Roster) approved(ctx context.Context, name string) (core.User, error) {
	email := identity.Address(name)
	if email != "" {
		u, err := r.Store.UserByEmail(ctx, email)
		if err == nil && u.State != core.UserActive {
			return u, core.Refuse(invalid, "this account is kept out; nothing was changed. 'evalrouterd accounts enable %s' lets it in again", plain.Line(u.Email))
		}
		if !errors.Is(err, &core.Refusal{Code: notFound}) {
			return u, err
		}
	}
	all, err := r.Store.Registrations(ctx)
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
		return core.User{}, core.Refuse(notFound, "nobody with this address has registered; nobody was approved. 'evalrouterd accounts list' shows who waits")
	case 1:
		return r.Store.Approve(ctx, fit[0].ID, core.UserID(r.NewID()), r.By())
	}
	ids := make([]string, len(fit))
	for i, g := range fit {
		ids[i] = fmt.Sprintf("%s (%s, from %s)", g.ID, plain.Line(g.Name), orDash(g.Address))
	}
	return core.User{}, core.Refuse(ambiguous, "several people registered with this address, and only one has it; nobody was approved. Ask which is theirs and name it by its id: %s", strings.Join(ids, "; "))
}

// Account finds an account by its address.
func (r Roster) Account(ctx context.Context, email string) (core.User, error) {
	u, err := r.Store.UserByEmail(ctx, identity.Address(email))
	if errors.Is(err, &core.Refusal{Code: notFound}) {
		err = core.Refuse(notFound, "there is no account with this address; nothing was changed")
	}
	return u, err
}

// SetState lets an account in or keeps it out.
func (r Roster) SetState(ctx context.Context, email, state string) error {
	u, err := r.Account(ctx, email)
	if err != nil {
		return err
	}
	if err := r.Store.SetState(ctx, u.ID, state, r.By()); err != nil {
		return err
	}
	if state == core.UserDisabled {
		fmt.Fprintf(r.Out, "%s is kept out. Sign-ins have ended, and the keys that the account made.\n", plain.Line(u.Email))
		return nil
	}
	fmt.Fprintf(r.Out, "%s can sign in again.\n", plain.Line(u.Email))
	return nil
}

// SetPassword gives an account the password of a hash.
func (r Roster) SetPassword(ctx context.Context, email, hash string) error {
	u, err := r.Account(ctx, email)
	if err != nil {
		return err
	}
	if err := r.Store.SetPassword(ctx, u.ID, hash, "", r.By()); err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "%s has the new password. Every browser and terminal was signed out.\n", plain.Line(u.Email))
	return nil
}

// Log shows the log of changes, newest first, as a table or as one JSON document
// a line.
func (r Roster) Log(ctx context.Context, w core.WorkspaceID, limit int, asJSON bool) error {
	lines, err := r.Store.Log(ctx, w, nil, limit)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(r.Out)
		for _, l := range lines {
			if err := enc.Encode(map[string]string{
				"id": l.ID, "at": stamp(l.At), "actor": l.Actor, "address": l.Address, "workspace_id": string(l.Workspace), "action": l.Action, "subject": l.Subject, "detail": l.Detail,
			}); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "AT\tWHO\tFROM\tWORKSPACE\tWHAT\tWHOM\tDETAIL")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", stamp(l.At), orDash(l.Actor), orDash(l.Address), orDash(string(l.Workspace)), l.Action, plain.Line(l.Subject), orDash(string(plain.Line(l.Detail))))
	}
	return t.Flush()
}

func day(t core.Micros) string { return time.UnixMicro(int64(t)).UTC().Format(time.DateOnly) }

func stamp(t core.Micros) string { return time.UnixMicro(int64(t)).UTC().Format(time.RFC3339) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
