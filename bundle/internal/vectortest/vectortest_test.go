package vectortest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/internal/vectortest"
)

// Every vector file of the two families is in the list that their packages
// replay.
func TestVectorFilesAreAllListed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, family := range []string{"*inspect*.jsonl", "*lmeval*.jsonl", "hfevaluate_*.jsonl"} {
		files, err := filepath.Glob(filepath.Join(vectortest.Shared(t, "vectors"), family))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			found[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = true
		}
	}
	listed := map[string]bool{}
	for name := range vectortest.Files() {
		listed[name] = true
	}
	if d := cmp.Diff(found, listed); d != "" {
		t.Errorf("files there and files listed differ: %s", d)
	}
}
