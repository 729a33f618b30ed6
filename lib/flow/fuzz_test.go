package flow_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// FuzzRun holds the beginning of a run id to its meaning: one run or none,
// never a guess between two, and never a run that begins otherwise.
func FuzzRun(f *testing.F) {
	const ids = "0a1b2c3d-0000-4000-8000-000000000001\n0a1b2c3d-0000-4000-8000-000000000002\n0a1bffff-0000-4000-8000-000000000003"
	for _, typed := range []string{"0a1b", "0a1bf", "0a1", "", "0a1b2c3d-0000-4000-8000-000000000001", "0A1B", "0a1b%", "0a1b\x1b[2J", "ffff", strings.Repeat("a", 37)} {
		f.Add(typed, ids)
	}
	f.Add("aaaa", "aaaa\naaaab")
	f.Add("aaaa", "")
	f.Fuzz(func(t *testing.T, typed, ids string) {
		plain := len(typed) >= flow.MinPrefix && len(typed) <= 36 && strings.Trim(typed, "0123456789abcdef-") == ""
		if err := flow.CheckRunID(typed); (err == nil) != plain {
			t.Fatalf("CheckRunID(%q): %v", typed, err)
		}
		var listed []api.RunRecord
		fits, exact := 0, false
		for id := range strings.Lines(ids) {
			id = strings.TrimSuffix(id, "\n")
			listed = append(listed, api.RunRecord{ID: id})
			if strings.HasPrefix(id, typed) {
				fits++
			}
			exact = exact || id == typed
		}
		r, err := flow.Run(typed, listed)
		switch {
		case err != nil && r != nil:
			t.Fatalf("a run beside an error: %v, %v", r, err)
		case err == nil && !strings.HasPrefix(r.ID, typed):
			t.Fatalf("%q found %q", typed, r.ID)
		case (err == nil) != (exact || fits == 1):
			t.Fatalf("%q fits %d of %q: %v", typed, fits, ids, err)
		case err == nil && exact && r.ID != typed:
			t.Fatalf("%q found %q though it stands there itself", typed, r.ID)
		case err != nil && strings.ContainsAny(err.Error(), "\x1b\x07\r"):
			t.Fatalf("the error %q carries what was typed to the terminal", err)
		}
	})
}
