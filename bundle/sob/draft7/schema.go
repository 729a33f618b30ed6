// Package draft7 validates JSON values against JSON Schema draft 7 exactly as
// python-jsonschema 4.10.3 does, which is the validator that the published
// scores of the Structured Output Benchmark were computed with.
//
// What that means, where it is not what the specification says or what other
// validators do:
//
//   - Keywords run in the order in which the schema has them, and validation
//     ends at the first violation. A keyword behind it that would raise, such
//     as a reference that leads nowhere, is then never reached. anyOf and oneOf
//     look at every violation of a branch, so there it is.
//   - A float without a fraction is an integer. A bool is never a number, yet
//     enum compares what is inside lists and objects as Python does, where
//     true equals 1; const and uniqueItems keep them apart at every depth.
//   - multipleOf with a float divides and compares, so 0.3 is no multiple of 0.1.
//   - Patterns are Python's, searched and not anchored; those of
//     patternProperties are joined by | when additional properties are told.
//   - format asserts nothing. Keywords beside $ref are ignored.
//   - $schema at the root changes nothing.
//
// Nothing is ever fetched. A reference that leaves the document is an error
// unless it names the draft 7 meta-schema.
//
// What raises in the reference is an error here, with the class of the Python
// exception (see package pycompat), and says nothing about the instance. Three
// errors are our own: ErrBudget, ErrDraft, and the budget of package re.
// RecursionError comes at the depth that the reference has when it is called as
// the benchmark calls it; one level more or less is possible.
package draft7

import (
	"errors"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// ErrBudget says that a validation took more steps than any honest schema
// needs: branches that multiply, or a uniqueness check over a huge list.
var ErrBudget = errors.New("schema_budget: the validation was given up after too many steps")

// ErrDraft says that validation reached a subschema which declares another
// draft. The reference switches its rules there; this package does not.
var ErrDraft = errors.New("schema_draft: a subschema declares another draft than 7")

const (
	// budget is in evaluated subschemas and comparisons of elements.
	budget = 5_000_000
	// maxDepth is how many subschemas may nest: CPython's limit of 1000 frames
	// at three frames for each.
	maxDepth = 329
)

// Schema is a compiled schema. It may be used by several goroutines, as long
// as nobody changes the value it was compiled from.
type Schema struct {
	root    any
	top     *node
	dynamic bool // references depend on where validation came from
	meta    func() *Schema
}

// Compile makes a schema ready. It accepts anything: what is not a schema
// raises when validation reaches it, as in the reference.
func Compile(schema any) *Schema { return compile(schema, meta) }

func compile(schema any, meta func() *Schema) *Schema {
	s := &Schema{root: schema, dynamic: meta != nil && hasScopes(schema), meta: meta}
	c := &compiler{schema: s, nodes: map[*value.Dict]*node{}}
	s.top = c.node(schema)
	return s
}

// Validate reports whether instance is valid. After an error the report means
// nothing.
func (s *Schema) Validate(instance any) (bool, error) {
	r := &run{schema: s, left: budget}
	if s.dynamic {
		base := idOf(s.root)
		r.scopes = []string{base}
		// Targets are compiled on the way, for this run alone.
		r.compiler = &compiler{schema: s, nodes: map[*value.Dict]*node{}}
		r.found = map[string]target{}
	}
	return r.eval(s.top, instance, false)
}

// Check reports whether schema is an object that meets the meta-schema of
// draft 7. A schema that nests too deeply to be checked does not.
func Check(schema any) bool {
	if !isObject(schema) {
		return false
	}
	ok, err := meta().Validate(schema)
	return ok && err == nil
}

// node is a compiled subschema.
type node struct {
	kind   kind
	err    error // raised when reached: the value is no schema
	id     string
	draft  bool // declares another draft; an error unless it is the root
	checks []check
}

type kind uint8

const (
	object kind = iota
	always
	never
)

// check is a compiled keyword. It reports whether instance meets it. With
// every set it must go on after a violation, because something later may raise.
type check func(r *run, instance any, every bool) (bool, error)

// run is the state of one validation.
type run struct {
	schema *Schema
	depth  int
	left   int // steps

	// For schemas whose references depend on scopes:
	scopes   []string
	compiler *compiler
	found    map[string]target
}

func (r *run) spend(steps int) error {
	if r.left -= steps; r.left < 0 {
		return ErrBudget
	}
	return nil
}

// eval validates against n. State that an error leaves behind does not matter:
// errors end the run.
func (r *run) eval(n *node, instance any, every bool) (bool, error) {
	if n.err != nil {
		return false, n.err
	}
	if n.kind != object {
		return n.kind == always, nil
	}
	if err := r.spend(1); err != nil {
		return false, err
	}
	if r.depth++; r.depth > maxDepth {
		return false, pycompat.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	scoped := n.id != "" && r.scopes != nil
	if scoped {
		r.push(n.id)
	}
	ok := true
	for _, c := range n.checks {
		good, err := c(r, instance, every)
		if err != nil {
			return false, err
		}
		if !good {
			ok = false
			if !every {
				break
			}
		}
	}
	if scoped {
		r.pop()
	}
	r.depth--
	return ok, nil
}

// descend is eval for a subschema.
func (r *run) descend(n *node, instance any, every bool) (bool, error) {
	if n.draft {
		return false, ErrDraft
	}
	return r.eval(n, instance, every)
}

// valid is descend up to the first violation.
func (r *run) valid(n *node, instance any) (bool, error) { return r.descend(n, instance, false) }
