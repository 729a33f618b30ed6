package viewer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/viewer"
)

const page = "https://eval.example/r/1?x=%20&y"

func TestViewer_EVT08_EVT09_EVT10_EVT11_EVT12(t *testing.T) {
	t.Parallel()
	desk := map[string]string{"DISPLAY": ":0"}
	with := func(kv ...string) map[string]string {
		m := map[string]string{"DISPLAY": ":0"}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	tests := []struct {
		name string
		os   string
		env  map[string]string
		off  bool
		page string
		want string // the command, words with a bar between
		why  string
	}{
		{"linux", "linux", desk, false, page, "xdg-open|" + page, ""},
		{"wayland", "linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, false, page, "xdg-open|" + page, ""},
		{"wsl", "linux", map[string]string{"WSL_DISTRO_NAME": "Debian"}, false, page, "wslview|" + page, ""},
		{"macos", "darwin", nil, false, page, "open|" + page, ""},
		{"windows", "windows", nil, false, page, "rundll32|url.dll,FileProtocolHandler|" + page, ""},
		{"EVT-08 CI", "linux", with("CI", "true"), false, page, "", "this is CI"},
		{"EVT-09 SSH", "linux", with("SSH_CONNECTION", "1.2.3.4 1 5.6.7.8 22"), false, page, "", "this is an SSH session"},
		{"EVT-09 SSH terminal", "darwin", with("SSH_TTY", "/dev/pts/1"), false, page, "", "this is an SSH session"},
		{"EVT-10 no display", "linux", nil, false, page, "", "there is no display"},
		{"EVT-11 the flag", "linux", desk, true, page, "", "--no-browser"},
		{"EVT-12 the variable", "linux", with("EVALROUTER_NO_BROWSER", "1"), false, page, "", "EVALROUTER_NO_BROWSER=1"},
		{"another value of it", "linux", with("EVALROUTER_NO_BROWSER", "0"), false, page, "xdg-open|" + page, ""},
		{"a program", "linux", desk, false, "file:///etc/passwd", "", "it is no web address"},
		{"a flag", "linux", desk, false, "--version", "", "it is no web address"},
		{"a secret in it", "linux", desk, false, "https://u:p@eval.example/", "", "it is no web address"},
		{"a script", "windows", nil, false, "javascript:alert(1)", "", "it is no web address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, v := recorder(tt.os, tt.env, nil)
			v.Off = tt.off
			why := v.Page(tt.page)
			if d := cmp.Diff(tt.want, strings.Join(*got, "|")); d != "" || why != tt.why {
				t.Errorf("why %q, want %q; command (-want +got):\n%s", why, tt.why, d)
			}
		})
	}
}

func TestViewerFiles(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, os, open, reveal string }{
		{"linux", "linux", "xdg-open|/a/b c.json", "xdg-open|/a"},
		{"macos", "darwin", "open|/a/b c.json", "open|-R|/a/b c.json"},
		{"windows", "windows", "rundll32|url.dll,FileProtocolHandler|/a/b c.json", "explorer|/select,/a/b c.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, v := recorder(tt.os, map[string]string{"DISPLAY": ":0"}, nil)
			if why := v.File("/a/b c.json"); why != "" || strings.Join(*got, "|") != tt.open {
				t.Errorf("open: %q, %q", *got, why)
			}
			if why := v.Reveal("/a/b c.json"); why != "" || strings.Join(*got, "|") != tt.reveal {
				t.Errorf("reveal: %q, %q", *got, why)
			}
		})
	}
}

// EXP-14: a viewer that cannot be started is told, not failed.
func TestViewerMissing_EXP14(t *testing.T) {
	t.Parallel()
	_, v := recorder("linux", map[string]string{"DISPLAY": ":0"}, errors.New("not found"))
	for name, why := range map[string]string{"page": v.Page(page), "file": v.File("/x"), "folder": v.Reveal("/x")} {
		if !strings.Contains(why, "could be started") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func recorder(os string, env map[string]string, err error) (*[]string, *viewer.Viewer) {
	var got []string
	return &got, &viewer.Viewer{
		OS:  os,
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Start: func(name string, args ...string) error {
			got = append([]string{name}, args...)
			return err
		},
	}
}
