package signin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/signin"
)

// Whatever stands in the two files, they are read without harm: a token comes out
// only where it stands in the credentials, and what cannot be understood is an
// error and is left as it is.
func FuzzFiles(f *testing.F) {
	for _, s := range []string{
		`{"schema":"evalrouter.credentials.v1","accounts":[{"base_url":"https://a.example","kind":"api_key","access_token":"erk_x","expires_at":null,"workspace_id":"w"}]}`,
		`{"schema":"evalrouter.credentials.v1","accounts":[{"base_url":"https://a.example","kind":"session","access_token":"ers_x","refresh_token":"erf_x","expires_at":"2999-01-01T00:00:00Z"}]}`,
		`{"schema":"evalrouter.profile.v1","accounts":[{"base_url":"https://a.example","kind":"session"}]}`,
		`{"schema":"evalrouter.credentials.v2"}`, `{`, ``, `null`, `{"accounts":[null]}`, `{"schema":"evalrouter.credentials.v1","accounts":[{"base_url":"::"}]}`,
	} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"profile.json", "credentials.json"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a := &signin.Accounts{Dir: dir, Now: time.Now, Sleep: func(context.Context, time.Duration) error { return context.Canceled }}
		if _, _, err := a.Find("https://a.example"); err != nil && !strings.Contains(err.Error(), "cannot be understood") {
			t.Errorf("the profile: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is asked of any service
		if token, err := a.Token(ctx, "https://a.example"); err == nil && (token != "" && !strings.Contains(strings.ReplaceAll(text, `\u0000`, ""), "access_token")) {
			t.Errorf("the token %q is made up", token)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "credentials.json")); err != nil || string(b) != text {
			t.Errorf("the file was changed: %v", err)
		}
	})
}
