package command

import (
	"context"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Connections manages the user's own endpoints.
func Connections(a *App) *argv.Command {
	return &argv.Command{
		Name: "connections", Args: "list|create|check|update|disable|discover", Short: "Manage your own model endpoints",
		Long:     "The provider bills their calls to you, outside EvalRouter's credit.",
		Examples: []string{"evalrouter connections list", "evalrouter connections check mine"},
		Sub:      []*argv.Command{connectionsList(a), connectionsCreate(a), connectionsCheck(a), connectionsUpdate(a), connectionsDisable(a), connectionsDiscover(a)},
	}
}

func connectionsList(a *App) *argv.Command {
	l := &ListFlags{}
	fs := argv.NewFlags("list")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List your endpoints", Flags: fs, Examples: []string{"evalrouter connections list", "evalrouter connections list --wide --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			page, err := Fetch(l, Source[api.ConnectionRecord]{
				Page: paged(ctx, c.Connections.List), All: walked(ctx, c.Connections.All),
			})
			if err != nil {
				return err
			}
			return PrintList(a, l, connectionColumns(page.Data), page, Hints{
				Empty: "No connections yet.",
				Next:  "evalrouter connections create --name NAME --endpoint URL --model MODEL",
			})
		},
	}
}

func connectionColumns(conns []api.ConnectionRecord) []table.Column[api.ConnectionRecord] {
	type rec = api.ConnectionRecord
	n := Unique(conns, func(c rec) string { return c.ID })
	price := func(m *usd.Micro) string {
		if m == nil {
			return "-"
		}
		return Money(*m)
	}
	return []table.Column[rec]{
		{Name: "connection", Whole: true, Text: func(c rec) string { return c.ID[:min(n, len(c.ID))] }},
		{Name: "name", Text: func(c rec) string { return c.Name }},
		{Name: "model", Drop: 1, Text: func(c rec) string { return c.ModelID }},
		{Name: "checked", Text: func(c rec) string { return checked(c) }},
		{Name: "endpoint", Text: func(c rec) string { return c.BaseURL }},
		{Name: "protocol", Wide: true, Text: func(c rec) string { return c.Protocol }},
		{Name: "in", Wide: true, Right: true, Text: func(c rec) string { return price(c.PriceInMicrousd) }},
		{Name: "out", Wide: true, Right: true, Text: func(c rec) string { return price(c.PriceOutMicrousd) }},
		{Name: "id", Wide: true, Whole: true, Text: func(c rec) string { return c.ID }},
	}
}

func checked(c api.ConnectionRecord) string {
	switch {
	case c.DisabledAt != nil:
		return "disabled"
	case c.CheckResult.Status == "":
		return "not yet"
	}
	return c.CheckResult.Status
}

type createConnection struct {
	*App
	in   api.NewConnection
	keys keyFlags
}

func connectionsCreate(a *App) *argv.Command {
	c := &createConnection{App: a, in: api.NewConnection{Protocol: api.OpenAIChat, MaxOutputTokens: 4096, ContextWindow: 32768}}
	fs := argv.NewFlags("create")
	fs.String(&c.in.Name, "name", "NAME", "what you call it (required)")
	fs.String(&c.in.BaseURL, "endpoint", "URL", "its base URL, usually ending in /v1 (required)")
	fs.String(&c.in.ModelID, "model", "MODEL", "the model to ask for (required)")
	fs.Choice(&c.in.Protocol, "protocol", "openai_chat by default; see above", api.OpenAIChat, api.OpenAICompletions, api.OpenAIResponses, api.AnthropicMessages, api.GoogleGenerate).Value = "PROTOCOL"
	c.keys.declare(fs)
	fs.Money(&c.in.PriceInMicrousd, "price-in", "its price for a million input tokens")
	fs.Money(&c.in.PriceOutMicrousd, "price-out", "its price for a million output tokens")
	fs.Int(&c.in.MaxOutputTokens, "max-output-tokens", "N", "longest answer to ask for (4096)", 1, 10_000_000).Rare()
	fs.Int(&c.in.ContextWindow, "context-window", "N", "the model's context window (32768)", 1, 100_000_000).Rare()
	return &argv.Command{
		Name: "create", Args: "--name NAME --endpoint URL --model MODEL [flags]",
		Short: "Register a model endpoint",
		Long:  "Protocols: openai_chat, openai_completions, openai_responses,\nanthropic_messages, google_generate. Without a key flag the key is asked for and\nnot shown. With both prices the cap also bounds what the provider bills.",
		Examples: []string{
			"evalrouter connections create --name my --endpoint URL --model m --no-key",
			"evalrouter connections create --name my --endpoint URL --model m --key-env KEY",
		},
		Flags: fs, Exec: c.exec,
	}
}

