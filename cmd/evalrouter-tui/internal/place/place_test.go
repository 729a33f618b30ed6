package place_test

import (
	"errors"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-tui/internal/place"
)

func TestBrowser(t *testing.T) {
	t.Parallel()
	display := map[string]string{"DISPLAY": ":0"}
	tests := []struct {
		name, os, url string
		env           map[string]string
		fails         bool
		started, why  string
	}{
		{"linux", "linux", "https://x.example/r", display, false, "xdg-open", ""},
		{"mac", "darwin", "https://x.example/r", nil, false, "open", ""},
		{"windows", "windows", "https://x.example/r", nil, false, "rundll32", ""},
		{"no display", "linux", "https://x.example/r", nil, false, "", "there is no display"},
		{"over SSH", "darwin", "https://x.example/r", map[string]string{"SSH_TTY": "x"}, false, "", "this is an SSH session"},
		{"no program", "linux", "https://x.example/r", display, true, "xdg-open", "no browser could be started"},
		{"a file", "linux", "file:///etc/passwd", display, false, "", "it is no web address"},
		{"a password in it", "linux", "https://a:b@x.example", display, false, "", "it is no web address"},
		{"an option", "linux", "--help", display, false, "", "it is no web address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			started := ""
			b := place.Browser{OS: tt.os, Env: func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }, Start: func(name string, _ ...string) error {
				started = name
				if tt.fails {
					return errors.New("not found")
				}
				return nil
			}}
			if why := b.Open(tt.url); why != tt.why || started != tt.started {
				t.Errorf("started %q, why %q", started, why)
			}
		})
	}
}
