package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/usd"
)

const (
	// shownKeys is how many keys a page shows.
	shownKeys = 100
	// overlap is how long a key that was rotated on the page is good for.
	overlap = 3600 * 1_000_000
	day     = 24 * overlap
	maxDays = 3650
)

type keysBody struct {
	Admin               bool
	Secret              string
	Keys                []key
	More                bool
	Scopes              []scope
	Name, Days, Ceiling string
}

type key struct {
	core.APIKey
	Ends  string
	Spent string
	Live  bool
}

type scope struct {
	Name string
	On   bool
}

func (s *Server) keysPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return s.keys(w, r, v, keysBody{}, "", 0)
}

func (s *Server) keys(w http.ResponseWriter, r *http.Request, v *visitor, b keysBody, bad string, status int) error {
	all, at, err := s.place(r, v)
	if errors.Is(err, errNoWorkspace) {
		http.Redirect(w, r, "/setup", http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	if b.Admin = administers(at.Role); b.Admin {
		if err := s.listKeys(r, at.ID, &b); err != nil {
			return err
		}
	}
	chosen := r.PostForm["scope"]
	if r.PostForm == nil || b.Secret != "" {
		chosen = core.RoleMember.Scopes(s.o.Scopes)
	}
	for _, name := range s.o.Scopes {
		b.Scopes = append(b.Scopes, scope{name, slices.Contains(chosen, name)})
	}
	s.show(w, v, view{Title: "API keys", Page: "keys", Tabs: tabs("/settings/api-keys", at), Workspaces: all, At: at, Path: "/settings/api-keys", Bad: bad, Good: done(r.URL.Query().Get("done")), status: status, Body: b})
	return nil
}

func (s *Server) listKeys(r *http.Request, w core.WorkspaceID, b *keysBody) error {
	list, err := s.o.Reader.Keys(r.Context(), w, nil, shownKeys+1)
	if err != nil {
		return err
	}
	if b.More = len(list) > shownKeys; b.More {
		list = list[:shownKeys]
	}
	now := s.o.People.Now()
	for _, k := range list {
		spent, err := s.o.Reader.Spent(r.Context(), k.Lineage)
		if err != nil {
			return err
		}
		out := key{APIKey: k, Ends: "no end", Spent: spent.String(), Live: k.RevokedAt == 0 && (k.ExpiresAt == 0 || now < k.ExpiresAt)}
		if k.Ceiling > 0 {
			out.Spent += " of " + k.Ceiling.String()
		}
		switch {
		case k.RevokedAt != 0:
			out.Ends = "revoked"
		case k.ExpiresAt != 0 && !out.Live:
			out.Ends = "ended"
		case k.ExpiresAt != 0:
			out.Ends = timeText(k.ExpiresAt, "2006-01-02 15:04")
		}
		b.Keys = append(b.Keys, out)
	}
	return nil
}

func (s *Server) changeKeys(w http.ResponseWriter, r *http.Request, v *visitor) error {
	_, at, err := s.place(r, v)
	if err != nil {
		return err
	}
	if !administers(at.Role) {
		return core.Refuse(core.InsufficientScope, "Owners and admins of the workspace manage its keys. Nothing was changed.")
	}
	f, b := r.PostForm, keysBody{}
	m := identity.KeyMaker{Workspace: at.ID, Actor: string(v.user.ID), User: v.user.ID, Scopes: at.Role.Scopes(s.o.Scopes), Address: v.address}
	switch f.Get("do") {
	case "make":
		b, err = s.makeKey(r, m)
	case "rotate":
		secret, _, failed := s.o.People.RotateKey(r.Context(), m, f.Get("id"), overlap)
		if err = failed; err == nil {
			b.Secret = secret.Reveal()
		}
	case "revoke":
		if err = s.o.People.RevokeKey(r.Context(), m, f.Get("id")); err == nil {
			http.Redirect(w, r, "/settings/api-keys?done=revoked&workspace="+string(at.ID), http.StatusSeeOther)
			return nil
		}
	default:
		return core.Refuse(identity.Unfit, "The form said nothing that is done here. Nothing was done.")
	}
	bad, status := "", 0
	if err != nil {
		if bad, status, err = shown(err); err != nil {
			return err
		}
	}
	// The key stands on this one page: an address to come back to would have to
	// hold it.
	return s.keys(w, r, v, b, bad, status)
}

func (s *Server) makeKey(r *http.Request, m identity.KeyMaker) (keysBody, error) {
	f := r.PostForm
	b := keysBody{Name: f.Get("name"), Days: f.Get("days"), Ceiling: f.Get("ceiling")}
	n := identity.NewKey{Name: b.Name, Scopes: f["scope"]}
	if text := strings.TrimSpace(b.Days); text != "" {
		days, err := strconv.Atoi(text)
		if err != nil || days < 1 || days > maxDays {
			return b, core.Refuse(identity.Unfit, "Days are a whole number from 1 to %d. No key was made.", maxDays)
		}
		n.ExpiresAt = s.o.People.Now() + core.Micros(days)*day
	}
	if text := strings.TrimSpace(b.Ceiling); text != "" {
		var err error
		if n.Ceiling, err = usd.Parse(text); err != nil || n.Ceiling == 0 {
			return b, core.Refuse(identity.Unfit, "An amount is US dollars such as 25 or 0.50. No key was made.")
		}
	}
	secret, _, err := s.o.People.MakeKey(r.Context(), m, n, s.o.Scopes)
	if err != nil {
		return b, err
	}
	return keysBody{Secret: secret.Reveal()}, nil
}

type billingBody struct {
	Available, Held, Balance string
	Entries                  []history.Entry
	Older                    string
}

// shownEntries is how much of the ledger a page shows.
const shownEntries = 50

func (s *Server) billingPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	all, at, err := s.place(r, v)
	if errors.Is(err, errNoWorkspace) {
		http.Redirect(w, r, "/setup", http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	c, err := s.o.Money.Credits(r.Context(), at.ID, core.CreditBook)
	if err != nil {
		return err
	}
	q := history.EntryQuery{Limit: shownEntries + 1}
	if when, id := r.URL.Query().Get("before"), r.URL.Query().Get("id"); when != "" {
		n, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			return core.Missing("page")
		}
		q.After = &history.EntryCursor{At: core.Micros(n), ID: id}
	}
	list, err := s.o.Money.Entries(r.Context(), core.Scope{Workspace: at.ID, Actor: string(v.user.ID)}, q)
	if err != nil {
		return err
	}
	b := billingBody{Available: c.Available.String(), Held: c.Held.String(), Balance: (c.Available + c.Held).String(), Entries: list}
	if len(list) > shownEntries {
		last := list[shownEntries-1]
		b.Entries = list[:shownEntries]
		b.Older = "/settings/billing?workspace=" + string(at.ID) + "&before=" + strconv.FormatInt(int64(last.At), 10) + "&id=" + last.ID
	}
	s.show(w, v, view{Title: "Billing", Page: "billing", Tabs: tabs("/settings/billing", at), Workspaces: all, At: at, Path: "/settings/billing", Body: b})
	return nil
}
