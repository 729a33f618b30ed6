package scripts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// One distribution holds the full-screen workspace, the command line, the typed
// client, trace capture and the making of benchmarks: they are modules of this
// one workspace, and README and architecture tell a reader of each.
func TestDistribution_PKG01_EveryPartIsThereAndTold(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	work, readme, architecture := read("go.work"), read("README.md"), read("docs/architecture.md")
	modules := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\t\./(\S+)$`).FindAllStringSubmatch(work, -1) {
		modules[m[1]] = true
		if !regexp.MustCompile(`(?m)^\| .*` + "`" + regexp.QuoteMeta(m[1]) + "`").MatchString(architecture) {
			t.Errorf("the module %s stands in no table of docs/architecture.md", m[1])
		}
	}
	for _, part := range []struct{ module, told string }{
		{"cmd/evalrouter-tui", "`evalrouter-tui`"}, {"tui", "docs/workspace.md"}, {"cmd/evalrouter", "docs/cli.md"}, {"lib", "evalrouter/lib"},
		{"tracing", "go get github.com/evalrouter/evalrouter/tracing"}, {"cmd/evalrouter-bench", "`evalrouter-bench`"}, {"bundle", "docs/authoring.md"}, {"langsmith", "docs/langsmith.md"},
	} {
		if !modules[part.module] {
			t.Errorf("%s is no module of this workspace", part.module)
		}
		if !strings.Contains(readme, part.told) {
			t.Errorf("README.md does not tell of %s: it lacks %s", part.module, part.told)
		}
	}
}
