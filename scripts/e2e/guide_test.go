package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/scripts/internal/handbook"
)

// indented are the indented blocks of a page under a heading.
func indented(page, heading string) (blocks []string) {
	for _, b := range handbook.Blocks(page) {
		if b.Heading == heading {
			blocks = append(blocks, b.Text)
		}
	}
	return blocks
}

// PVT-09: the guide's example is made and run as it stands, and the guide names
// every field of a manifest, every format, every command and every scope.
func TestPrivate_PVT09_TheGuide(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "private-benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	s := newSite(t)
	blocks := indented(page, "From a file")
	if len(blocks) != 2 {
		t.Fatalf("the guide has %d examples of a file, and they should be two: commands and a manifest", len(blocks))
	}
	var manifest map[string]any
	if err := json.Unmarshal([]byte(blocks[1]), &manifest); err != nil {
		t.Fatalf("the guide's manifest: %v", err)
	}
	s.write("manifest.json", []byte(blocks[1]))
	s.write(manifest["data"].(string), []byte("Number,Question,Answer\n1,What colour is grass?,green\n2,What colour is snow?,white\n3,What colour is coal?,Black\n"))
	slug := ""
	for _, line := range strings.Split(blocks[0], "\n") {
		args := strings.Fields(strings.Replace(line, "byob-…", slug, 1))
		for i, a := range args {
			if strings.HasPrefix(a, "./") {
				args[i] = filepath.Join(s.home, a)
			}
		}
		if args[1] == "run" {
			args = append(args, "--yes")
		}
		out := s.ok(args[0], args[1:]...).stdout
		if i := strings.Index(out, "byob-"); slug == "" && i >= 0 {
			slug, _, _ = strings.Cut(strings.Fields(out[i:])[0], "@")
		}
	}
	if slug == "" {
		t.Error("the guide's create names no benchmark that its run could use")
	}
	for field := range reflect.TypeFor[api.BenchmarkManifest]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		contains(t, "the table of fields", page, "`"+name+"`")
	}
	for _, command := range []string{"upload", "import", "create", "list", "sources", "archive", "archive-source"} {
		contains(t, "the guide", page, "evalrouter benchmark "+command)
	}
	contains(t, "the guide", page, "| JSONL |", "| CSV |", "| Parquet |", "| package |", "`benchmarks:submit`", "`eval:read`", "`eval:write`")
}
