// Package strict reads JSON without forgiving anything.
//
// encoding/json keeps the last of two equal keys, matches field names in any
// letter case and replaces broken UTF-8 in silence. A document that decides
// what is asked and how it is graded must not have two readings, so this
// package parses into a tree that remembers where each value stands, refuses
// what is ambiguous, and hands values out by exact name.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Codes of the problems that this package reports. They are stable.
const (
	CodeSyntax    = "json_syntax"
	CodeEncoding  = "json_encoding"
	CodeDuplicate = "json_duplicate_key"
	CodeDepth     = "json_depth"
	CodeUnknown   = "field_unknown"
	CodeMissing   = "field_missing"
	CodeType      = "field_type"
	CodeRange     = "field_range"
)

// Problem is one reason to refuse a document. Path is dotted with [i] for
// array positions, "" for the document itself.
type Problem struct {
	Path    string
	Code    string
	Message string
	// At is where in the document the reading stopped, in bytes; 0 for a
	// problem that is found by its path.
	At int64
}

func (p *Problem) Error() string {
	if p.Path == "" {
		return fmt.Sprintf("%s (%s)", p.Message, p.Code)
	}
	return fmt.Sprintf("%s: %s (%s)", p.Path, p.Message, p.Code)
}

// Kind is the JSON type of a node.
type Kind uint8

// The JSON types.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "text", "an array", "an object"}[k]
}

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value *Node
}

// Node is one JSON value. Text is the string for String, the literal as
// written for Number, and "true" or "false" for Bool.
type Node struct {
	Path    string
	Kind    Kind
	Text    string
	Members []Member // in the order written
	Items   []*Node
	// At and End are the ends, in bytes of the document, of the value's first
	// and last token. A literal has one token.
	At, End int64
}

// Nearest is the node at path, or the innermost one around it.
func (n *Node) Nearest(path string) *Node {
	found := n
	for _, m := range n.Members {
		if within(path, m.Value.Path) {
			found = m.Value.Nearest(path)
		}
	}
	for _, it := range n.Items {
		if within(path, it.Path) {
			found = it.Nearest(path)
		}
	}
	return found
}

func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Get finds a member by its exact key, nil if there is none.
func (n *Node) Get(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// maxDepth bounds nesting, so that reading a document needs little stack.
const maxDepth = 64

// Parse reads exactly one JSON value that fills raw.
func Parse(raw []byte) (*Node, *Problem) {
	if !utf8.Valid(raw) {
		return nil, &Problem{Code: CodeEncoding, Message: "the text is not valid UTF-8"}
	}
	p := parser{dec: json.NewDecoder(bytes.NewReader(raw))}
	p.dec.UseNumber()
	n, prob := p.value("", 0)
	if prob != nil {
		return nil, prob
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &Problem{Code: CodeSyntax, Message: "there is more text after the JSON value", At: p.dec.InputOffset()}
	}
	return n, nil
}

type parser struct{ dec *json.Decoder }

func (p *parser) value(path string, depth int) (*Node, *Problem) {
	if depth > maxDepth {
		return nil, &Problem{Path: path, Code: CodeDepth, Message: fmt.Sprintf("nested deeper than %d levels", maxDepth), At: p.dec.InputOffset()}
	}
	tok, err := p.dec.Token()
	if err != nil {
		return nil, p.syntax(path, err)
	}
	at := p.dec.InputOffset()
	n := &Node{Path: path, At: at, End: at}
	switch t := tok.(type) {
	case nil:
		n.Kind = Null
	case bool:
		n.Kind, n.Text = Bool, strconv.FormatBool(t)
	case json.Number:
		n.Kind, n.Text = Number, t.String()
	case string:
		n.Kind, n.Text = String, t
	case json.Delim:
		if t == '[' {
			n.Kind = Array
			return n, p.items(n, depth)
		}
		n.Kind = Object
		return n, p.members(n, depth)
	}
	return n, nil
}

func (p *parser) items(n *Node, depth int) *Problem {
	for p.dec.More() {
		v, prob := p.value(n.Path+"["+strconv.Itoa(len(n.Items))+"]", depth+1)
		if prob != nil {
			return prob
		}
		n.Items = append(n.Items, v)
	}
	return p.closing(n)
}

func (p *parser) members(n *Node, depth int) *Problem {
	seen := map[string]bool{}
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return p.syntax(n.Path, err)
		}
		key, ok := tok.(string)
		if !ok {
			return &Problem{Path: n.Path, Code: CodeSyntax, Message: "an object key is not text", At: p.dec.InputOffset()}
		}
		path := Join(n.Path, key)
		if seen[key] {
			return &Problem{Path: path, Code: CodeDuplicate, Message: "the key stands twice", At: p.dec.InputOffset()}
		}
		seen[key] = true
		v, prob := p.value(path, depth+1)
		if prob != nil {
			return prob
		}
		n.Members = append(n.Members, Member{Key: key, Value: v})
	}
	return p.closing(n)
}

func (p *parser) closing(n *Node) *Problem {
	if _, err := p.dec.Token(); err != nil {
		return p.syntax(n.Path, err)
	}
	n.End = p.dec.InputOffset()
	return nil
}

// syntax never repeats the decoder's text, which can quote the document.
func (p *parser) syntax(path string, err error) *Problem {
	at := p.dec.InputOffset()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Problem{Path: path, Code: CodeSyntax, Message: fmt.Sprintf("the JSON ends too early, at byte %d", at), At: at}
	}
	return &Problem{Path: path, Code: CodeSyntax, Message: fmt.Sprintf("not valid JSON near byte %d", at), At: at}
}

// Join appends an object key to a path. A key that would make the path
// unreadable is quoted.
func Join(path, key string) string {
	if key == "" || bytes.ContainsAny([]byte(key), ".[]\" \t\r\n") || len(key) > 64 {
		if r := []rune(key); len(r) > 64 {
			key = string(r[:64])
		}
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
