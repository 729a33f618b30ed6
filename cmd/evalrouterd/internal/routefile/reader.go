package routefile

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// reader walks the nodes of a document and remembers what is wrong.
type reader struct{ problems []Problem }

// node is a value with its path, such as routes[0].prices.
type node struct {
	*yaml.Node
	path string
}

func (r *reader) add(line int, path, what string) {
	r.problems = append(r.problems, Problem{line, path, what})
}

// fail notes what is wrong with a node, or with a name below it.
func (r *reader) fail(n node, below, what string) {
	path := n.path
	if below != "" {
		path = join(path, below)
	}
	line := 1
	if n.Node != nil {
		line = n.Line
	}
	r.add(line, path, what)
}

// at is n where it exists, and otherwise its parent, for a place to name.
func at(n, parent node) node {
	if n.Node == nil {
		return parent
	}
	return node{n.Node, parent.path}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// plainNode refuses what this file has no use for.
func (r *reader) plainNode(n node) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, "", "anchors and aliases are not read; write the value again")
	case n.Tag != "" && !strings.HasPrefix(n.Tag, "!!"):
		r.fail(n, "", "types of YAML's own are not read")
	default:
		return true
	}
	return false
}

// entries yields the names and values of a mapping, each name once.
func (r *reader) entries(n node) iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		if !r.plainNode(n) {
			return
		}
		if n.Kind != yaml.MappingNode {
			r.fail(n, "", "must be a list of names and values")
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			name := shown(k.Value)
			child := node{v, join(n.path, name)}
			switch {
			case k.Kind != yaml.ScalarNode || k.Value == "" || k.Tag == "!!merge":
				r.fail(node{k, n.path}, "", "a name must be a word")
			case seen[k.Value]:
				r.fail(node{k, child.path}, "", "stands here twice")
			case r.plainNode(child):
				seen[k.Value] = true
				if !yield(k.Value, child) {
					return
				}
			}
		}
	}
}

// shown is a name as it may stand in an error: a name that is none of ours may
// be anything.
func shown(name string) string {
	name = string(plain.Line(name))
	if utf8.RuneCountInString(name) > 40 {
		return "(a long name)"
	}
	return name
}

// fields are the entries of a mapping whose names are known.
func (r *reader) fields(n node, known ...string) map[string]node {
	out := map[string]node{}
	for name, v := range r.entries(n) {
		if !slices.Contains(known, name) {
			if !simple.MatchString(name) { // it may be a secret in a strange place
				v.path = join(n.path, "(a name)")
			}
			r.fail(v, "", "is not known; known here are "+strings.Join(known, ", "))
			continue
		}
		out[name] = v
	}
	return out
}

// simple is what the names of this file look like.
var simple = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)

// items are the elements of a list.
func (r *reader) items(n node) []node {
	if !r.plainNode(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, "", "must be a list of at least one entry")
		return nil
	}
	var out []node
	for i, c := range n.Content {
		item := node{c, fmt.Sprintf("%s[%d]", n.path, i)}
		if r.plainNode(item) {
			out = append(out, item)
		}
	}
	return out
}

// scalar is the text of a field. ok is false where it is absent or no scalar.
func (r *reader) scalar(f map[string]node, parent node, name string, needed bool) (string, bool) {
	n, ok := f[name]
	switch {
	case !ok && needed:
		r.fail(parent, name, "is missing")
		return "", false
	case !ok:
		return "", false
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		r.fail(n, "", "must be a single value")
		return "", false
	}
	return n.Value, true
}

// text reads one line of text.
func (r *reader) text(f map[string]node, parent node, name string, needed bool) string {
	v, ok := r.scalar(f, parent, name, needed)
	if ok && (strings.TrimSpace(v) == "" || utf8.RuneCountInString(v) > 200 || string(plain.Line(v)) != v) {
		r.fail(f[name], "", "is one line of 1 to 200 characters")
		return ""
	}
	return v
}

// choice reads one of some words; the default stands for an absent one, and ""
// means that there is none.
func (r *reader) choice(f map[string]node, parent node, name, otherwise string, words ...string) string {
	v, ok := r.scalar(f, parent, name, otherwise == "")
	switch {
	case !ok:
		return otherwise
	case !slices.Contains(words, v):
		r.fail(f[name], "", "is one of "+strings.Join(words, ", "))
		return ""
	}
	return v
}

// integer reads a whole number; 0 as the default means that one is needed.
func (r *reader) integer(f map[string]node, parent node, name string, otherwise, least, most int) int {
	v, ok := r.scalar(f, parent, name, otherwise == 0)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || strconv.Itoa(n) != v || n < least || n > most {
		r.fail(f[name], "", fmt.Sprintf("is a whole number from %d to %d", least, most))
		return otherwise
	}
	return n
}

func (r *reader) boolean(f map[string]node, name string) bool {
	v, ok := r.scalar(f, node{}, name, false)
	if ok && v != "true" && v != "false" {
		r.fail(f[name], "", "is true or false")
	}
	return v == "true"
}

// dollars reads an amount in dollars, exactly; a negative default means that
// one is needed.
func (r *reader) dollars(f map[string]node, parent node, name string, otherwise usd.PerMillion) usd.PerMillion {
	v, ok := r.scalar(f, parent, name, otherwise < 0)
	if !ok {
		return max(otherwise, 0)
	}
	m, err := usd.Parse(v)
	if err != nil || m > 1_000_000*usd.Dollar {
		r.fail(f[name], "", "is an amount in US dollars such as 1.25, with at most six decimals")
		return max(otherwise, 0)
	}
	return usd.PerMillion(m)
}

// words reads a list of different words.
func (r *reader) words(f map[string]node, parent node, name string) []string {
	n, ok := f[name]
	if !ok {
		r.fail(parent, name, "is missing")
		return nil
	}
	var out []string
	for _, item := range r.items(n) {
		if item.Kind != yaml.ScalarNode || !label.MatchString(item.Value) || slices.Contains(out, item.Value) {
			r.fail(item, "", "is a word that stands here once")
			continue
		}
		out = append(out, item.Value)
	}
	return out
}
