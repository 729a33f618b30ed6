// Package health is "evalrouter doctor": it looks at everything that a run needs
// and says what is wrong and what mends it. It starts no run, spends nothing and
// changes nothing but the service on this machine, which it starts if it is
// meant.
package health

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// States of a check.
const (
	OK   = "ok"
	Note = "note"
	Fix  = "fix"
)

// Check is one thing that was looked at.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Found string `json:"found"`
	// Next mends it; "" where there is nothing to mend.
	Next string `json:"next,omitempty"`
}

type doctor struct {
	*command.App
	checks []Check
}

// Doctor is "evalrouter doctor".
func Doctor(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "doctor", Short: "Look for what keeps a run from working",
		Long:     "Looks at the service, the clock, the credential, credit, directories and the\nterminal. Nothing is started or charged. Exit 1 when something needs a fix.",
		Examples: []string{"evalrouter doctor", "evalrouter doctor --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			d := &doctor{App: a}
			return d.run(ctx)
		},
	}
}

func (d *doctor) run(ctx context.Context) error {
	p, err := d.Profile()
	if err != nil {
		return err
	}
	d.add(Check{"settings", OK, fmt.Sprintf("%s (%s), workspace %s", p.BaseURL.Value, p.BaseURL.From, orNone(p.Workspace.Value)), ""})
	if d.service(ctx, p) {
		d.account(ctx, p)
	}
	d.folder("state", p.Dirs.State, "EVALROUTER_STATE_DIR", true)
	d.folder("copies", p.Dirs.Cache, profile.EnvCacheDir, false)
	d.terminal()
	d.variables()
	bad := 0
	for _, c := range d.checks {
		if c.State == Fix {
			bad++
		}
	}
	err = d.Value(map[string]any{"ok": bad == 0, "checks": d.checks}, func(page *term.Page) {
		for _, c := range d.checks {
			page.Line("%-4s  %-10s %s", c.State, c.Name, c.Found)
			if c.Next != "" {
				page.Line("                 %s", c.Next)
			}
		}
		if bad == 0 {
			page.Line("Everything that a run needs is there.")
		}
	})
	if err == nil && bad > 0 {
		return &command.Ended{Code: 1}
	}
	return err
}

func (d *doctor) add(c Check) { d.checks = append(d.checks, c) }

// service asks the service who it is, and compares its clock with this one.
func (d *doctor) service(ctx context.Context, p *profile.Profile) bool {
	client, err := d.Client(ctx)
	if errors.Is(err, api.SignedOut) { // the service can be asked what it is all the same
		client, err = d.ClientAs(p.BaseURL.Value, "", "")
	}
	if err == nil {
		began := d.Now()
		meta, asked := client.Meta.Get(ctx)
		if err = asked; err == nil {
			took := d.Now().Sub(began)
			d.add(Check{"service", OK, fmt.Sprintf("%s %s, interface %s, in %d ms", meta.Service, meta.Version, meta.APIVersion, took.Milliseconds()), ""})
			return true
		}
	}
	d.unreachable(err, p)
	return false
}

// unreachable says what kept the service from answering: each cause is mended
// in another place.
func (d *doctor) unreachable(err error, p *profile.Profile) {
	found, next := command.Explain(err).Message, "evalrouter options"
	if why := flow.Cause(err); why != "" {
		found += ": " + why
	}
	if p.Local {
		next = "evalrouter local logs"
	}
	if strings.Contains(found, "certificate is not valid") {
		found += "; a clock that is wrong looks like this, too: it is " + d.Now().Format(time.RFC3339) + " here"
	}
	d.add(Check{"service", Fix, found, next})
}

