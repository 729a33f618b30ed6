package flow_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

const (
	quoteA = "3f2a9c11-0000-4000-8000-00000000000a"
	quoteB = "3f2a9c22-0000-4000-8000-00000000000b"
)

func TestQuoteID(t *testing.T) {
	t.Parallel()
	now := time.Now()
	j := &flow.Journal{Dir: t.TempDir(), Disk: flow.OS{}, Now: func() time.Time { return now }}
	for _, id := range []string{quoteA, quoteB, quoteA, "not an id", "../escape"} {
		if err := j.RememberQuote(id); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, typed, want string
		code              api.Code
	}{
		{"the whole id", quoteA, quoteA, ""},
		{"an id of elsewhere", "99999999-0000-4000-8000-000000000000", "99999999-0000-4000-8000-000000000000", ""},
		{"a unique beginning", "3f2a9c1", quoteA, ""},
		{"an ambiguous one", "3f2a", "", api.AmbiguousID},
		{"an unknown one", "abcd", "", api.InvalidInput},
		{"too short", "3f2", "", api.InvalidInput},
		{"no id", "../escape", "", api.InvalidInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := j.QuoteID(tt.typed)
			if got != tt.want || tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) {
				t.Errorf("%q, %v; want %q, %q", got, err, tt.want, tt.code)
			}
		})
	}
}

// Only the ids of quotes are kept, for seven days, and other files stay.
func TestQuoteIDsAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Now()
	j := &flow.Journal{Dir: t.TempDir(), Disk: flow.OS{}, Now: func() time.Time { return now }}
	if err := j.RememberQuote(quoteA); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(j.Dir, "quotes", "notes")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(8 * 24 * time.Hour)
	if err := j.RememberQuote(quoteB); err != nil {
		t.Fatal(err)
	}
	if _, err := j.QuoteID(quoteA[:8]); !errors.Is(err, api.InvalidInput) {
		t.Errorf("an old quote is still known: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file that is no quote was removed: %v", err)
	}
	info, err := os.Stat(filepath.Join(j.Dir, "quotes", quoteB))
	if err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the record of a quote is %v, %v", info, err)
	}
}
