package draft7

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// target is where a reference leads: the address that becomes the scope, and
// the node, or what following it raises.
type target struct {
	url string
	n   *node
	err error
}

// ref compiles a reference. In a schema without identifiers every reference is
// resolved once, here. Identifiers open scopes, and the reference resolves
// against the scope that validation is in, so there it is done on the way.
func (c *compiler) ref(v any) check {
	text, ok := v.(string)
	if !ok {
		return malformed(v, anything)
	}
	if c.schema.dynamic {
		return func(r *run, instance any, every bool) (bool, error) {
			t := r.resolve(text)
			if t.err != nil {
				return false, t.err
			}
			r.push(t.url)
			ok, err := r.descend(t.n, instance, every)
			r.pop()
			return ok, err
		}
	}
	t := c.resolve(strings.TrimRight(text, "/"))
	return func(r *run, instance any, every bool) (bool, error) {
		if t.err != nil {
			return false, t.err
		}
		return r.descend(t.n, instance, every)
	}
}

// resolve finds an absolute address among the documents at hand.
func (c *compiler) resolve(url string) target {
	base, fragment := splitFragment(url)
	document := c.schema.root
	switch {
	case base == "" || c.schema.dynamic && base == withoutFragment(idOf(c.schema.root)):
	case base == metaURI && c.schema.meta != nil:
		m := c.schema.meta()
		c, document = &compiler{schema: m, nodes: map[*value.Dict]*node{}}, m.root
	default:
		return target{err: pycompat.Raise("RefResolutionError", "%s is not at hand", value.Repr(base))}
	}
	v, err := lookUp(document, fragment)
	if err != nil {
		return target{err: err}
	}
	return target{url: url, n: c.node(v)}
}

func (r *run) push(scope string) { r.scopes = append(r.scopes, join(r.scope(), scope)) }
func (r *run) pop()              { r.scopes = r.scopes[:len(r.scopes)-1] }
func (r *run) scope() string     { return r.scopes[len(r.scopes)-1] }

// resolve resolves a reference against the current scope. The first answer for
// an address stays, even if another scope would have given another.
func (r *run) resolve(ref string) target {
	url := strings.TrimRight(join(r.scope(), ref), "/")
	if t, ok := r.found[url]; ok {
		return t
	}
	t, ok := r.byIdentifier(url)
	if !ok {
		t = r.compiler.resolve(url)
	}
	r.found[url] = t
	return t
}

// byIdentifier looks for a subschema whose identifier, taken relative to the
// current scope, is url.
func (r *run) byIdentifier(url string) (target, bool) {
	base, fragment := splitFragment(url)
	for d := range objects(r.schema.root) {
		v, ok := d.Get("$id")
		if !ok {
			continue
		}
		id, ok := v.(string)
		if !ok {
			return target{err: badIdentifier(v)}, true
		}
		if strings.TrimRight(join(r.scope(), id), "/") != strings.TrimRight(base, "/") {
			continue
		}
		found, err := lookUp(d, fragment)
		if err != nil {
			return target{err: err}, true
		}
		return target{url: url, n: r.compiler.node(found)}, true
	}
	return target{}, false
}

// badIdentifier is what joining an identifier that is no text raises.
func badIdentifier(v any) error {
	class := "AttributeError"
	if isObject(v) || isArray(v) {
		class = "TypeError"
	}
	return pycompat.Raise(class, "cannot join an identifier of type '%s'", value.TypeName(v))
}

// lookUp finds a fragment in a document: an anchor, an identifier that is only
// a fragment, or a JSON pointer, in this order.
func lookUp(document any, fragment string) (any, error) {
	fragment = strings.TrimLeft(fragment, "/")
	if fragment == "" {
		return document, nil
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor", "id", "$id"} {
		want := fragment
		if strings.HasSuffix(key, "id") {
			want = "#" + fragment
		}
		for d := range objects(document) {
			if v, _ := d.Get(key); v == any(want) {
				return d, nil
			}
		}
	}
	for part := range strings.SplitSeq(unquote(fragment), "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		next, ok := member(document, part)
		if !ok {
			return nil, pycompat.Raise("RefResolutionError", "unresolvable JSON pointer: %s", value.Repr(fragment))
		}
		document = next
	}
	return document, nil
}

func member(v any, part string) (any, bool) {
	switch v := v.(type) {
	case *value.Dict:
		return v.Get(part)
	case []any:
		n, err := number.ParseInt(part)
		if err != nil || !n.IsInt64() {
			return nil, false
		}
		i := n.Int64()
		if i < 0 {
			i += int64(len(v)) // Python counts from the end
		}
		if i < 0 || i >= int64(len(v)) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// objects ranges over the objects of a document that can be reached through
// objects alone, in breadth-first order: what stands in lists is not searched
// for identifiers.
func objects(document any) func(yield func(*value.Dict) bool) {
	return func(yield func(*value.Dict) bool) {
		queue := []any{document}
		for len(queue) > 0 {
			d, ok := queue[0].(*value.Dict)
			queue = queue[1:]
			if !ok {
				continue
			}
			if !yield(d) {
				return
			}
			for _, v := range d.All() {
				queue = append(queue, v)
			}
		}
	}
}

// hasScopes reports whether references in schema depend on scopes: it has an
// identifier somewhere, in lists too, or a reference to nothing, which means
// the scope itself.
func hasScopes(schema any) bool {
	switch v := schema.(type) {
	case []any:
		for _, item := range v {
			if hasScopes(item) {
				return true
			}
		}
	case *value.Dict:
		if _, ok := v.Get("$id"); ok {
			return true
		}
		if ref, ok := v.Get("$ref"); ok && ref == any("") {
			return true
		}
		for _, item := range v.All() {
			if hasScopes(item) {
				return true
			}
		}
	}
	return false
}

func idOf(schema any) string {
	if d, ok := schema.(*value.Dict); ok {
		v, _ := d.Get("$id")
		id, _ := v.(string)
		return id
	}
	return ""
}