func (c *createConnection) exec(ctx context.Context, args []string) error {
	if err := NoOperands(args); err != nil {
		return err
	}
	for _, f := range [][2]string{{"--name", c.in.Name}, {"--endpoint", c.in.BaseURL}, {"--model", c.in.ModelID}} {
		if f[1] == "" {
			return &argv.UsageError{Message: f[0] + " is required", Next: "evalrouter connections create --help"}
		}
	}
	if (c.in.PriceInMicrousd == nil) != (c.in.PriceOutMicrousd == nil) {
		return &argv.UsageError{Message: "--price-in and --price-out go together: one price alone bounds nothing"}
	}
	key, err := c.keys.read(ctx, c.App)
	if err != nil {
		return err
	}
	c.in.APIKey = key
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	r, err := client.Connections.Create(ctx, c.in)
	if err != nil {
		return err
	}
	return c.Value(r, func(p *term.Page) {
		p.Line("Created connection %s (%s).", r.Name, r.ID)
		if r.PriceInMicrousd == nil {
			p.Line("No prices were declared, so a cap cannot bound what its provider bills.")
		}
		p.Next("evalrouter connections check " + Short(r.ID))
	})
}

func connectionsCheck(a *App) *argv.Command {
	return &argv.Command{
		Name: "check", Args: "CONNECTION", Short: "Ask an endpoint whether it works",
		Long:     "This may send one small model request, which the provider may bill.",
		Examples: []string{"evalrouter connections check mine", "evalrouter connections check 3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one connection", Next: "evalrouter connections list"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			id, err := a.oneConnection(ctx, client.Connections, args[0])
			if err != nil {
				return err
			}
			a.Note("Checking; this may send one small model request, which the provider may bill separately.")
			r, err := client.Connections.Check(ctx, id)
			if err != nil {
				return err
			}
			err = a.Value(r, func(p *term.Page) {
				p.Line("%s: %s in %d ms  %s", r.Name, checked(r), r.CheckResult.LatencyMS, r.CheckResult.Message)
				if r.CheckResult.ErrorCode != nil {
					p.Line("Reason: %s", *r.CheckResult.ErrorCode)
				}
				if r.CheckResult.Status == "failed" {
					mend(p, r)
					return
				}
				p.Next("evalrouter run BENCHMARK --model connection:"+Short(r.ID), "evalrouter catalog")
			})
			if (err == nil || term.Closed(err)) && r.CheckResult.Status == "failed" {
				return &Ended{Code: exitFailed}
			}
			return err
		},
	}
}

// mend says what helps after a failed check: a new key for the same
// connection, or another connection where the address or the model is wrong.
func mend(p *term.Page, r api.ConnectionRecord) {
	switch text(r.CheckResult.ErrorCode) {
	case "credential_rejected":
		p.Line("The endpoint refused the key. Replace it:")
		p.Next("evalrouter connections update " + Short(r.ID) + " --rotate-key")
	case "endpoint_unreachable", "provider_timeout", "rate_limited":
		p.Line("Nothing about the connection needs to change if its endpoint answers later.")
		p.Next("evalrouter connections list")
	default:
		p.Line("If the endpoint or the model is wrong, create another connection:")
		p.Next("evalrouter connections create --name " + ShellWord(r.Name+"-2") + " --endpoint " + ShellWord(r.BaseURL) + " --model " + ShellWord(r.ModelID))
	}
}

func (a *App) oneConnection(ctx context.Context, conns *evalrouter.Connections, typed string) (string, error) {
	var known []api.ConnectionRecord
	for c, err := range conns.All(ctx, evalrouter.Paging{Limit: 200}) {
		if err != nil {
			return "", err
		}
		known = append(known, c)
	}
	r, err := flow.Connection(strings.TrimPrefix(typed, "connection:"), known)
	if err != nil {
		return "", WithNext(err, "evalrouter connections list")
	}
	return r.ID, nil
}
