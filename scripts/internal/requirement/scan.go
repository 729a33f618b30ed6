package requirement

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Place is a test name that carries an id.
type Place struct {
	File string // relative to the root, with slashes
	Name string
}

// Scanner finds ids of Areas in the test names below Root.
//
// Names are: test and fuzz functions; the string given to Run; the name of a table row (a field called name, the
// first string of a row without field names, or the key of a map of rows); in script files under testdata (.txt,
// .txtar) the file's name and the comment lines of the script; in .jsonl tables under testdata the "name" of a row.
type Scanner struct {
	Root  string
	Areas []string
}

// Scan returns the places of every id that some name carries, known or not.
func (s Scanner) Scan() (map[string][]Place, error) {
	// An area may follow a lower-case letter (TestRUN14) but not a capital or a digit.
	pattern, err := regexp.Compile(`(?:^|[^A-Z0-9])(` + strings.Join(s.Areas, "|") + `)-?(\d{2,3})`)
	if err != nil {
		return nil, fmt.Errorf("build the id pattern: %w", err)
	}
	places := map[string][]Place{}
	err = filepath.WalkDir(s.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk the tree: %w", err)
		}
		if d.IsDir() {
			if path != s.Root && (strings.HasPrefix(d.Name(), ".") || path == filepath.Join(s.Root, "bin")) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(s.Root, path)
		if err != nil {
			return fmt.Errorf("name %s: %w", path, err)
		}
		rel = filepath.ToSlash(rel)
		names, err := namesIn(path, rel)
		if err != nil {
			return err
		}
		for _, name := range names {
			for _, id := range idsIn(pattern, name) {
				if p := (Place{rel, name}); !slices.Contains(places[id], p) {
					places[id] = append(places[id], p)
				}
			}
		}
		return nil
	})
	return places, err
}

func namesIn(path, rel string) ([]string, error) {
	data := strings.Contains("/"+rel, "/testdata/")
	switch ext := filepath.Ext(rel); {
	case strings.HasSuffix(rel, "_test.go") && !data:
		return goNames(path)
	case data && (ext == ".txt" || ext == ".txtar"):
		return scriptNames(path)
	case data && ext == ".jsonl":
		return tableNames(path)
	}
	return nil, nil
}

// idsIn finds every id in a name, also where one follows another without more than a separator between them.
func idsIn(pattern *regexp.Regexp, name string) []string {
	var ids []string
	for start := 0; start < len(name); {
		m := pattern.FindStringSubmatchIndex(name[start:])
		if m == nil {
			break
		}
		end := start + m[1]
		if end == len(name) || name[end] < '0' || name[end] > '9' {
			ids = append(ids, name[start+m[2]:start+m[3]]+"-"+name[start+m[4]:start+m[5]])
		}
		start = end
	}
	return ids
}

func goNames(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse test: %w", err)
	}
	var names []string
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				names = append(names, s)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && (strings.HasPrefix(n.Name.Name, "Test") || strings.HasPrefix(n.Name.Name, "Fuzz")) {
				names = append(names, n.Name.Name)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Run" && len(n.Args) > 0 {
				add(n.Args[0])
			}
		case *ast.CompositeLit:
			addRow(n, add)
		}
		return true
	})
	return names, nil
}

// addRow adds the name of a table row, and the keys when the literal is a map of rows.
func addRow(lit *ast.CompositeLit, add func(ast.Expr)) {
	_, isMap := lit.Type.(*ast.MapType)
	for i, elt := range lit.Elts {
		kv, keyed := elt.(*ast.KeyValueExpr)
		if !keyed {
			if i == 0 && lit.Type == nil {
				add(elt)
			}
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "name") {
			add(kv.Value)
		}
		if isMap {
			if _, row := kv.Value.(*ast.CompositeLit); row {
				add(kv.Key)
			}
		}
	}
}

// scriptNames reads the script part of a test script: its files, after the first "-- name --", are data.
func scriptNames(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	names := []string{filepath.Base(path)}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			break
		}
		if strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names, nil
}

func tableNames(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open table: %w", err)
	}
	defer file.Close()
	var names []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct{ Name string }
		// A row that is not such an object, a corpus of broken lines for example, has no name.
		if json.Unmarshal(lines.Bytes(), &row) == nil && row.Name != "" {
			names = append(names, row.Name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read table %s: %w", path, err)
	}
	return names, nil
}
