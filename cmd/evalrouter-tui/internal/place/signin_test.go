package place_test

import (
	"context"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-tui/internal/place"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/connect"
	"github.com/evalrouter/evalrouter/lib/signin"
)

// nobody is a person who has to do nothing.
type nobody struct{}

func (nobody) Browse(string)        {}
func (nobody) Code(signin.Code)     {}
func (nobody) Waits(signin.Waiting) {}
func (nobody) Setup(address string) {}
func (nobody) Choose(_ context.Context, all []api.WorkspaceRecord) (api.WorkspaceRecord, error) {
	return all[0], nil
}

func at(home, base string, vars map[string]string) place.Place {
	return place.Place{Host: "desk", Place: connect.Place{
		Program: "evalrouter-tui", BaseURL: base, AllowHTTP: base != "", Home: home, Version: "0", Now: time.Now,
		Env:     func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		Environ: func() []string { return nil }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Chance: func() float64 { return 0.5 },
	}}
}

// A sign-in of the workspace is one of the command line: the next process finds
// it, with what was allowed for it, and this one goes on as who that is.
func TestSignIn(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{})
	t.Cleanup(f.Close)
	home := t.TempDir()
	o, err := at(home, f.URL, nil).Options()
	if err != nil || o.SignIn == nil || o.SignIn.Origin != f.URL {
		t.Fatalf("signs in at %+v, %v", o.SignIn, err)
	}
	if _, err := o.SignIn.Accounts.Enter(t.Context(), o.SignIn.Origin, true, o.SignIn.Machine, nobody{}); err != nil {
		t.Fatal(err)
	}
	service, _, err := o.SignIn.Again()
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if who, err := c.Whoami(t.Context()); err != nil || who.Account == nil || who.Account.Email != "dana@example.org" {
		t.Errorf("is %+v, %v", who, err)
	}
	later, err := at(home, "", nil).Options() // without a flag
	if err != nil || later.Service.Local || later.Service.Origin != f.URL || later.Service.Workspace != service.Workspace || later.SignIn.Origin != f.URL {
		t.Errorf("the next process is at %s as %s, signs in at %s: %v", later.Service.Origin, later.Service.Workspace, later.SignIn.Origin, err)
	}
}

func TestSignIn_Where(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, flag      string
		vars            map[string]string
		where, overrule string
	}{
		{"nothing said", "", nil, "https://api.evalrouter.ai", ""},
		{"a flag", "https://eval.example", nil, "https://eval.example", ""},
		{"a variable", "", map[string]string{"EVALROUTER_BASE_URL": "https://eval.example"}, "https://eval.example", ""},
		{"this machine by a flag", "local", nil, "https://api.evalrouter.ai", ""},
		{"this machine by a variable", "", map[string]string{"EVALROUTER_BASE_URL": "local"}, "https://api.evalrouter.ai", "EVALROUTER_BASE_URL"},
		{"a key", "", map[string]string{"EVALROUTER_API_KEY": "erk_x"}, "https://api.evalrouter.ai", "EVALROUTER_API_KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, err := at(t.TempDir(), tt.flag, tt.vars).Options()
			if err != nil || o.SignIn.Origin != tt.where || o.SignIn.Overruled != tt.overrule {
				t.Errorf("%+v, %v", o.SignIn, err)
			}
		})
	}
}
