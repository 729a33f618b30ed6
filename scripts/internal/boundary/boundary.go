// Package boundary holds the import directions of the repository and checks packages against them.
//
// A rule says who may not import what, and why; the reason is printed with the violation, because a rule that cannot
// be explained is soon worked around. Rules come in three reaches. Direct rules are about who may talk to whom.
// Transitive rules are about weight and capability: what ends up in a binary, or what code can do at all; they look
// through every import and name the chain. Rules that include tests are for things that must not be used anywhere.
package boundary

import (
	"fmt"
	"slices"
	"strings"
)

// Root is the module path that "./" stands for in a pattern.
const Root = "github.com/evalrouter/evalrouter"

// Package is what a check needs to know of a package.
type Package struct {
	Path        string
	Standard    bool
	Imports     []string // of the package's own files
	TestImports []string // of its test files, inside and outside the package
}

// Reach is how far a rule looks.
type Reach int

const (
	Direct     Reach = iota // imports of the package's own files
	WithTests               // the same, and imports of its test files
	Transitive              // everything that is linked with the package
)

// Rule forbids packages that match From and not Except to reach packages that match Deny and not Allow.
//
// A pattern is an import path, a path with "/..." for everything at and below it, or a class: "std", "ours", "third"
// (neither of both). "./" at the start stands for Root.
type Rule struct {
	Name   string
	From   []string
	Except []string
	Deny   []string
	Allow  []string
	Reach  Reach
	Why    string
}

// Siblings forbids the packages directly below Parent to import each other, except the ones named Common, which hold
// what the others have in common.
type Siblings struct {
	Name   string
	Parent string
	Common []string
	Why    string
}

// Violation is one broken rule. Chain leads from the importing package to the forbidden one.
type Violation struct {
	Rule  string
	Chain []string
	Why   string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s (%s)", strings.Join(v.Chain, " imports "), v.Why, v.Rule)
}

// Check returns the violations in the order of the rules, then of the packages.
func Check(packages []Package, rules []Rule, siblings []Siblings) []Violation {
	g := graph{byPath: map[string]Package{}}
	for _, p := range packages {
		g.byPath[p.Path] = p
	}
	paths := make([]string, 0, len(packages))
	for _, p := range packages {
		paths = append(paths, p.Path)
	}
	slices.Sort(paths)
	var found []Violation
	for _, r := range rules {
		for _, path := range paths {
			if g.any(r.From, path) && !g.any(r.Except, path) {
				found = append(found, g.apply(r, path)...)
			}
		}
	}
	for _, s := range siblings {
		for _, path := range paths {
			found = append(found, g.applySiblings(s, path)...)
		}
	}
	return found
}

type graph struct{ byPath map[string]Package }

func (g graph) apply(r Rule, from string) []Violation {
	p := g.byPath[from]
	denied := func(path string) bool { return path != from && g.any(r.Deny, path) && !g.any(r.Allow, path) }
	if r.Reach == Transitive {
		return g.search(r, from, denied)
	}
	imports := slices.Clone(p.Imports)
	if r.Reach == WithTests {
		imports = append(imports, p.TestImports...)
	}
	slices.Sort(imports)
	var found []Violation
	for _, path := range slices.Compact(imports) {
		if denied(path) {
			found = append(found, Violation{r.Name, []string{from, path}, r.Why})
		}
	}
	return found
}

// search walks breadth first, so every chain is a shortest one. It does not look behind a forbidden package: the
// first forbidden link is the one to cut.
func (g graph) search(r Rule, from string, denied func(string) bool) []Violation {
	var found []Violation
	parent := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, path := range slices.Sorted(slices.Values(g.byPath[queue[0]].Imports)) {
			if _, seen := parent[path]; seen {
				continue
			}
			parent[path] = queue[0]
			if denied(path) {
				found = append(found, Violation{r.Name, chain(parent, path), r.Why})
				continue
			}
			queue = append(queue, path)
		}
	}
	return found
}

func chain(parent map[string]string, path string) []string {
	var links []string
	for ; path != ""; path = parent[path] {
		links = append(links, path)
	}
	slices.Reverse(links)
	return links
}

func (g graph) applySiblings(s Siblings, from string) []Violation {
	own, ok := childOf(s.Parent, from)
	if !ok {
		return nil
	}
	var found []Violation
	for _, path := range slices.Sorted(slices.Values(g.byPath[from].Imports)) {
		if other, ok := childOf(s.Parent, path); ok && other != own && !slices.Contains(s.Common, other) {
			found = append(found, Violation{s.Name, []string{from, path}, s.Why})
		}
	}
	return found
}

// childOf returns the name directly below parent that path belongs to.
func childOf(parent, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, full(parent)+"/")
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, "/")
	return name, true
}

func (g graph) any(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return g.matches(p, path) })
}

func (g graph) matches(pattern, path string) bool {
	ours := under(path, Root)
	standard := g.byPath[path].Standard || path == "C" || path == "unsafe"
	switch pattern {
	case "ours":
		return ours
	case "std":
		return standard
	case "third":
		return !ours && !standard
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return under(path, full(prefix))
	}
	return path == full(pattern)
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func full(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		return Root + "/" + rest
	}
	return pattern
}
