package signin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	accounts "github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// choose finds the workspace to use. why is said behind its name.
func (l *login) choose(ctx context.Context, base, kind string, got accounts.Tokens) (w api.WorkspaceRecord, why string, err error) {
	c, err := l.ClientAs(base, got.Access, "")
	if err != nil {
		return w, "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if kind == accounts.APIKey { // it belongs to one
		who, err := c.Whoami(ctx)
		if err == nil && who.Workspace != nil {
			w = *who.Workspace
		}
		return w, "", err
	}
	all, err := l.workspaces(ctx, c)
	switch {
	case err != nil:
		return w, "", err
	case l.workspace != "":
		w, err = named(all, l.workspace, l.LoginCommand()+" --workspace ")
		return w, "", err
	case len(all) == 1:
		return all[0], " (your only one)", nil
	case !l.Attended():
		return w, "", &argv.UsageError{Message: fmt.Sprintf("there are %d workspaces, and nobody can be asked; nothing was stored", len(all)), Closest: names(all), Next: l.LoginCommand() + " --workspace " + command.ShellWord(all[0].Name)}
	}
	w, err = l.pick(ctx, all)
	return w, "", err
}

// workspaces are all there are, once there is one.
func (l *login) workspaces(ctx context.Context, c *evalrouter.Client) ([]api.WorkspaceRecord, error) {
	acc, err := l.Accounts()
	if err != nil {
		return nil, err
	}
	return acc.Workspaces(ctx, c, func(setup string) {
		l.Note("Your account has no workspace yet. Finish its setup in the browser:")
		if setup != "" {
			l.Note("  %s", setup)
		}
		l.Note("Waiting... (Ctrl+C stops waiting)")
	})
}

func gather(ctx context.Context, c *evalrouter.Client) (all []api.WorkspaceRecord, err error) {
	for w, err := range c.Workspaces.All(ctx, evalrouter.Paging{Limit: 200}) {
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

func names(all []api.WorkspaceRecord) (out []string) {
	for _, w := range all {
		out = append(out, w.Name)
	}
	return out
}

// named is the workspace that was typed, by its id, its slug or its name. again
// is the command that takes another name.
func named(all []api.WorkspaceRecord, typed, again string) (api.WorkspaceRecord, error) {
	var found []api.WorkspaceRecord
	for _, w := range all {
		if w.ID == typed {
			return w, nil
		}
		if strings.EqualFold(w.Name, typed) || strings.EqualFold(w.Slug, typed) {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		near := flow.Suggest(typed, names(all))
		next := "evalrouter workspace list"
		if len(near) > 0 {
			next = again + command.ShellWord(near[0])
		}
		return api.WorkspaceRecord{}, &argv.UsageError{Message: "you have no workspace " + flow.Typed(typed) + "; nothing was stored", Closest: near, Next: next}
	}
	return api.WorkspaceRecord{}, &argv.UsageError{Code: api.AmbiguousID, Message: flow.Typed(typed) + " is the name of several workspaces; give the id. Nothing was stored", Next: again + found[0].ID}
}

// pick asks for one of several.
func (l *login) pick(ctx context.Context, all []api.WorkspaceRecord) (w api.WorkspaceRecord, err error) {
	l.Note("Choose a workspace:")
	for i, w := range all {
		l.Note("  %d  %s   %s", i+1, w.Name, w.Role)
	}
	for range 5 {
		line, err := l.Term.Ask(ctx, fmt.Sprintf("Workspace, 1 to %d: ", len(all)))
		if err != nil {
			return w, err
		}
		line = strings.TrimSpace(line)
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(all) {
			return all[n-1], nil
		}
		if w, err := named(all, line, ""); err == nil {
			return w, nil
		}
		l.Note("That is none of them.")
	}
	return w, term.ErrDeclined
}
