package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

func TestSecret_DoesNotPrint(t *testing.T) {
	t.Parallel()
	const word = "sk-canary-7f3a"
	s := provider.NewSecret(word)
	r := provider.Request{Key: s}
	var logs bytes.Buffer
	slog.New(slog.NewJSONHandler(&logs, nil)).Info("x", "key", s, "request", r)
	slog.New(slog.NewTextHandler(&logs, nil)).Info("x", "key", s, "request", r)
	doc, err := json.Marshal(map[string]any{"key": s, "request": r})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{logs.String(), string(doc), fmt.Errorf("call: %v", s).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%08b"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, []provider.Secret{s}), fmt.Sprintf(verb, r))
	}
	for _, text := range texts {
		if strings.Contains(text, word) || strings.Contains(text, fmt.Sprintf("%x", word)) || strings.Contains(text, fmt.Sprintf("%X", word)) {
			t.Errorf("the secret is printed: %s", text)
		}
	}
	if s.Reveal() != word || s.Empty() || !(provider.Secret{}).Empty() {
		t.Error("the secret is lost")
	}
}
