package account

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

const (
	signIn      = "Sign in"
	signInAgain = "Sign in again"
	byCode      = "Sign in on another device"
	byKey       = "Use an API key"
)

// Account is as whom the service sees the person, in which workspace, and which
// service that is. at is the service at which one signs in from here, "" where
// nobody can.
func Account(r Reader, at string) (kit.Screen, []kit.Effect) {
	return page{
		place: "Account and workspace", what: "identity",
		load: func(ctx context.Context) (content, error) {
			who, err := r.Whoami(ctx)
			if show.SignedOut(err) {
				return outside(err, at), nil
			}
			if err != nil {
				return content{}, err
			}
			meta, err := r.Meta(ctx)
			if err != nil {
				return content{}, err
			}
			c := content{lines: func(w int) []kit.Line { return whoLines(who, meta, w) }}
			if who.Workspace != nil {
				c.url = who.Workspace.WebURL
			}
			if at != "" {
				name := plain.Safe(signInAgain)
				if who.Account == nil {
					name = signIn
				}
				c.ways = ways(name)
			}
			return c, nil
		},
	}.read()
}

// ways are how one signs in, the plain one by its name.
func ways(name plain.Safe) []way {
	return []way{{name, route.SignIn{}}, {byCode, route.SignIn{ByCode: true}}, {byKey, route.SignIn{ByKey: true}}}
}

// outside is the page of somebody whom the service does not know, or no longer.
func outside(why error, at string) content {
	c := content{lines: func(int) []kit.Line {
		out := []kit.Line{{Text: " You are signed out. Browsing works; runs need an account.", Role: kit.Strong}}
		if show.Ended(why) {
			out = []kit.Line{{Text: " Your sign-in has ended. Runs go on, and nothing is lost.", Role: kit.Strong}}
		}
		out = append(out, kit.Line{Text: show.F(" %s", show.Reason(why))}, kit.Line{})
		if at == "" {
			return append(out, kit.Line{Text: " On the command line:  evalrouter login"})
		}
		return append(out, kit.Line{Text: show.F(" Sign in at %s", at)}, kit.Line{Text: " by the browser here, by a code, or with a key you type."})
	}}
	if at != "" {
		c.ways = ways(signIn)
	}
	return c
}

func whoLines(who api.WhoamiRecord, meta api.MetaRecord, w int) []kit.Line {
	rows := [][2]string{{"You are", identity(who)}}
	if k := who.APIKey; k != nil {
		rows = append(rows, [2]string{"Key", k.Name + "  " + k.Prefix + "…"})
	}
	if who.ExpiresAt != nil {
		rows = append(rows, [2]string{"Until", who.ExpiresAt.Local().Format("2 Jan 2006 15:04")})
	}
	if ws := who.Workspace; ws != nil {
		rows = append(rows, [2]string{"Workspace", ws.Name + "  " + ws.Slug + "  " + ws.ID}, [2]string{"Role", ws.Role}, [2]string{"State", ws.Status})
	}
	rows = append(rows, [2]string{"May", strings.Join(who.Scopes, ", ")}, [2]string{"Service", meta.Service + " " + meta.Version}, [2]string{"Pages", meta.WebOrigin})
	out := show.Pairs(w, rows...)
	return append(out, kit.Line{}, kit.Line{Text: " Where each setting comes from: evalrouter options"})
}

func identity(who api.WhoamiRecord) string {
	switch {
	case who.Account != nil:
		return who.Account.Email
	case who.Kind == "local_owner":
		return "the owner of the service on this machine; it needs no account"
	}
	return strings.ReplaceAll(who.Kind, "_", " ")
}

// Uploads says where benchmarks are uploaded: in the browser, or with the
// command line. There is no form for it here.
func Uploads(r Reader) (kit.Screen, []kit.Effect) {
	return page{
		place: "Benchmark uploads", what: "address", note: "Offline authoring needs no account",
		load: func(ctx context.Context) (content, error) {
			who, err := r.Whoami(ctx)
			if err != nil {
				return content{}, err
			}
			c := content{}
			if who.Workspace != nil && who.Workspace.WebURL != "" {
				c.url = strings.TrimRight(who.Workspace.WebURL, "/") + "/benchmarks"
			}
			c.lines = func(int) []kit.Line { return uploadLines(c.url) }
			return c, nil
		},
	}.read()
}

func uploadLines(url string) (out []kit.Line) {
	if url != "" {
		out = append(out, kit.Line{Text: " Private benchmarks are uploaded and managed in the browser:"}, kit.Line{}, kit.Line{Text: show.F("   %s", url)}, kit.Line{})
	} else {
		out = append(out, kit.Line{Text: " This service has no pages; the command line uploads benchmarks."}, kit.Line{})
	}
	return append(out,
		kit.Line{Text: " On the command line:"},
		kit.Line{Text: "   evalrouter benchmark upload FILE"},
		kit.Line{Text: "   evalrouter benchmark create FILE"},
		kit.Line{},
		kit.Line{Text: " A benchmark of your own begins with:"},
		kit.Line{Text: "   evalrouter-bench init my-benchmark"},
	)
}
