package profile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/profile"
)

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func TestResolve_G1(t *testing.T) {
	t.Parallel()
	saved := func(origin string) (*profile.Saved, error) {
		if origin != "" && origin != "https://saved.example" {
			return nil, nil
		}
		return &profile.Saved{BaseURL: "https://saved.example", WorkspaceID: "saved-ws", Kind: "session", Token: func(context.Context, string) (string, error) { return "ers_saved", nil }}, nil
	}
	type want struct {
		url, urlFrom, ws, wsFrom, key string
		local                         bool
	}
	tests := []struct {
		name           string
		flag, workflag string
		vars           map[string]string
		saved          func(string) (*profile.Saved, error)
		want           want
	}{
		{"nothing at all is local", "", "", nil, nil, want{"local", "default", "local", "default", "", true}},
		{"a flag wins", "https://flag.example", "", map[string]string{"EVALROUTER_BASE_URL": "https://env.example", "EVALROUTER_API_KEY": "erk_k"}, saved,
			want{"https://flag.example", "flag", "", "default", "erk_k", false}},
		{"then the variable", "", "", map[string]string{"EVALROUTER_BASE_URL": "https://env.example", "EVALROUTER_API_KEY": "erk_k"}, saved,
			want{"https://env.example", "EVALROUTER_BASE_URL", "", "default", "erk_k", false}},
		{"then production for a key", "", "", map[string]string{"EVALROUTER_API_KEY": "erk_k", "EVALROUTER_WORKSPACE_ID": "ws"}, saved,
			want{"https://api.evalrouter.ai", "EVALROUTER_API_KEY", "ws", "EVALROUTER_WORKSPACE_ID", "erk_k", false}},
		{"then the sign-in", "", "", nil, saved, want{"https://saved.example", "login", "saved-ws", "login", "ers_saved", false}},
		{"a workspace flag wins", "", "other", nil, saved, want{"https://saved.example", "login", "other", "flag", "ers_saved", false}},
		{"the variable's workspace is not for the local service", "", "", map[string]string{"EVALROUTER_WORKSPACE_ID": "ws"}, nil, want{"local", "default", "local", "default", "", true}},
		{"empty variables are not set", "", "", map[string]string{"EVALROUTER_API_KEY": "", "EVALROUTER_BASE_URL": ""}, nil, want{"local", "default", "local", "default", "", true}},
		{"a saved session is not sent elsewhere", "https://flag.example", "", nil, saved, want{"https://flag.example", "flag", "", "default", "", false}},
		{"the flag names where one is signed in", "https://saved.example", "", nil, saved, want{"https://saved.example", "flag", "saved-ws", "login", "ers_saved", false}},
		{"a key from the environment is before a sign-in there", "https://saved.example", "", map[string]string{"EVALROUTER_API_KEY": "erk_k"}, saved, want{"https://saved.example", "flag", "", "default", "erk_k", false}},
		{"local is this machine beside a sign-in", "local", "", nil, saved, want{"local", "flag", "local", "default", "", true}},
		{"local in the variable, and no key goes there", "", "", map[string]string{"EVALROUTER_BASE_URL": "Local", "EVALROUTER_API_KEY": "erk_k"}, saved, want{"local", "EVALROUTER_BASE_URL", "local", "default", "", true}},
		{"local stays possible beside off with a key", "", "", map[string]string{"EVALROUTER_LOCAL": "off", "EVALROUTER_API_KEY": "erk_k"}, nil,
			want{"https://api.evalrouter.ai", "EVALROUTER_API_KEY", "", "default", "erk_k", false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := profile.Resolve(profile.Input{BaseURL: tt.flag, Workspace: tt.workflag, Env: env(tt.vars), Home: "/home/u", Saved: tt.saved})
			if err != nil {
				t.Fatal(err)
			}
			key, err := p.Key(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			got := want{p.BaseURL.Value, p.BaseURL.From, p.Workspace.Value, p.Workspace.From, key, p.Local}
			if got != tt.want {
				t.Errorf("resolved %+v, want %+v", got, tt.want)
			}
		})
	}
}

// What was allowed at a sign-in is allowed there, and nowhere else.
func TestResolve_AllowHTTP(t *testing.T) {
	t.Parallel()
	const at = "http://127.0.0.1:7788"
	saved := func(origin string) (*profile.Saved, error) {
		if origin != "" && origin != at {
			return nil, nil
		}
		return &profile.Saved{BaseURL: at, AllowHTTP: true}, nil
	}
	for _, tt := range []struct {
		name, flag string
		vars       map[string]string
		want       bool
	}{
		{"the last sign-in", "", nil, true},
		{"named", at, nil, true},
		{"another port", "http://127.0.0.1:7789", nil, false},
		{"this machine's own service", "local", nil, false},
		{"a key from the environment", at, map[string]string{"EVALROUTER_API_KEY": "erk_k"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := profile.Resolve(profile.Input{BaseURL: tt.flag, Env: env(tt.vars), Home: "/home/u", Saved: saved})
			if err != nil || p.AllowHTTP != tt.want {
				t.Errorf("allowed %v, %v; want %v", p.AllowHTTP, err, tt.want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	_, err := profile.Resolve(profile.Input{Env: env(map[string]string{"EVALROUTER_LOCAL": "off"}), Home: "/home/u"})
	if !errors.Is(err, api.InvalidConfiguration) {
		t.Errorf("without any service: %v", err)
	}
	broken := errors.New("broken")
	_, err = profile.Resolve(profile.Input{Env: env(nil), Saved: func(string) (*profile.Saved, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("with an unreadable profile: %v", err)
	}
}

func TestDirs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		vars               map[string]string
		state, cache, data string
	}{
		{"REC-02 the defaults", nil, "/home/u/.local/state/evalrouter", "/home/u/.cache/evalrouter", "/home/u/.local/share/evalrouter"},
		{"REC-03 our own variables", map[string]string{"EVALROUTER_STATE_DIR": "/s", "EVALROUTER_CACHE_DIR": "/c", "XDG_STATE_HOME": "/x"}, "/s", "/c", "/home/u/.local/share/evalrouter"},
		{"the XDG variables", map[string]string{"XDG_STATE_HOME": "/xs", "XDG_CACHE_HOME": "/xc", "XDG_DATA_HOME": "/xd"}, "/xs/evalrouter", "/xc/evalrouter", "/xd/evalrouter"},
		{"relative XDG variables are ignored, as the rules say", map[string]string{"XDG_DATA_HOME": "x"}, "/home/u/.local/state/evalrouter", "/home/u/.cache/evalrouter", "/home/u/.local/share/evalrouter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := profile.DirsOf(env(tt.vars), "/home/u")
			if d.State.Value != tt.state || d.Cache.Value != tt.cache || d.Data.Value != tt.data {
				t.Errorf("dirs %+v", d)
			}
		})
	}
}

// CAT-19: on Windows everything stands below %LOCALAPPDATA%. The rules are those
// of the named system, wherever the test runs.
func TestDirsOnWindows_CAT19(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, home         string
		vars               map[string]string
		state, cache, data string
	}{
		{"the variable", `C:\Users\u`, map[string]string{"LOCALAPPDATA": `C:\Users\u\AppData\Local`},
			`C:\Users\u\AppData\Local\evalrouter\state`, `C:\Users\u\AppData\Local\evalrouter\cache`, `C:\Users\u\AppData\Local\evalrouter\data`},
		{"a space and a last separator", `C:\Users\a b`, map[string]string{"LOCALAPPDATA": `D:\local data\`},
			`D:\local data\evalrouter\state`, `D:\local data\evalrouter\cache`, `D:\local data\evalrouter\data`},
		{"a share", `C:\Users\u`, map[string]string{"LOCALAPPDATA": `\\server\share`},
			`\\server\share\evalrouter\state`, `\\server\share\evalrouter\cache`, `\\server\share\evalrouter\data`},
		{"our own variables win", `C:\Users\u`, map[string]string{"LOCALAPPDATA": `C:\l`, "EVALROUTER_CACHE_DIR": `E:\c`, "EVALROUTER_STATE_DIR": `E:\s`},
			`E:\s`, `E:\c`, `C:\l\evalrouter\data`},
		{"no variable", `C:\Users\u`, nil,
			`C:\Users\u\AppData\Local\evalrouter\state`, `C:\Users\u\AppData\Local\evalrouter\cache`, `C:\Users\u\AppData\Local\evalrouter\data`},
		{"a relative variable", `C:\Users\u`, map[string]string{"LOCALAPPDATA": `local`},
			`C:\Users\u\AppData\Local\evalrouter\state`, `C:\Users\u\AppData\Local\evalrouter\cache`, `C:\Users\u\AppData\Local\evalrouter\data`},
		{"a path of another system", "/home/u", nil, "", "", ""},
		{"a drive without a root", `C:u`, nil, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := profile.DirsOn("windows", env(tt.vars), tt.home)
			if d.State.Value != tt.state || d.Cache.Value != tt.cache || d.Data.Value != tt.data {
				t.Errorf("dirs %+v", d)
			}
		})
	}
}

// Without a home nothing is put where the caller happens to stand.
func TestNoHome(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"", "relative"} {
		if _, err := profile.Resolve(profile.Input{Env: env(nil), Home: home}); !errors.Is(err, api.InvalidConfiguration) {
			t.Errorf("home %q: %v", home, err)
		}
		p, err := profile.Resolve(profile.Input{Env: env(map[string]string{"EVALROUTER_API_KEY": "erk_k", "XDG_DATA_HOME": "/data"}), Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if dir, err := p.Dirs.State.Path(); !errors.Is(err, api.InvalidConfiguration) || dir != "" {
			t.Errorf("home %q: state in %q, %v", home, dir, err)
		}
		if dir, err := p.Dirs.Data.Path(); err != nil || dir != "/data/evalrouter" {
			t.Errorf("home %q: data in %q, %v", home, dir, err)
		}
	}
}
