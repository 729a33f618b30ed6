package shape

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// direct is what the go.mod of a module may require besides our own modules. A module that is not listed may require
// what it needs; these are promises about weight to whoever reads their go.mod.
func direct(module string) (allowed []string, limited bool) {
	tests := []string{
		"github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal", "github.com/hinshun/vt10x",
	}
	switch module {
	case "lib":
		return append(tests, "github.com/google/uuid", "golang.org/x/oauth2"), true
	case "bundle":
		return append(tests, "github.com/dlclark/regexp2", "golang.org/x/text", "go.yaml.in/yaml/v3",
			"github.com/goccy/go-yaml", "github.com/klauspost/compress"), true
	case "langsmith", "cmd/evalrouter-langsmith":
		return tests, true
	case "cmd/evalrouter-mcp":
		return append(tests, "github.com/modelcontextprotocol/go-sdk"), true
	case "tracing":
		return append(tests, "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/trace",
			"go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"), true
	case "cmd/evalrouter":
		return append(tests, "github.com/peterbourgon/ff/v4", "golang.org/x/term", "golang.org/x/sys", "github.com/google/uuid",
			"github.com/itchyny/gojq", "github.com/zalando/go-keyring", "golang.org/x/text", "github.com/rivo/uniseg"), true
	}
	return nil, false
}

// modules checks go.work against the tree, and each go.mod: no replace (it would end `go install`), one Go version,
// the promised requirements only. go.work may replace siblings by their own folders, nothing else.
func (c Checker) modules() ([]Finding, error) {
	text, err := os.ReadFile(filepath.Join(c.Root, "go.work"))
	if err != nil {
		return nil, fmt.Errorf("read go.work: %w", err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, fmt.Errorf("parse go.work: %w", err)
	}
	var found []Finding
	var used []string
	for _, u := range work.Use {
		used = append(used, path.Clean(u.Path))
	}
	for _, r := range work.Replace {
		// Before the first release the go command cannot find a sibling's version; its own folder is the same code.
		if !strings.HasPrefix(r.Old.Path, ourPrefix) || path.Clean(r.New.Path) != strings.TrimPrefix(r.Old.Path, ourPrefix) {
			found = append(found, Finding{"go.work", r.Syntax.Start.Line, "replace", "clones elsewhere would build another " + r.Old.Path + " than installations"})
		}
	}
	present, err := c.moduleFolders()
	if err != nil {
		return nil, err
	}
	for _, dir := range present {
		if !slices.Contains(used, dir) {
			found = append(found, Finding{dir + "/go.mod", 0, "workspace", "the module is not in go.work, so nothing checks it"})
		}
		more, err := c.module(dir, work)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func (c Checker) moduleFolders() ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(c.Root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk the tree: %w", err)
		}
		if d.IsDir() && p != c.Root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.Name() == "go.mod" {
			rel, err := c.rel(filepath.Dir(p))
			dirs = append(dirs, rel)
			return err
		}
		return nil
	})
	return dirs, err
}

func (c Checker) module(dir string, work *modfile.WorkFile) ([]Finding, error) {
	rel := path.Join(dir, "go.mod")
	text, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(rel)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, err)
	}
	mod, err := modfile.Parse(rel, text, nil)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", rel, err)
	}
	var found []Finding
	for _, r := range mod.Replace {
		found = append(found, Finding{rel, r.Syntax.Start.Line, "replace", "a replaced module cannot be installed with go install"})
	}
	if mod.Go == nil || work.Go == nil || mod.Go.Version != work.Go.Version {
		found = append(found, Finding{rel, 0, "go", "the go line differs from go.work; all modules share one"})
	}
	allowed, limited := direct(dir)
	for _, r := range mod.Require {
		if limited && !r.Indirect && !strings.HasPrefix(r.Mod.Path, ourPrefix) && !slices.Contains(allowed, r.Mod.Path) {
			found = append(found, Finding{rel, r.Syntax.Start.Line, "weight", r.Mod.Path + " is not among the requirements that this module promises"})
		}
	}
	return found, nil
}

const ourPrefix = "github.com/evalrouter/evalrouter/"
