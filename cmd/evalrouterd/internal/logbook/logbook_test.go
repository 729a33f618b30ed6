package logbook_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/slogtest"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/logbook"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

type pair struct{ Name, Value string }

// TestCanary writes secrets wherever a careless line could have one.
func TestCanary(t *testing.T) {
	t.Parallel()
	own, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	provider := "sk-proj-" + strings.Repeat("Ab3dEf9h", 6)
	plain := "correct-horse-battery-staple"
	var b bytes.Buffer
	l := logbook.New(&b, true)
	refused := &url.Error{Op: "Get", URL: "https://user:" + plain + "@host.example/v1", Err: errors.New("refused")}
	for _, write := range []func(){
		func() { l.Info("called with " + own.Reveal()) },
		func() { l.Error("failed", "error", fmt.Errorf("ask: %w", refused)) },
		func() { l.Error("failed", "error", errors.New("401: Incorrect API key provided: "+provider)) },
		func() { l.Debug("header", "authorization", "Bearer "+plain) },
		func() { l.Debug("header", "line", "Authorization: Bearer "+own.Reveal()) },
		func() { l.Info("form", slog.Group("fields", "name", "x", "password", plain)) },
		func() { l.With("api_key", plain).WithGroup("g").Info("kept") },
		func() { l.Info("struct", "value", pair{"key", provider}) },
		func() { l.Info("bytes", "value", []byte("api_key="+provider)) },
		func() { l.Info("database", "address", "postgres://evalrouter:"+plain+"@db.example/e") },
		func() { l.Info("json", "doc", `{"client_secret": "`+plain+`", "n": 1}`) },
	} {
		before := b.Len()
		write()
		line := b.String()[before:]
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, secret := range []string{own.Reveal()[seal.PrefixLen+1:], provider, plain} {
			if strings.Contains(line, secret) || strings.Contains(line, base64.StdEncoding.EncodeToString([]byte(secret))) {
				t.Errorf("the log tells a secret: %s", line)
			}
		}
	}
	if !strings.Contains(b.String(), `"error":"ask: Get`) {
		t.Errorf("what is no secret is gone too: %s", b.String())
	}
	if w, e := l.Counts(); w != 0 || e != 2 {
		t.Errorf("%d warnings and %d errors are counted", w, e)
	}
}

// TestHandler keeps the contract of log handlers.
func TestHandler(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := slogtest.TestHandler(logbook.New(&b, true).Handler(), func() []map[string]any {
		var all []map[string]any
		for line := range strings.Lines(b.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
		}
		return all
	}); err != nil {
		t.Error(err)
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := logbook.New(&b, false)
	l.Debug("no")
	l.Warn("yes", "n", 3, "ok", true)
	if !strings.Contains(b.String(), `"n":3,"ok":true`) || strings.Contains(b.String(), "no") {
		t.Errorf("the log is %s", b.String())
	}
	if w, _ := l.Counts(); w != 1 {
		t.Errorf("%d warnings are counted", w)
	}
}
