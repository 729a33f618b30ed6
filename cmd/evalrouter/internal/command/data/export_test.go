package data_test

import (
	"errors"
	"fmt"
	"testing"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/data"
)

// What is waited for is the run that the service names, which for a chain is not
// the one that was typed.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	refusal := func(details map[string]any) error {
		return fmt.Errorf("export: %w", &evalrouter.Error{Problem: evalrouter.Problem{Code: api.RunNotFinished, Details: details}})
	}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"the newest of a chain", refusal(map[string]any{"run_id": "newest"}), "newest"},
		{"no details", refusal(nil), "typed"},
		{"an empty id", refusal(map[string]any{"run_id": ""}), "typed"},
		{"no text", refusal(map[string]any{"run_id": 7}), "typed"},
		{"another error", errors.New("no"), "typed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := data.Unfinished(tt.err, "typed"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
