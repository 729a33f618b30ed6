package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// evalrouter langsmith and mcp are programs of their own, with every word behind
// them.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, args string
		found      bool
		code       int
		ran        []string
		says       string
	}{
		{"a command", "langsmith sync --project P --state S --watch", true, 0, []string{"evalrouter-langsmith", "sync", "--project", "P", "--state", "S", "--watch"}, ""},
		{"its own flags", "langsmith --version", true, 0, []string{"evalrouter-langsmith", "--version"}, ""},
		{"the help of a command", "langsmith sync --help", true, 0, []string{"evalrouter-langsmith", "sync", "--help"}, ""},
		{"nothing behind it", "langsmith", true, 0, []string{"evalrouter-langsmith"}, ""},
		{"not installed", "langsmith projects", false, 2, nil, "go install github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith@0.0.0-test"},
		{"the agent's server", "mcp", true, 0, []string{"evalrouter-mcp"}, ""},
		{"where it serves", "--base-url https://eval.example --workspace-id w --allow-http mcp", true, 0, []string{"evalrouter-mcp", "--base-url", "https://eval.example", "--workspace-id", "w", "--allow-http"}, ""},
		{"the agent's server is not installed", "mcp", false, 2, nil, "go install github.com/evalrouter/evalrouter/cmd/evalrouter-mcp@latest"},
		{"not installed, as JSON", "langsmith projects --json", false, 2, nil, `"code":"langsmith_extra_required"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, out, errs := quietApp()
			var ran []string
			a.FindBinary = func(name string) (string, error) {
				if !tt.found {
					return "", errors.New("not found")
				}
				return "/bin/" + name, nil
			}
			a.Exec = func(path string, args []string) error {
				if path != "/bin/"+args[0] {
					t.Errorf("started %s", path)
				}
				ran = args
				return nil
			}
			code := command.Execute(t.Context(), a, tree(a), strings.Fields(tt.args))
			if diff := cmp.Diff(tt.ran, ran); diff != "" || code != tt.code {
				t.Errorf("exit code %d, want %d; arguments (-want +got):\n%s", code, tt.code, diff)
			}
			if text := out.String() + errs.String(); !strings.Contains(text, tt.says) {
				t.Errorf("output %q", text)
			}
		})
	}
}
