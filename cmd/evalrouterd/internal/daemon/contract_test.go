package daemon_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/apitest/exercise"
)

// TestContract runs the suite that every service of the contract must pass
// against a real daemon process.
func TestContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	l := adopt(t, watched(t, "local", "--data", dir, "--port", "0"), dir)
	exercise.Run(t, exercise.Target{
		BaseURL: l.base, Token: l.token(t), WorkspaceID: "local", AllowHTTP: true, ProfileID: "arithmetic@1", RouteID: "practice.solver-0.8",
		// A key made by another process works at once.
		Restricted: func(scopes ...string) (string, error) {
			r := run(t, "keys", "create", "--data", l.dir, "--workspace", "local", "--name", "test", "--scopes", strings.Join(scopes, ",")).ok(t)
			return strings.TrimSpace(r.stdout), nil
		},
	})
	if r := run(t, "audit", "--data", l.dir); r.status != 0 {
		t.Errorf("the audit of the living directory: %s%s", r.stdout, r.stderr)
	}
}
