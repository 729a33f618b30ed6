package traces

import (
	"context"
	"iter"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

func connections(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "connections", Args: "list|create|update|rotate-key|disable", Short: "Manage who may bring traces",
		Examples: []string{"evalrouter traces connections create --name shop --kind otlp", "evalrouter traces connections list"},
		Sub:      []*argv.Command{connectionsList(a), connectionsCreate(a), connectionsUpdate(a), connectionsRotate(a), connectionsDisable(a)},
	}
}

func connectionsList(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("list")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List trace connections", Flags: fs,
		Examples: []string{"evalrouter traces connections list", "evalrouter traces connections list --wide"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			conns := client.Traces.Connections
			page, err := command.Fetch(l, command.Source[api.TraceConnection]{
				Page: func(p evalrouter.Paging) (api.Page[api.TraceConnection], error) { return conns.List(ctx, p) },
				All:  func(p evalrouter.Paging) iter.Seq2[api.TraceConnection, error] { return conns.All(ctx, p) },
			})
			if err != nil {
				return err
			}
			return command.PrintList(a, l, connectionColumns(), page, command.Hints{Empty: "No trace connections yet.", Next: "evalrouter traces connections create --name NAME --kind otlp"})
		},
	}
}

func connectionColumns() []table.Column[api.TraceConnection] {
	type rec = api.TraceConnection
	return []table.Column[rec]{
		{Name: "connection", Whole: true, Text: func(c rec) string { return command.Short(c.ID) }},
		{Name: "name", Text: func(c rec) string { return c.Name }},
		{Name: "kind", Text: func(c rec) string { return c.Kind }},
		{Name: "status", Text: func(c rec) string { return c.Status }},
		{Name: "traces", Right: true, Text: func(c rec) string { return command.Thousands(int(c.TraceCount)) }},
		{Name: "last", Drop: 1, Text: func(c rec) string {
			if c.LastReceivedAt == nil {
				return "never"
			}
			return c.LastReceivedAt.Local().Format(time.DateTime)
		}},
		{Name: "key", Wide: true, Text: func(c rec) string { return c.IngestKey.Prefix }},
		{Name: "keeps", Wide: true, Text: keeps},
		{Name: "id", Wide: true, Whole: true, Text: func(c rec) string { return c.ID }},
	}
}

func keeps(c api.TraceConnection) string {
	switch {
	case c.Capture.Inputs && c.Capture.Outputs:
		return "inputs and outputs"
	case c.Capture.Inputs:
		return "inputs"
	case c.Capture.Outputs:
		return "outputs"
	}
	return "no content"
}

// capture is the flags of what a connection keeps.
type capture struct {
	what   string
	fields []string
	bytes  int
	days   int
}

func (k *capture) declare(fs *argv.Flags) {
	fs.Choice(&k.what, "keep", "which content is kept", "all", "inputs", "outputs", "none")
	fs.Strings(&k.fields, "redact", "FIELD", "redact this field too; repeatable")
	fs.Int(&k.bytes, "max-value-bytes", "N", "most bytes of one input or output (65536)", 256, 262_144).Rare()
	fs.Int(&k.days, "days", "N", "how long traces are kept (30)", 1, 400)
}

// settings are nil where nothing was given.
func (k *capture) settings() (c *api.NewTraceCapture, days *int) {
	c = &api.NewTraceCapture{}
	if k.what != "" {
		in, out := k.what == "all" || k.what == "inputs", k.what == "all" || k.what == "outputs"
		c.Inputs, c.Outputs = &in, &out
	}
	if k.fields != nil {
		c.RedactFields = &k.fields
	}
	if k.bytes != 0 {
		c.MaxValueBytes = &k.bytes
	}
	if *c == (api.NewTraceCapture{}) {
		c = nil
	}
	if k.days != 0 {
		days = &k.days
	}
	return c, days
}

func connectionsCreate(a *command.App) *argv.Command {
	in, keep := api.NewTraceConnection{}, capture{}
	fs := argv.NewFlags("create")
	fs.String(&in.Name, "name", "NAME", "what you call it (required)")
	fs.Choice(&in.Kind, "kind", "who sends (required)", api.ConnectionSDK, api.ConnectionOTLP, api.ConnectionLangSmith)
	keep.declare(fs)
	return &argv.Command{
		Name: "create", Args: "--name NAME --kind KIND [flags]", Short: "Let a sender bring traces", Flags: fs,
		Long:     "Prints the connection's ingest key, once. The key brings traces to this\nconnection and can do nothing else. Content is redacted in any case.",
		Examples: []string{"evalrouter traces connections create --name shop --kind otlp", "evalrouter traces connections create --name ls --kind langsmith --days 90"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			if in.Name == "" || in.Kind == "" {
				return &argv.UsageError{Message: "--name and --kind are required", Next: "evalrouter traces connections create --help"}
			}
			in.Capture, in.RetentionDays = keep.settings()
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			c, err := client.Traces.Connections.Create(ctx, in)
			if err != nil {
				return err
			}
			return a.Value(c, func(p *term.Page) {
				p.Line("Created trace connection %s (%s). Its key is shown this once:", c.Name, c.ID)
				setUp(p, c, client.BaseURL())
			})
		},
	}
}

