package e2e_test

import (
	"strings"
	"testing"
)

// AUT-22: no program takes a key as an argument, wherever it stands: it refuses,
// does nothing, does not repeat it, and says that it is to be ended.
func TestArguments_AUT22_NoKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	for _, line := range []string{
		"evalrouter run %", "evalrouter login --key %", "evalrouter feedback --summary %", "evalrouter langsmith sync --project %", "evalrouter benchmark init %", "evalrouter --json whoami --api-key=%",
		"evalrouterd serve --providers %", "evalrouterd keys revoke %", "evalrouter-bench init %", "evalrouter-bench --key=%", "evalrouter-tui %", "evalrouter-mcp %", "evalrouter mcp --base-url %", "evalrouter-langsmith sync --project %", "evalrouter-langsmith %",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "%", key))
		got := s.run(words[0], words[1:]...)
		if said := got.stdout + got.stderr; got.code != 2 || strings.Contains(said, key[8:]) || !strings.Contains(said, "end that key") {
			t.Errorf("%s: status %d\n%s", line, got.code, said)
		}
	}
}
