// Package group is the commands of several models on the same tasks: following
// a group, showing it, and comparing its members. Groups are started by "run"
// with --model repeated.
package group

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/compare"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/progress"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Group is "evalrouter group". Going on with a group is a part of running.
func Group(a *command.App, resume *argv.Command) *argv.Command {
	return &argv.Command{
		Name: "group", Args: "COMMAND", Short: "Several models on the same tasks",
		Long:     "A group is started by run with --model repeated, two to eight times. Its members\nare runs: status, wait, results, export and cancel take their ids.",
		Examples: []string{"evalrouter group list", "evalrouter group status 3f2a9c --watch"},
		Sub:      []*argv.Command{listCommand(a), statusCommand(a), resume, cancelCommand(a), compareCommand(a)},
	}
}

// One is the group that the only operand names, by id or by a unique beginning
// of the id.
func One(ctx context.Context, a *command.App, args []string) (string, error) {
	if len(args) != 1 {
		return "", &argv.UsageError{Message: "name one group", Next: "evalrouter group list"}
	}
	if err := flow.CheckGroupID(args[0]); err != nil {
		return "", command.WithNext(err, "evalrouter group list")
	}
	if len(args[0]) == fullID {
		return args[0], nil
	}
	c, err := a.Client(ctx)
	if err != nil {
		return "", err
	}
	page, err := c.Groups.List(ctx, evalrouter.GroupQuery{IDPrefix: args[0]})
	if err != nil {
		return "", err
	}
	g, err := flow.Group(args[0], page.Data)
	if err != nil {
		return "", command.WithNext(err, "evalrouter group list")
	}
	return g.ID, nil
}

const fullID = 36

func listCommand(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("list")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List groups, the newest first", Flags: fs, Examples: []string{"evalrouter group list", "evalrouter group list --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			page, err := command.Fetch(l, command.Source[api.GroupRecord]{
				Page: func(p evalrouter.Paging) (api.Page[api.GroupRecord], error) {
					return c.Groups.List(ctx, evalrouter.GroupQuery{Paging: p})
				},
				All: func(p evalrouter.Paging) iter.Seq2[api.GroupRecord, error] {
					return c.Groups.All(ctx, evalrouter.GroupQuery{Paging: p})
				},
			})
			if err != nil {
				return err
			}
			h := command.Hints{Empty: "No groups yet.", Next: "evalrouter run --help"}
			if len(page.Data) > 0 {
				h.Next = "evalrouter group status " + command.Short(page.Data[0].ID)
			}
			return command.PrintList(a, l, columns(page.Data), page, h)
		},
	}
}

func columns(groups []api.GroupRecord) []table.Column[api.GroupRecord] {
	type rec = api.GroupRecord
	n := command.Unique(groups, func(g rec) string { return g.ID })
	return []table.Column[rec]{
		{Name: "group", Whole: true, Text: func(g rec) string { return g.ID[:min(n, len(g.ID))] }},
		{Name: "status", Whole: true, Text: func(g rec) string { return string(g.Status) }},
		{Name: "benchmark", Text: func(g rec) string { return benchmark(g) }},
		{Name: "models", Right: true, Text: func(g rec) string { return fmt.Sprint(len(g.Members)) }},
		{Name: "done", Right: true, Drop: 2, Text: func(g rec) string {
			done, planned := counts(g)
			return command.Thousands(done) + "/" + command.Thousands(planned)
		}},
		{Name: "spent", Right: true, Drop: 1, Text: func(g rec) string { return command.Money(g.SpendMicrousd) }},
		{Name: "cap", Right: true, Drop: 3, Text: func(g rec) string { return command.Money(g.CapMicrousd) }},
		{Name: "name", Wide: true, Text: func(g rec) string { return g.Name }},
		{Name: "started", Drop: 4, Text: func(g rec) string { return g.CreatedAt.Local().Format("2 Jan 15:04") }, Sort: func(a, b rec) int { return a.CreatedAt.Compare(b.CreatedAt) }},
		{Name: "id", Wide: true, Whole: true, Text: func(g rec) string { return g.ID }},
	}
}

