package exchange_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
)

// A key that comes back is taken out, however it is written, from bodies and
// from sentences, and nothing else is.
func TestKey_IsHiddenInEveryWriting(t *testing.T) {
	t.Parallel()
	everyByte := func(format string) func(string) string {
		return func(key string) string {
			var b strings.Builder
			for _, c := range []byte(key) {
				fmt.Fprintf(&b, format, c)
			}
			return b.String()
		}
	}
	inJSON := func(s string) string { b, _ := json.Marshal(s); return strings.Trim(string(b), `"`) }
	b64 := func(before, after string, e *base64.Encoding) func(string) string {
		return func(key string) string { return e.EncodeToString([]byte(before + key + after)) }
	}
	for _, key := range []string{"sk-proj-abcdefghijklmnop1234", `sk"\/<>&'quote+slash=equals`, "AIzaSyA-0123456789_abcdefghijk", `back\slashes-in\a-key`, "%41%42%43%44%45%46%47%48"} {
		for _, tt := range []struct {
			name  string
			write func(string) string
		}{
			{"as it is", func(k string) string { return k }},
			{"in JSON", inJSON},
			{"in JSON within JSON", func(k string) string { return inJSON(inJSON(k)) }},
			{"with every byte escaped for JSON", everyByte(`\u%04x`)},
			{"with every byte escaped for JSON, in capitals", everyByte(`\u%04X`)},
			{"with a slash escaped", func(k string) string { return strings.ReplaceAll(inJSON(k), "/", `\/`) }},
			{"in a query", url.QueryEscape},
			{"in a path", url.PathEscape},
			{"with every byte escaped for a URL", everyByte("%%%02x")},
			{"in hex", func(k string) string { return hex.EncodeToString([]byte(k)) }},
			{"in hex, in capitals", func(k string) string { return strings.ToUpper(hex.EncodeToString([]byte(k))) }},
			{"in base64", b64("", "", base64.StdEncoding)},
			{"in base64 after a user's name", b64("u:", "", base64.StdEncoding)},
			{"in base64 after one byte", b64("x", "yy", base64.StdEncoding)},
			{"in base64 for URLs", b64(":", ":", base64.RawURLEncoding)},
		} {
			t.Run(tt.name+" of "+key, func(t *testing.T) {
				t.Parallel()
				text := tt.write(key)
				rest := leftOver(t, exchange.Message("bad key "+text+" here", provider.NewSecret(key)), text)
				if rest > 8 { // base64 leaves what it shares with its neighbours, and the neighbours
					t.Errorf("%d bytes of the sentence still tell", rest)
				}
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"m":"`+text+`"}`) }))
				t.Cleanup(srv.Close)
				r := exchange.Do(t.Context(), http.DefaultTransport, exchange.Post{URL: srv.URL, Key: provider.NewSecret(key)})
				if rest := leftOver(t, string(r.Raw), text); r.Err != nil || rest > 8 {
					t.Errorf("%q: %d bytes of the body still tell, %v", r.Raw, rest, r.Err)
				}
			})
		}
	}
}

// leftOver is the longest piece of a written key that a text still holds.
func leftOver(t *testing.T, text, written string) int {
	t.Helper()
	if !strings.Contains(text, "[redacted]") {
		t.Errorf("nothing was taken out of %q", text)
	}
	text = strings.ReplaceAll(text, "[redacted]", "\n")
	longest := 0
	for i := range written {
		for j := i + longest + 1; j <= len(written) && strings.Contains(text, written[i:j]); j++ {
			longest = j - i
		}
	}
	return longest
}

// What does not hold the key stays as it is.
func TestKey_NothingElseIsHidden(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z0-9\\%u ]{0,200}`).Draw(t, "text")
		if got := exchange.Message(text, provider.NewSecret("KEY-KEY-KEY-KEY-KEY")); strings.Contains(got, "redacted") {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