// account looks at the credential, the credit and what can be run.
func (d *doctor) account(ctx context.Context, p *profile.Profile) {
	client, err := d.Client(ctx)
	if errors.Is(err, api.SignedOut) {
		d.add(Check{"credential", Fix, "nobody is signed in there, and no key is given", d.LoginCommand()})
	}
	if err != nil {
		return
	}
	who, err := client.Whoami(ctx)
	if err != nil {
		d.add(Check{"credential", Fix, p.Credential.Value + " (" + p.Credential.From + "): " + command.Explain(err).Message, "evalrouter help errors " + string(command.Explain(err).Code)})
		return
	}
	name := who.Kind
	if who.Workspace != nil {
		name += ", workspace " + who.Workspace.Name
	}
	d.add(Check{"credential", OK, p.Credential.Value + " (" + p.Credential.From + "): " + strings.ReplaceAll(name, "_", " "), ""})
	d.credit(ctx, client)
}

func (d *doctor) credit(ctx context.Context, client *evalrouter.Client) {
	c, err := client.Credits.Get(ctx)
	if err == nil {
		d.clock(c.AsOf)
	}
	switch {
	case err != nil:
		d.add(Check{"credit", Note, "not visible with this credential: " + command.Explain(err).Message, ""})
	case c.AvailableMicrousd <= 0 && c.Practice == nil:
		d.add(Check{"credit", Fix, "none is available for new runs", "evalrouter credits"})
	case c.Practice != nil:
		d.add(Check{"credit", OK, fmt.Sprintf("%s available; %s for practice routes, not real money", command.Money(c.AvailableMicrousd), command.Money(c.Practice.AvailableMicrousd)), ""})
	default:
		d.add(Check{"credit", OK, command.Money(c.AvailableMicrousd) + " available", ""})
	}
}

// clockSlack is how far two clocks may differ before quotes seem to expire at
// the wrong time.
const clockSlack = 5 * time.Minute

func (d *doctor) clock(service time.Time) {
	skew := d.Now().Sub(service)
	if skew.Abs() <= clockSlack {
		d.add(Check{"clock", OK, "agrees with the service's", ""})
		return
	}
	d.add(Check{"clock", Fix, fmt.Sprintf("%s away from the service's", skew.Abs().Round(time.Minute)), "set the clock of this machine"})
}

// folder looks whether a directory can be used, without making it.
func (d *doctor) folder(name string, at profile.Setting, variable string, needed bool) {
	dir, err := at.Path()
	state := Fix
	if !needed {
		state = Note
	}
	if err != nil {
		d.add(Check{name, state, "there is no place for it: HOME is empty or no absolute path", "set HOME or " + variable})
		return
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = writable(nearest(dir))
	case err == nil && !info.IsDir():
		err = errors.New("it is not a folder")
	case err == nil && info.Mode().Perm()&0o077 != 0:
		d.add(Check{name, Note, dir + " can be read by others", "chmod 700 " + command.ShellWord(dir)})
		return
	case err == nil:
		err = writable(dir)
	}
	if err != nil {
		d.add(Check{name, state, dir + ": " + reason(err), "set " + variable + " to a folder that can be written"})
		return
	}
	d.add(Check{name, OK, dir + " (" + at.From + ")", ""})
}

// nearest is the first parent that exists.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// writable tries it, as rights alone do not tell.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".evalrouter-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func (d *doctor) terminal() {
	colour, why := d.Term.WhyColour()
	found := fmt.Sprintf("%d columns, colour %s (%s)", d.Term.Columns(), map[bool]string{true: "on", false: "off"}[colour], why)
	if !d.Attended() {
		found = "nobody can be asked here; " + found
	}
	if d.Term.Columns() < 40 {
		d.add(Check{"terminal", Note, found, "tables need 40 columns"})
		return
	}
	d.add(Check{"terminal", OK, found, ""})
}

// variables finds names that were meant to be one of ours.
func (d *doctor) variables() {
	for _, kv := range d.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if near := manual.Misspelt(name); near != "" {
			d.add(Check{"variable", Note, flow.Typed(name) + " is not read by evalrouter", "did you mean " + near + "?"})
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
