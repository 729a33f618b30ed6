package command

import (
	"context"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// shownModels is how many models get a command of their own.
const shownModels = 8

func connectionsDiscover(a *App) *argv.Command {
	return &argv.Command{
		Name: "discover", Short: "Find model servers on this machine",
		Long:     "Looks at the usual ports of Ollama, LM Studio, llama.cpp and vLLM. No model is\nloaded or asked, and no connection is made.",
		Examples: []string{"evalrouter connections discover", "evalrouter connections discover --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			found, err := c.Connections.Discover(ctx)
			if err != nil {
				return err
			}
			var failed error
			err = a.Value(found, func(p *term.Page) { failed = discovered(a, p, found) })
			if err == nil {
				err = failed
			}
			return err
		},
	}
}

// offer is a line of the table: a model of a server, or a server that tells
// none.
type offer struct {
	server api.DiscoveredServer
	model  *api.DiscoveredModel
}

func offersOf(found api.DiscoveryRecord) (list []offer) {
	for _, s := range found.Servers {
		if len(s.Models) == 0 {
			list = append(list, offer{server: s})
		}
		for i := range s.Models {
			list = append(list, offer{s, &s.Models[i]})
		}
	}
	return list
}

func discovered(a *App, p *term.Page, found api.DiscoveryRecord) error {
	list := offersOf(found)
	if len(list) == 0 {
		p.Line("No model server answers at %s.", strings.Join(found.Probed, ", "))
		p.Next("evalrouter connections create --name NAME --endpoint URL --model MODEL")
		return nil
	}
	lines, err := table.Render(list, offerColumns(), table.View{}, a.Term.Columns())
	if err != nil {
		return err
	}
	ShowTable(p, lines)
	for _, o := range list {
		if o.model != nil && o.model.Remote {
			p.Line("%s runs elsewhere and may be billed.", o.model.ID)
		}
	}
	for _, s := range found.Servers {
		if s.Note != nil {
			p.Line("%s at %s: %s.", s.Server, s.BaseURL, *s.Note)
		}
	}
	var next []string
	for _, o := range list {
		if cmd := o.create(); cmd != "" && len(next) < shownModels {
			next = append(next, cmd)
		}
	}
	p.Next(next...)
	return nil
}

func offerColumns() []table.Column[offer] {
	return []table.Column[offer]{
		{Name: "server", Text: func(o offer) string { return o.server.Server }},
		{Name: "model", Text: func(o offer) string {
			if o.model == nil {
				return "-"
			}
			return o.model.ID
		}},
		{Name: "context", Right: true, Drop: 1, Text: func(o offer) string {
			if o.model == nil || o.model.ContextWindow == nil {
				return "-"
			}
			return Thousands(*o.model.ContextWindow)
		}},
		{Name: "endpoint", Text: func(o offer) string { return o.server.BaseURL }},
	}
}

// create is the command that registers what was found. A model that runs
// elsewhere gets none: nobody should pay for it by copying a line.
func (o offer) create() string {
	words := []string{"evalrouter connections create --name", "NAME", "--endpoint", ShellWord(o.server.BaseURL), "--model", "MODEL"}
	switch {
	case o.model == nil && !o.server.NeedsKey, o.model != nil && o.model.Remote:
		return ""
	case o.model == nil:
		words[1] = named(o.server.Server)
	default:
		words[1], words[5] = named(o.server.Server+"-"+o.model.ID), ShellWord(o.model.ID)
		if n := o.model.ContextWindow; n != nil {
			words = append(words, "--context-window", strconv.Itoa(*n))
		}
	}
	if o.server.NeedsKey {
		return strings.Join(append(words, "--key-stdin"), " ")
	}
	return strings.Join(append(words, "--no-key"), " ")
}

// named makes a name that needs no quotes.
func named(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
	return strings.Trim(s[:min(len(s), 80)], "-")
}
