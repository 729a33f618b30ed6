// Package traces is the commands about agents' traces.
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

// Traces is "evalrouter traces".
func Traces(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "traces", Args: "COMMAND", Short: "Look at what your agents did",
		Long:     "Traces come from an OpenTelemetry exporter, the tracing library or LangSmith.\nA trace connection gives each sender a key that can do nothing else.",
		Examples: []string{"evalrouter traces list", "evalrouter traces show 0193a2c4"},
		Sub:      []*argv.Command{list(a), show(a), remove(a), connections(a), evaluators(a), judge(a), verdicts(a), findings(a)},
	}
}

type listCmd struct {
	*command.App
	flags        command.ListFlags
	filter       evalrouter.TraceFilter
	since, until string
	slower       float64
}

func list(a *command.App) *argv.Command {
	c := &listCmd{App: a}
	fs := argv.NewFlags("list")
	fs.Choice(&c.filter.Status, "status", "only those with this status", api.TraceOK, api.TraceError, api.TraceOpen)
	fs.String(&c.filter.Query, "query", "TEXT", "only those with this in their name")
	fs.String(&c.filter.ConnectionID, "connection", "NAME", "only those of a connection: its name or id")
	fs.String(&c.filter.Model, "model", "MODEL", "only those that called this model")
	fs.String(&c.filter.Tool, "tool", "TOOL", "only those that used this tool").Rare()
	fs.String(&c.since, "since", "TIME", "started then or later, or within 24h")
	fs.String(&c.until, "until", "TIME", "started before then").Rare()
	fs.Seconds(&c.slower, "min-duration", "only those that took as long", 365*24*3600).Rare()
	c.flags.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List traces, those first that started last", Flags: fs,
		Examples: []string{"evalrouter traces list --status error --since 24h", "evalrouter traces list --model gpt-x --json"}, Exec: c.exec,
	}
}

func (c *listCmd) exec(ctx context.Context, args []string) error {
	if err := command.NoOperands(args); err != nil {
		return err
	}
	var err error
	if c.filter.From, err = c.moment("since", c.since); err != nil {
		return err
	}
	if c.filter.To, err = c.moment("until", c.until); err != nil {
		return err
	}
	c.filter.MinDuration = time.Duration(c.slower * float64(time.Second))
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	if c.filter.ConnectionID != "" {
		found, err := oneConnection(ctx, client, c.filter.ConnectionID)
		if err != nil {
			return err
		}
		c.filter.ConnectionID = found.ID
	}
	page, err := command.Fetch(&c.flags, command.Source[api.TraceRecord]{
		Page: func(p evalrouter.Paging) (api.Page[api.TraceRecord], error) {
			return client.Traces.List(ctx, c.filter, p)
		},
		All: func(p evalrouter.Paging) iter.Seq2[api.TraceRecord, error] {
			return client.Traces.All(ctx, c.filter, p)
		},
	})
	if err != nil {
		return err
	}
	return command.PrintList(c.App, &c.flags, c.columns(), page, command.Hints{Empty: "No traces.", Next: "evalrouter traces connections list"})
}

// moment reads a time, or how long ago it was.
func (c *listCmd) moment(flag, typed string) (time.Time, error) {
	if typed == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(typed); err == nil && ago >= 0 {
		return c.Now().Add(-ago), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02"} {
		if at, err := time.Parse(form, typed); err == nil {
			return at, nil
		}
	}
	return time.Time{}, &argv.UsageError{Message: "--" + flag + " is a time such as 2026-11-30T09:00:00Z, a day, or how long ago, such as 24h"}
}

func (c *listCmd) columns() []table.Column[api.TraceRecord] {
	type rec = api.TraceRecord
	return []table.Column[rec]{
		{Name: "trace", Whole: true, Text: func(t rec) string { return Tail(t.ID) }},
		{Name: "name", Text: func(t rec) string { return t.Name }},
		{Name: "status", Text: func(t rec) string { return t.Status }},
		{Name: "started", Drop: 3, Text: func(t rec) string { return t.StartedAt.Local().Format(time.DateTime) }},
		{Name: "took", Right: true, Text: func(t rec) string { return took(t.DurationMS) }},
		{Name: "steps", Right: true, Drop: 2, Text: func(t rec) string { return command.Thousands(t.SpanCount) }},
		{Name: "tokens", Right: true, Drop: 1, Text: func(t rec) string { return tokens(t.Usage) }},
		{Name: "agent", Wide: true, Text: func(t rec) string { return text(t.Agent) }},
		{Name: "models", Wide: true, Text: func(t rec) string { return strings.Join(t.Models, ",") }},
		{Name: "complete", Wide: true, Text: func(t rec) string { return t.Completeness }},
		{Name: "id", Wide: true, Whole: true, Text: func(t rec) string { return t.ID }},
	}
}

// Tail is what a person types of a trace: ids begin with the time, so that
// their ends tell them apart.
func Tail(id string) string { return id[max(0, len(id)-12):] }

func took(ms *int64) string {
	if ms == nil {
		return "-"
	}
	return (time.Duration(*ms) * time.Millisecond).String()
}

func tokens(u api.TraceUsage) string {
	if u.InputTokens == nil && u.OutputTokens == nil {
		return "-"
	}
	n := int64(0)
	for _, v := range []*int64{u.InputTokens, u.OutputTokens} {
		if v != nil {
			n += *v
		}
	}
	return command.Thousands(int(n))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// recent bounds among how many traces an end of an id is looked for.
const recent = 2_000

// One finds the trace that a person means by an id, or by the end of one.
func One(ctx context.Context, client *evalrouter.Client, args []string) (string, error) {
	if len(args) != 1 {
		return "", &argv.UsageError{Message: "name one trace", Next: "evalrouter traces list"}
	}
	typed := strings.ToLower(args[0])
	if len(typed) == 36 {
		return typed, nil
	}
	var found []string
	n := 0
	if len(typed) >= 4 {
		for t, err := range client.Traces.All(ctx, evalrouter.TraceFilter{}, evalrouter.Paging{Limit: 200}) {
			if err != nil {
				return "", err
			}
			if strings.HasSuffix(t.ID, typed) || strings.HasPrefix(t.ID, typed) || strings.HasPrefix(t.SourceTraceID, typed) {
				found = append(found, t.ID)
			}
			if n++; n == recent {
				break
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &argv.UsageError{Message: "there is no trace " + flow.Typed(args[0]) + " among the newest; nothing was changed. Its whole id always finds it", Next: "evalrouter traces list"}
	}
	return "", &argv.UsageError{Code: api.AmbiguousID, Message: "more than one trace goes by " + flow.Typed(args[0]) + "; nothing was changed", Closest: found[:min(len(found), 5)], Next: "evalrouter traces list"}
}

func remove(a *command.App) *argv.Command {
	force := false
	fs := argv.NewFlags("delete")
	fs.Bool(&force, "force", "also where dataset items were made of it")
	return &argv.Command{
		Name: "delete", Args: "TRACE", Short: "Take a trace away with all of its content", Flags: fs,
		Examples: []string{"evalrouter traces delete 5f0c1f9d2ab4", "evalrouter traces delete 5f0c1f9d2ab4 --json"},
		Exec: func(ctx context.Context, args []string) error {
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			id, err := One(ctx, client, args)
			if err != nil {
				return err
			}
			if err := client.Traces.Delete(ctx, id, force); err != nil {
				return err
			}
			return a.Value(map[string]any{"ok": true, "trace_id": id}, func(p *term.Page) { p.Line("Trace %s and its content are gone.", id) })
		},
	}
}
