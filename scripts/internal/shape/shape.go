// Package shape checks the sizes and names of the repository: the caps that keep a file readable, a function on one
// screen and a package in one head.
//
// Sizes are counted in lines as they stand, comments and blank lines included: that is what a reader scrolls through.
// Two things are exempt because their length is no complexity: table data inside a function, and generated files.
package shape

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Caps of design. A package counts its files without tests.
const (
	maxFile          = 700
	maxTestFile      = 1200
	maxFunc          = 100
	maxPackageLines  = 4000
	maxPackageFiles  = 30
	maxInterface     = 8
	minTableExempted = 5 // lines from which a composite literal counts as table data
)

// Finding is one broken cap or name.
type Finding struct {
	Path string // relative to the root, with slashes
	Line int    // 0 when the finding is about the whole file or folder
	Rule string
	Text string
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s (%s)", f.Path, f.Text, f.Rule)
	}
	return fmt.Sprintf("%s:%d: %s (%s)", f.Path, f.Line, f.Text, f.Rule)
}

// Checker checks a tree. StdNames are the last elements of the standard library's package paths, which our packages
// must not reuse.
type Checker struct {
	Root     string
	StdNames map[string]bool
}

// Check walks all modules below the root. It skips testdata, hidden folders and what git ignores by our rules (bin).
func (c Checker) Check() ([]Finding, error) {
	var found []Finding
	err := filepath.WalkDir(c.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk the tree: %w", err)
		}
		if !d.IsDir() {
			return nil
		}
		name := d.Name()
		if path != c.Root && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || path == filepath.Join(c.Root, "bin")) {
			return filepath.SkipDir
		}
		more, err := c.folder(path)
		found = append(found, more...)
		return err
	})
	if err != nil {
		return nil, err
	}
	modules, err := c.modules()
	return append(found, modules...), err
}

// source is one parsed file.
type source struct {
	rel   string
	test  bool
	lines int
	set   *token.FileSet
	ast   *ast.File
}

func (c Checker) folder(dir string) ([]Finding, error) {
	paths, err := filepath.Glob(filepath.Join(escape(dir), "*.go"))
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	var found []Finding
	var sources []source
	for _, path := range paths {
		s, err := c.parse(path)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(s.ast) {
			continue
		}
		sources = append(sources, s)
		found = append(found, s.size()...)
		found = append(found, s.declarations()...)
	}
	found = append(found, mutableVars(sources)...)
	rel, err := c.rel(dir)
	if err != nil {
		return nil, err
	}
	return append(found, c.packageFindings(rel, sources)...), nil
}

// escape makes a folder name safe in a glob pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func (c Checker) rel(path string) (string, error) {
	rel, err := filepath.Rel(c.Root, path)
	if err != nil {
		return "", fmt.Errorf("name %s: %w", path, err)
	}
	return filepath.ToSlash(rel), nil
}

func (c Checker) parse(path string) (source, error) {
	rel, err := c.rel(path)
	if err != nil {
		return source{}, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return source{}, fmt.Errorf("read %s: %w", rel, err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, rel, text, parser.ParseComments)
	if err != nil {
		return source{}, fmt.Errorf("parse %s: %w", rel, err)
	}
	return source{rel, strings.HasSuffix(path, "_test.go"), strings.Count(string(text), "\n"), set, file}, nil
}

func (s source) size() []Finding {
	limit := maxFile
	if s.test {
		limit = maxTestFile
	}
	if s.lines > limit {
		return []Finding{{s.rel, 0, "file", fmt.Sprintf("%d lines, the cap is %d; split it by what it is about", s.lines, limit)}}
	}
	return nil
}

func (c Checker) packageFindings(rel string, sources []source) []Finding {
	var found []Finding
	files, lines, name := 0, 0, ""
	for _, s := range sources {
		if !s.test {
			files, lines, name = files+1, lines+s.lines, s.ast.Name.Name
		}
	}
	if lines > maxPackageLines || files > maxPackageFiles {
		found = append(found, Finding{rel, 0, "package",
			fmt.Sprintf("%d lines in %d files, the caps are %d and %d; split it by subject", lines, files, maxPackageLines, maxPackageFiles)})
	}
	if why := c.badName(rel, name); why != "" {
		found = append(found, Finding{rel, 0, "name", why})
	}
	return found
}

// badName returns why a package may not be called so.
func (c Checker) badName(rel, name string) string {
	banned := []string{"util", "utils", "common", "helper", "helpers", "shared", "misc", "base", "model", "models", "types", "manager", "service"}
	switch {
	case name == "" || name == "main":
		return ""
	case slices.Contains(banned, name):
		return fmt.Sprintf("package name %s says nothing about what is in it", name)
	case strings.HasSuffix(name, "1"):
		return fmt.Sprintf("package name %s evades a clash instead of naming the subject", name)
	case c.StdNames[name]:
		return fmt.Sprintf("package name %s is taken by the standard library", name)
	}
	return ""
}
