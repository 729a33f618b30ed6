package account

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Account is as whom the service sees the person, in which workspace, and which
// service that is.
func Account(r Reader) (kit.Screen, []kit.Effect) {
	return page{
		place: "Account and workspace", what: "identity",
		load: func(ctx context.Context) (content, error) {
			who, err := r.Whoami(ctx)
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
			return c, nil
		},
	}.read()
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
