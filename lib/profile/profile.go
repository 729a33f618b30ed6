// Package profile decides which service a command talks to, as whom, and where
// this user's files are.
//
// The order for the origin is: the flag, EVALROUTER_BASE_URL, production when
// EVALROUTER_API_KEY is set, the profile that the last sign-in saved, and
// otherwise the service on this machine. Every setting remembers where its
// value came from, so that "options" can say it.
//
// Environment variables are read by name, one by one. No flag gets a value from
// the environment by a general rule: a variable in a build image must never be
// able to consent to spending.
package profile

import (
	"context"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Production is the hosted service.
const Production = "https://api.evalrouter.ai"

// Environment variables that are read here.
const (
	EnvAPIKey    = "EVALROUTER_API_KEY"
	EnvBaseURL   = "EVALROUTER_BASE_URL"
	EnvWorkspace = "EVALROUTER_WORKSPACE_ID"
	EnvStateDir  = "EVALROUTER_STATE_DIR"
	EnvCacheDir  = "EVALROUTER_CACHE_DIR"
	EnvLocal     = "EVALROUTER_LOCAL"
)

// Sources of a setting's value.
const (
	FromFlag    = "flag"
	FromLogin   = "login"
	FromDefault = "default"
)

// Setting is a value and where it came from: a flag, an environment variable
// by its name, the sign-in, or the default.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// Saved is what a sign-in left.
type Saved struct {
	BaseURL     string
	WorkspaceID string
	// Kind is session or api key.
	Kind string
	// AllowHTTP says that plain http to this machine was allowed at the sign-in.
	AllowHTTP bool
	// Token returns a valid token, and another one than the refused. It is called
	// only when one is needed: reading the profile reads no credential.
	Token func(ctx context.Context, refused string) (string, error)
}

// Input is everything that a profile is made from.
type Input struct {
	// BaseURL and Workspace are the flags, "" when absent.
	BaseURL   string
	Workspace string
	// Env looks a variable up.
	Env func(name string) (string, bool)
	// Home is the user's home directory.
	Home string
	// Saved reads what the sign-in at an origin left, or the last one for "";
	// nil, nil when there is nothing. It may be nil itself.
	Saved func(baseURL string) (*Saved, error)
}

// Profile is a resolved caller.
type Profile struct {
	BaseURL   Setting
	Workspace Setting
	// Credential names the kind of credential in use and its source; its value
	// is a word, never the credential.
	Credential Setting
	// Local says that the service on this machine is meant, and that its
	// address and token come from its data directory.
	Local bool
	// AllowHTTP says that plain http to this machine was allowed when the sign-in
	// at this origin was made. It is never true for another origin.
	AllowHTTP bool
	Dirs      Dirs

	key   string
	token func(ctx context.Context, refused string) (string, error)
}

// Resolve decides. It reads no file but what Saved reads, and asks no service.
func Resolve(in Input) (*Profile, error) {
	p := &Profile{Dirs: DirsOf(in.Env, in.Home)}
	key := in.lookup(EnvAPIKey)
	var saved *Saved
	chosen := in.BaseURL
	if chosen == "" {
		chosen = in.lookup(EnvBaseURL)
	}
	here := strings.EqualFold(chosen, Local)
	if in.Saved != nil && key == "" && !here {
		var err error
		if saved, err = in.Saved(chosen); err != nil {
			return nil, fmt.Errorf("read saved profile: %w", err)
		}
	}
	p.BaseURL = Setting{Name: "base-url"}
	switch {
	case here:
		return p.onThisMachine(in, sourceOf(in))
	case in.BaseURL != "":
		p.BaseURL.Value, p.BaseURL.From = in.BaseURL, FromFlag
	case in.lookup(EnvBaseURL) != "":
		p.BaseURL.Value, p.BaseURL.From = in.lookup(EnvBaseURL), EnvBaseURL
	case key != "":
		p.BaseURL.Value, p.BaseURL.From = Production, EnvAPIKey
	case saved != nil:
		p.BaseURL.Value, p.BaseURL.From = saved.BaseURL, FromLogin
	default:
		return p.onThisMachine(in, FromDefault)
	}
	p.AllowHTTP = saved != nil && saved.AllowHTTP
	p.credential(key, saved)
	p.workspace(in, saved)
	return p, nil
}

// Local is the base URL that means the service on this machine, whatever else is
// signed in.
const Local = "local"

func sourceOf(in Input) string {
	if in.BaseURL != "" {
		return FromFlag
	}
	return EnvBaseURL
}

func (p *Profile) onThisMachine(in Input, from string) (*Profile, error) {
	if strings.EqualFold(in.lookup(EnvLocal), "off") {
		return nil, &Error{
			Code:    api.InvalidConfiguration,
			Message: "no service is chosen, and EVALROUTER_LOCAL=off forbids the one on this machine",
			Facts:   []string{"give --base-url, or set EVALROUTER_API_KEY for " + Production},
		}
	}
	p.BaseURL.Value, p.BaseURL.From, p.Local = Local, from, true
	if _, err := p.Dirs.Data.Path(); err != nil {
		return nil, err
	}
	p.credential("", nil)
	p.workspace(in, nil)
	return p, nil
}

func (p *Profile) credential(key string, saved *Saved) {
	p.Credential = Setting{Name: "credential", Value: "none", From: FromDefault}
	switch {
	case p.Local:
		// A key from the environment belongs to a hosted service. The service
		// on this machine has its own token and never sees that key.
		p.Credential.Value, p.Credential.From = "owner token", "local service"
	case key != "":
		p.Credential.Value, p.Credential.From, p.key = "api key", EnvAPIKey, key
	case saved != nil && saved.Token != nil:
		p.Credential.Value, p.Credential.From, p.token = saved.Kind, FromLogin, saved.Token
	}
}

func (p *Profile) workspace(in Input, saved *Saved) {
	p.Workspace = Setting{Name: "workspace-id", From: FromDefault}
	switch {
	case in.Workspace != "":
		p.Workspace.Value, p.Workspace.From = in.Workspace, FromFlag
	case p.Local:
		p.Workspace.Value = "local"
	case in.lookup(EnvWorkspace) != "":
		p.Workspace.Value, p.Workspace.From = in.lookup(EnvWorkspace), EnvWorkspace
	case saved != nil:
		p.Workspace.Value, p.Workspace.From = saved.WorkspaceID, FromLogin
	}
}

// Key is the credential to send, "" for none: not the refused one, if there is
// another. Never called for Local.
func (p *Profile) Key(ctx context.Context, refused string) (string, error) {
	if p.key == "" && p.token != nil {
		return p.token(ctx, refused)
	}
	return p.key, nil
}

// SignedOut says that no credential is there to be sent.
func (p *Profile) SignedOut() bool { return !p.Local && p.key == "" && p.token == nil }

func (in Input) lookup(name string) string {
	v, _ := in.Env(name)
	return v
}

// Error is a configuration that leads nowhere.
type Error struct {
	Code    api.Code
	Message string
	Facts   []string
}

// Error is the message alone.
func (e *Error) Error() string { return e.Message }

// Is compares with a code.
func (e *Error) Is(target error) bool {
	c, ok := target.(api.Code)
	return ok && c == e.Code
}

// Dirs are this user's directories.
type Dirs struct {
	State Setting // operations
	Cache Setting // public catalog copies
	Data  Setting // the local service
	// Config is where a sign-in is kept.
	Config Setting
}

// Path is a directory's path, or the refusal to invent one: without a home
// directory a relative path would put private files wherever the caller stands.
func (s Setting) Path() (string, error) {
	if s.Value != "" {
		return s.Value, nil
	}
	return "", &Error{
		Code:    api.InvalidConfiguration,
		Message: "HOME is empty or not an absolute path, so there is no place for the " + s.Name,
		Facts:   []string{"nothing was written, started or charged; set HOME, or XDG_STATE_HOME and XDG_DATA_HOME"},
	}
}
