package daemon

import (
	"os"
	"strings"
	"testing"
)

// TestTokenForms keeps a generated token and replaces whatever else stands in
// its file.
func TestTokenForms(t *testing.T) {
	t.Parallel()
	good := "local_" + strings.Repeat("0a", 32)
	tests := []struct {
		name, text string
		kept       bool
	}{
		{"generated", good + "\n", true},
		{"without the line's end", good, true},
		{"nothing", "", false},
		{"a word", "bad\n", false},
		{"cut off", good[:len(good)-1] + "\n", false},
		{"longer", good + "0\n", false},
		{"capitals", "local_" + strings.Repeat("0A", 32), false},
		{"another kind", strings.Replace(good, "local_", "other_", 1), false},
		{"two lines", good + "\n" + good + "\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := dataDir(t.TempDir())
			if err := os.WriteFile(d.path(tokenFile), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			token, err := d.ownerToken()
			if err != nil || !generated(token) || (token == good) != tt.kept {
				t.Errorf("the token is %q (%v)", token, err)
			}
			if again, err := d.ownerToken(); err != nil || again != token {
				t.Errorf("the next start reads %q (%v)", again, err)
			}
		})
	}
}