func benchmark(g api.GroupRecord) string {
	if len(g.Profiles) == 0 {
		return "-"
	}
	return g.Profiles[0].ID
}

func counts(g api.GroupRecord) (done, planned int) {
	for _, m := range g.Members {
		done += m.ProcessedCount
		planned += m.PlannedCount
	}
	return done, planned
}

type statusCmd struct {
	*command.App
	watch, pick bool
	how         Watch
}

func statusCommand(a *command.App) *argv.Command {
	c := &statusCmd{App: a}
	fs := argv.NewFlags("status")
	fs.Bool(&c.watch, "watch", "follow until every member has ended")
	fs.Bool(&c.pick, "interactive", "choose a member and open it").WithShort('i')
	c.how.Declare(fs)
	return &argv.Command{
		Name: "status", Args: "GROUP", Short: "Show a group with each of its members", Flags: fs,
		Long:     "Leaving a watch stops nothing. -i opens the workspace at the group where it is\ninstalled, and asks for a member in lines elsewhere.",
		Examples: []string{"evalrouter group status 3f2a9c", "evalrouter group status 3f2a9c --watch"},
		Exec:     c.exec,
	}
}

func (c *statusCmd) exec(ctx context.Context, args []string) error {
	if c.watch && c.pick {
		return &argv.UsageError{Message: "--watch follows the whole group and -i shows one member; give one of them"}
	}
	if c.pick && !c.Attended() {
		return &argv.UsageError{Message: "-i needs a terminal to choose in; evalrouter status RUN shows a member by its id"}
	}
	id, err := One(ctx, c.App, args)
	if err != nil {
		return err
	}
	if c.pick && c.HasWorkspace() && len(id) == fullID {
		return c.OpenWorkspace("group:"+id, "evalrouter group status "+command.Short(id))
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	if c.watch {
		_, err := c.how.Follow(ctx, c.App, client, id)
		return err
	}
	g, err := client.Groups.Get(ctx, id)
	if err != nil {
		return err
	}
	if c.pick {
		return c.member(ctx, client, g)
	}
	return c.Value(g, func(p *term.Page) { Show(p, c.App, g) })
}

func cancelCommand(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "cancel", Args: "GROUP", Short: "Stop every member of a group",
		Long:     "Calls in flight are finished and charged; nothing new starts. One member is\nstopped by evalrouter cancel RUN.",
		Examples: []string{"evalrouter group cancel 3f2a9c", "evalrouter group cancel 3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			id, err := One(ctx, a, args)
			if err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			g, err := c.Groups.Cancel(ctx, id)
			if err != nil {
				return err
			}
			return a.Value(g, func(p *term.Page) { Show(p, a, g) })
		},
	}
}

func compareCommand(a *command.App) *argv.Command {
	flags := &compare.Flags{}
	fs := argv.NewFlags("compare")
	flags.Declare(fs)
	return &argv.Command{
		Name: "compare", Args: "GROUP", Short: "Save the members of a group side by side", Flags: fs,
		Long:     "Compares what is kept of the members' results; no model is asked. Every member\nmust have ended.",
		Examples: []string{"evalrouter group compare 3f2a9c --format html,json --output group-report", "evalrouter group compare 3f2a9c --stats"},
		Exec: func(ctx context.Context, args []string) error {
			if err := flags.Check(); err != nil {
				return err
			}
			id, err := One(ctx, a, args)
			if err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			g, err := c.Groups.Get(ctx, id)
			if err != nil {
				return err
			}
			w := compare.Work{Group: g.ID, Name: "group-" + command.Short(g.ID)}
			for _, m := range g.Members {
				if !m.Status.Terminal() {
					return command.WithNext(&flow.Error{
						Code: api.RunNotFinished, Message: fmt.Sprintf("member %s of the group is %s", m.RunID, m.Status), Facts: []string{"nothing was compared or saved"},
					}, "evalrouter group status "+command.Short(g.ID)+" --watch")
				}
				w.Runs = append(w.Runs, m.RunID)
			}
			return compare.Save(ctx, a, flags, w)
		},
	}
}

