// Package connect is how a program of this user comes to its service: which one
// is meant, as whom, in which directories, and a client for it. The rules are the
// same for every program, so that all see the same runs and find each other's
// accepted quotes.
package connect

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"
	"github.com/evalrouter/evalrouter/lib/signin"
)

// Place is the surroundings of one process.
type Place struct {
	// Program and Version are how the process names itself to a service.
	Program, Version string
	// BaseURL and Workspace are its flags, "" when absent.
	BaseURL, Workspace string
	AllowHTTP          bool
	Env                func(string) (string, bool)
	Environ            func() []string
	Home               string
	Now                func() time.Time
	Sleep              flow.Sleeper
	Chance             func() float64
}

// Profile decides where and as whom. It asks no service.
func (p Place) Profile() (*profile.Profile, error) {
	in := profile.Input{BaseURL: p.BaseURL, Workspace: p.Workspace, Env: p.Env, Home: p.Home}
	if accounts, err := p.Accounts(); err == nil { // without a place for sign-ins there are none
		in.Saved = accounts.Saved
	}
	return profile.Resolve(in)
}

// Accounts are this user's sign-ins, or why there is no place for them.
func (p Place) Accounts() (*signin.Accounts, error) {
	dir, err := profile.DirsOf(p.Env, p.Home).Config.Path()
	if err != nil {
		return nil, err
	}
	return &signin.Accounts{
		Dir: dir, Transport: evalrouter.NewTransport(), AllowHTTP: p.AllowHTTP, UserAgent: p.Program + "/" + p.Version, Now: p.Now, Sleep: p.Sleep,
	}, nil
}

// Config is what every client here has in common. It holds no credential.
func (p Place) Config(who *profile.Profile) evalrouter.Config {
	return evalrouter.Config{
		BaseURL: who.BaseURL.Value, AllowHTTP: p.AllowHTTP || who.AllowHTTP,
		UserAgent: fmt.Sprintf("%s/%s (%s/%s)", p.Program, p.Version, runtime.GOOS, runtime.GOARCH),
		Now:       p.Now, Sleep: p.Sleep, Rand: p.Chance,
	}
}

// Client is the service with the caller's credential. The one on this machine is
// started if it is not running.
func (p Place) Client(ctx context.Context, who *profile.Profile) (*evalrouter.Client, error) {
	cfg := p.Config(who)
	cfg.WorkspaceID = who.Workspace.Value
	var err error
	switch {
	case who.Local:
		service := p.Service(who)
		var r local.Record
		if r, _, err = service.Ensure(ctx); err == nil {
			cfg.BaseURL, cfg.AllowHTTP, cfg.Dial = r.BaseURL, true, service.Dial
			cfg.APIKey, err = service.Token()
		}
	case who.Credential.From == profile.FromLogin:
		cfg.Credential = who.Key // it changes while the program runs
	default:
		cfg.APIKey, err = who.Key(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	return evalrouter.New(cfg)
}

// Service is the service on this machine.
func (p Place) Service(who *profile.Profile) *local.Service {
	return &local.Service{
		Dir: who.Dirs.Data.Value, Port: local.DefaultPort, Env: local.Environment(p.Environ()),
		Find:     func() (string, error) { return local.FindProgram(local.Binary, os.Executable, exec.LookPath) },
		Patience: 10 * time.Second, Sleep: p.Sleep,
	}
}
