package plain_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// TestCredential: keys are known wherever they stand as an argument, and nothing
// that people type otherwise is taken for one.
func TestCredential(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("aB3", 15)
	for _, tt := range []struct {
		name string
		args []string
		want bool
	}{
		{"an operand", []string{"run", "sk-proj-" + long}, true},
		{"the value of a flag", []string{"login", "--key", "erk_aB3dE6gH_" + long}, true},
		{"the value behind a sign", []string{"--key=hf_" + long}, true},
		{"a sign-in", []string{"ers_aB3dE6gH_" + long}, true},
		{"another provider's", []string{"x", "AIza" + long}, true},
		{"the prefix of a key", []string{"keys", "revoke", "erk_aB3dE6gH"}, false},
		{"a text about one", []string{"--details", "it printed sk-proj-" + long + " to the log"}, false},
		{"a name", []string{"run", "sk-learn-digits-2024", "--model", "openai.gpt-5.1-codex-max"}, false},
		{"words with hyphens", []string{"pk-a1-b2-c3-d4-e5-f6-g7-h8"}, false},
		{"an id", []string{"runs", "4f0c7f7e-53f4-4a66-8b6e-0f1f8a8f4c11"}, false},
		{"a file of keys", []string{"--key-file", "/etc/keys/sk-1"}, false},
		{"nothing", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := plain.Credential(tt.args); got != tt.want {
				t.Errorf("%q: %v", tt.args, got)
			}
		})
	}
}