// member lets a person choose one member and shows it.
func (c *statusCmd) member(ctx context.Context, client *evalrouter.Client, g api.GroupRecord) error {
	var lines []string
	for _, m := range g.Members {
		lines = append(lines, fmt.Sprintf("%s  %s  %s  %s n %s", command.Short(m.RunID), modelName(m), m.Status, soFar(m), graded(m)))
	}
	at, err := c.choose(ctx, lines)
	if err != nil {
		return err
	}
	r, err := client.Runs.Get(ctx, g.Members[at].RunID)
	if err != nil {
		return err
	}
	return c.Value(r, func(p *term.Page) {
		m := g.Members[at]
		p.Line("Run      %s   member %d of group %s", r.ID, m.Index+1, command.Short(g.ID))
		p.Line("What     %s   %s", benchmark(g), modelName(m))
		p.Line("Status   %s   %s", r.Status, strings.ReplaceAll(value(r.TerminalReason), "_", " "))
		p.Line("So far   %s, n %s", soFar(m), graded(m))
		p.Line("Money    %s spent under a cap of %s", command.Money(r.SpendMicrousd), command.Money(r.CapMicrousd))
		p.Next("evalrouter status "+command.Short(r.ID), "evalrouter group status "+command.Short(g.ID))
	})
}

// choose is a checklist where the terminal can draw one, and a number to type
// elsewhere.
func (c *statusCmd) choose(ctx context.Context, lines []string) (int, error) {
	chosen, err := c.Term.Checklist(ctx, "Member", lines, 1, 1)
	if err == nil {
		return chosen[0], nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return 0, err
	}
	for i, l := range lines {
		c.Note("  %d  %s", i+1, l)
	}
	for range maxTries {
		typed, err := c.Term.Ask(ctx, fmt.Sprintf("Member, 1 to %d: ", len(lines)))
		if err != nil {
			return 0, err
		}
		if n, bad := strconv.Atoi(strings.TrimSpace(typed)); bad == nil && n >= 1 && n <= len(lines) {
			return n - 1, nil
		}
	}
	return 0, term.ErrDeclined
}

// maxTries is how often a member is asked for.
const maxTries = 5

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Watch is how a group is followed.
type Watch struct {
	Limit, Every, Disconnect float64
	Mode                     string
}

// Declare adds the flags to a command.
func (w *Watch) Declare(fs *argv.Flags) {
	w.Limit, w.Disconnect, w.Mode = 3600, flow.DefaultDisconnect.Seconds(), progress.Auto
	fs.Choice(&w.Mode, "progress", "how to show progress (auto)", progress.Auto, progress.Plain, progress.JSON, progress.Off).Rare()
	fs.Seconds(&w.Limit, "wait-timeout", "stop watching after this long (3600)", 30*24*3600).Rare()
	fs.Seconds(&w.Every, "poll-interval", "read the group this often", 3600).Rare()
	fs.Seconds(&w.Disconnect, "disconnect-timeout", "stop when out of reach this long (90)", 24*3600).Rare()
}

// Follow watches a group until every member has ended and prints it. The exit
// code is that of the group: 0 when all completed, 1 when all failed, else 4.
func (w *Watch) Follow(ctx context.Context, a *command.App, c *evalrouter.Client, id string) (api.GroupRecord, error) {
	show := progress.For(a, w.Mode)
	source := &reader{app: a, groups: c.Groups}
	watcher := &flow.Watcher{
		Runs: source, Disconnect: seconds(w.Disconnect), Limit: seconds(w.Limit), Every: seconds(w.Every), What: "group",
		Stays: "its runs go on without this terminal, and their caps still hold", Seen: show.Show, Now: a.Now, Sleep: a.Sleep, Chance: a.Chance,
	}
	a.Watching(true)
	_, err := watcher.Watch(ctx, id)
	show.Done()
	a.Watching(false)
	if err != nil {
		return source.last, command.WithNext(err, "evalrouter group status "+id+" --watch")
	}
	g := source.last
	err = a.Value(g, func(p *term.Page) { Show(p, a, g) })
	if err != nil && !term.Closed(err) {
		return g, err
	}
	return g, command.EndOf(g.Status)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