// setUp prints what a sender needs, to be pasted where secrets are kept.
func setUp(p *term.Page, c api.TraceConnectionCreated, origin string) {
	p.Line("EVALROUTER_TRACE_KEY=%s", c.Secret)
	p.Line("EVALROUTER_TRACE_CONNECTION_ID=%s", c.ID)
	switch c.Kind {
	case api.ConnectionOTLP:
		p.Line("An exporter sends to %s/v1/otlp with the header Authorization: Bearer and the key.", origin)
	case api.ConnectionLangSmith:
		p.Next("evalrouter langsmith sync --project PROJECT --state FILE")
	}
}

func connectionsUpdate(a *command.App) *argv.Command {
	name, keep := "", capture{}
	fs := argv.NewFlags("update")
	fs.String(&name, "name", "NAME", "another name")
	keep.declare(fs)
	return &argv.Command{
		Name: "update", Args: "CONNECTION [flags]", Short: "Change what a connection keeps from now on", Flags: fs,
		Examples: []string{"evalrouter traces connections update shop --keep none", "evalrouter traces connections update shop --redact plate --days 7"},
		Exec: func(ctx context.Context, args []string) error {
			in := api.UpdateTraceConnection{}
			if name != "" {
				in.Name = &name
			}
			in.Capture, in.RetentionDays = keep.settings()
			if in == (api.UpdateTraceConnection{}) {
				return &argv.UsageError{Message: "say what to change", Next: "evalrouter traces connections update --help"}
			}
			client, c, err := named(ctx, a, args)
			if err != nil {
				return err
			}
			now, err := client.Traces.Connections.Update(ctx, c.ID, in)
			if err != nil {
				return err
			}
			return a.Value(now, func(p *term.Page) {
				p.Line("%s keeps %s for %s.", now.Name, keeps(now), command.Count(now.RetentionDays, "day"))
			})
		},
	}
}

func connectionsRotate(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "rotate-key", Args: "CONNECTION", Short: "Give a connection another key",
		Long:     "The key before it stays good until the next rotation, so that senders can\nchange over. Rotate twice to end a key that has leaked.",
		Examples: []string{"evalrouter traces connections rotate-key shop", "evalrouter traces connections rotate-key 3f2a9c01 --json"},
		Exec: func(ctx context.Context, args []string) error {
			client, c, err := named(ctx, a, args)
			if err != nil {
				return err
			}
			now, err := client.Traces.Connections.RotateKey(ctx, c.ID)
			if err != nil {
				return err
			}
			return a.Value(now, func(p *term.Page) {
				p.Line("The new key of %s is shown this once:", now.Name)
				setUp(p, now, client.BaseURL())
			})
		},
	}
}

func connectionsDisable(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "disable", Args: "CONNECTION", Short: "End a connection and its keys; its traces stay",
		Examples: []string{"evalrouter traces connections disable shop", "evalrouter traces connections disable 3f2a9c01 --json"},
		Exec: func(ctx context.Context, args []string) error {
			client, c, err := named(ctx, a, args)
			if err != nil {
				return err
			}
			if err := client.Traces.Connections.Disable(ctx, c.ID); err != nil {
				return err
			}
			return a.Value(map[string]any{"ok": true, "connection_id": c.ID}, func(p *term.Page) { p.Line("%s takes nothing more. Its traces stay until their time.", c.Name) })
		},
	}
}

func named(ctx context.Context, a *command.App, args []string) (*evalrouter.Client, api.TraceConnection, error) {
	if len(args) != 1 {
		return nil, api.TraceConnection{}, &argv.UsageError{Message: "name one trace connection", Next: "evalrouter traces connections list"}
	}
	client, err := a.Client(ctx)
	if err != nil {
		return nil, api.TraceConnection{}, err
	}
	c, err := oneConnection(ctx, client, args[0])
	return client, c, err
}

// oneConnection finds a connection by its name, its id, or a beginning of 4
// characters or more that only one id has.
func oneConnection(ctx context.Context, client *evalrouter.Client, typed string) (api.TraceConnection, error) {
	var found []api.TraceConnection
	for c, err := range client.Traces.Connections.All(ctx, evalrouter.Paging{Limit: 200}) {
		switch {
		case err != nil:
			return c, err
		case c.ID == typed:
			return c, nil
		case c.Name == typed && c.Status == api.TraceConnectionActive, len(typed) >= 4 && strings.HasPrefix(c.ID, typed):
			found = append(found, c)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return api.TraceConnection{}, &argv.UsageError{Message: "there is no trace connection " + flow.Typed(typed) + "; nothing was changed", Next: "evalrouter traces connections list"}
	}
	var ids []string
	for _, c := range found[:min(len(found), 5)] {
		ids = append(ids, c.ID)
	}
	return api.TraceConnection{}, &argv.UsageError{Code: api.AmbiguousID, Message: "more than one trace connection goes by " + flow.Typed(typed) + "; nothing was changed", Closest: ids, Next: "evalrouter traces connections list"}
}
