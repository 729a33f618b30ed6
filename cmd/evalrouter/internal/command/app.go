// Package command is the commands of evalrouter and what they share.
//
// A command declares its flags and says what it does; everything that commands
// have in common is decided once, here: how a service is found, how a value
// becomes JSON or text, what an error prints, and which exit code it means.
// Commands neither test --json nor exit.
package command

import (
	"context"
	"net/http"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"
	"github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// App is one process of evalrouter: its surroundings and the global flags.
type App struct {
	Term    *term.Term
	Version string
	Now     func() time.Time
	Sleep   flow.Sleeper
	// Began is when this process began.
	Began time.Time
	// Chance is a random number in [0,1).
	Chance func() float64
	// FindBinary names another program of the product, as installed here.
	FindBinary func(name string) (string, error)
	// Exec replaces this process.
	Exec func(path string, args []string) error
	// Start starts a program of the desktop and leaves it alone.
	Start func(name string, args ...string) error
	// Nested says that this is a command of a shell, which has told already what
	// is told once.
	Nested bool
	// Shell is the line-based shell.
	Shell func() error
	// Environ is the environment that a started service gets.
	Environ func() []string

	// Global holds the flags of every command.
	Global Global
	// Args is the command line, without the program's name.
	Args []string

	// Vault finds the keychain, nil where there is none: then credentials are in
	// a private file.
	Vault func() signin.Vault

	accounts *signin.Accounts
	profile  *profile.Profile
	client   *evalrouter.Client
	wire     *http.Transport // under client
	waiting  *patient        // over it
}

// Global is the flags of every command.
type Global struct {
	JSON      bool
	JQ        string
	BaseURL   string
	Workspace string
	Timeout   float64
	AllowHTTP bool
	NoInput   bool
	Version   bool
}

func (a *App) globalFlags() *argv.Flags {
	fs := argv.NewFlags("evalrouter")
	g := &a.Global
	fs.Bool(&g.JSON, "json", "one JSON document on stdout, errors too")
	fs.String(&g.JQ, "jq", "EXPR", "filter the JSON document with a jq expression")
	fs.String(&g.BaseURL, "base-url", "URL", "the service to use (see: evalrouter options)")
	fs.String(&g.Workspace, "workspace-id", "ID", "the workspace to use")
	fs.Seconds(&g.Timeout, "timeout", "limit of one operation (120)", 24*3600).Rare()
	fs.Bool(&g.AllowHTTP, "allow-http", "allow plain http to this machine").Rare()
	fs.Bool(&g.NoInput, "no-input", "never ask anything")
	fs.Choice(&a.Term.Colour, "color", "colour of the text for people (auto)", term.ColourAuto, term.ColourAlways, term.ColourNever).Rare()
	return fs
}

// rootFlags work without a command only.
func (a *App) rootFlags() *argv.Flags {
	fs := argv.NewFlags("root")
	fs.Bool(&a.Global.Version, "version", "print the version")
	return fs
}

// Attended says that questions may be asked.
func (a *App) Attended() bool {
	return a.Term.Attended() && !a.Global.NoInput && !a.WantsJSON()
}

// WantsJSON says that the result is wanted as a JSON document.
func (a *App) WantsJSON() bool { return a.Global.JSON || a.Global.JQ != "" }

// Note writes a line for people to stderr.
func (a *App) Note(format string, args ...any) {
	a.Term.ErrPage().Line(format, args...)
}

// Profile is where and as whom this process acts.
func (a *App) Profile() (*profile.Profile, error) {
	if a.profile == nil {
		p, err := profile.Resolve(profile.Input{
			BaseURL: a.Global.BaseURL, Workspace: a.Global.Workspace, Env: a.Term.Env, Home: a.Term.Home, Saved: a.saved(),
		})
		if err != nil {
			return nil, err
		}
		a.profile = p
	}
	return a.profile, nil
}

// Client is the service as the caller sees it. The service on this machine is
// started if it is meant and not running.
func (a *App) Client(ctx context.Context) (*evalrouter.Client, error) {
	if a.client != nil {
		return a.client, nil
	}
	p, err := a.Profile()
	if err != nil {
		return nil, err
	}
	cfg := a.config(p)
	cfg.WorkspaceID = p.Workspace.Value
	switch {
	case p.Local:
		err = a.useLocal(ctx, p, &cfg)
	case p.SignedOut():
		err = a.signedOut(p)
	case p.Credential.From == profile.FromLogin:
		cfg.Credential = p.Key // it changes while a run is watched
	default:
		cfg.APIKey, err = p.Key(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	if a.wire == nil {
		a.wire = evalrouter.NewTransport()
		a.wire.DialContext = cfg.Dial
		a.waiting = a.patience(a.wire)
	}
	cfg.HTTPClient = &http.Client{Transport: a.waiting}
	a.client, err = evalrouter.New(cfg)
	return a.client, err
}

// patience tells the person in front that a request over next takes its time.
func (a *App) patience(next http.RoundTripper) *patient {
	p := &patient{next: next, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}
	if a.Term.ErrTTY && !a.Term.Simple() && !a.WantsJSON() && a.Term.Get("CI") == "" {
		p.show = a.Term.Err
	}
	return p
}

// Watching says that progress has the line in front of the person, or no longer
// has it.
func (a *App) Watching(on bool) {
	if a.waiting != nil {
		a.waiting.Quiet(on)
	}
}

// config is what every client has in common; it holds no credential.
func (a *App) config(p *profile.Profile) evalrouter.Config {
	return evalrouter.Config{
		BaseURL: p.BaseURL.Value, AllowHTTP: a.Global.AllowHTTP || p.AllowHTTP,
		UserAgent: a.userAgent(),
		Timeout:   time.Duration(a.Global.Timeout * float64(time.Second)),
		Now:       a.Now, Sleep: a.Sleep, Rand: a.Chance,
	}
}

func (a *App) useLocal(ctx context.Context, p *profile.Profile, cfg *evalrouter.Config) error {
	r, err := a.ensureLocal(ctx, p)
	if err != nil {
		return err
	}
	cfg.BaseURL, cfg.AllowHTTP = r.BaseURL, true
	dir, err := p.Dirs.Data.Path()
	if err != nil {
		return err
	}
	service := a.LocalService(dir, local.DefaultPort)
	cfg.Dial = service.Dial
	cfg.APIKey, err = service.Token()
	return err
}

// ensureLocal is the running service on this machine, started if need be.
func (a *App) ensureLocal(ctx context.Context, p *profile.Profile) (local.Record, error) {
	dir, err := p.Dirs.Data.Path()
	if err != nil {
		return local.Record{}, err
	}
	r, started, err := a.LocalService(dir, local.DefaultPort).Ensure(ctx)
	if err != nil {
		return r, err
	}
	if started {
		a.Note("Started the local service on %s; it stops by itself when idle (evalrouter local).", r.BaseURL)
	}
	if r.Version != a.Version {
		a.Note("Note: the local service is version %s and this is %s; evalrouter local stop ends that one.", r.Version, a.Version)
	}
	return r, nil
}

// Local says that the service on this machine is in use.
func (a *App) Local() bool { return a.profile != nil && a.profile.Local }

// Reconnect is the client after the service on this machine has gone away: the
// service is started again, perhaps on another port. Elsewhere there is nothing
// to start, and the client stays.
func (a *App) Reconnect(ctx context.Context) (*evalrouter.Client, error) {
	if a.Local() {
		if err := a.Close(); err != nil {
			return nil, err
		}
		a.client = nil
	}
	return a.Client(ctx)
}

// LocalService is the service of a data directory on this machine.
func (a *App) LocalService(dir string, port int) *local.Service {
	return &local.Service{
		Dir: dir, Port: port, Env: local.Environment(a.Environ()),
		Find:     func() (string, error) { return a.FindBinary(local.Binary) },
		Patience: 10 * time.Second, Sleep: a.Sleep,
	}
}

// Journal is the record of this user's operations.
func (a *App) Journal() (*flow.Journal, error) {
	p, err := a.Profile()
	if err != nil {
		return nil, err
	}
	dir, err := p.Dirs.State.Path()
	if err != nil {
		return nil, err
	}
	return &flow.Journal{Dir: dir, Disk: flow.OS{}, Now: a.Now, Sleep: a.Sleep}, nil
}

// OneQuote is the quote that an id or the beginning of one means.
func (a *App) OneQuote(typed string) (string, error) {
	j, err := a.Journal()
	if err != nil {
		if len(typed) == fullID {
			return typed, nil // without a state directory whole ids work
		}
		return "", err
	}
	return j.QuoteID(typed)
}

// RememberQuote lets the quote be named by the beginning of its id later on.
func (a *App) RememberQuote(q api.QuoteRecord) {
	if j, err := a.Journal(); err == nil && !q.Preview {
		_ = j.RememberQuote(q.ID) // its whole id still works
	}
}

// fullID is the length of an id.
const fullID = 36

// OneRun is the run that the only operand names, by id or by a unique
// beginning of the id.
func (a *App) OneRun(ctx context.Context, args []string) (string, error) {
	if len(args) != 1 {
		return "", &argv.UsageError{Message: "name one run", Next: "evalrouter status"}
	}
	if err := flow.CheckRunID(args[0]); err != nil {
		return "", WithNext(err, "evalrouter status")
	}
	if len(args[0]) == fullID {
		return args[0], nil
	}
	c, err := a.Client(ctx)
	if err != nil {
		return "", err
	}
	page, err := c.Runs.List(ctx, evalrouter.RunQuery{IDPrefix: args[0]})
	if err != nil {
		return "", err
	}
	r, err := flow.Run(args[0], page.Data)
	if err != nil {
		return "", WithNext(err, "evalrouter status")
	}
	return r.ID, nil
}

// Close ends what the process holds.
func (a *App) Close() error {
	if a.client == nil {
		return nil
	}
	err := a.client.Close()
	a.wire.CloseIdleConnections()
	return err
}

// NoOperands refuses operands that would otherwise be ignored.
func NoOperands(args []string) error {
	if len(args) > 0 {
		return &argv.UsageError{Message: flow.Typed(args[0]) + " is one word too many"}
	}
	return nil
}

// ForceLocal makes the service on this machine the one in use, whatever the
// flags and the environment say.
func (a *App) ForceLocal() {
	a.profile = &profile.Profile{
		BaseURL:   profile.Setting{Name: "base-url", Value: "local", From: "demo"},
		Workspace: profile.Setting{Name: "workspace-id", Value: local.Workspace, From: "demo"},
		Local:     true, Dirs: profile.DirsOf(a.Term.Env, a.Term.Home),
	}
}
