package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fastTree is fast for a value that is decoded already: its canonical form, or
// false where something needs a thought. What it returns is what walk would
// return.
func (r *Redactor) fastTree(v any) ([]byte, bool) {
	p := r.take()
	defer r.give(p)
	p.out = p.spare[:0]
	ok := p.tree(v, 0)
	p.spare = p.out[:0]
	if !ok || len(p.out) > r.limits.Value {
		return nil, false
	}
	return bytes.Clone(p.out), true
}

func (p *plain) tree(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		return p.say(v)
	case map[string]any:
		return depth < p.r.limits.Depth && p.table(v, depth)
	case []any:
		return depth < p.r.limits.Depth && p.elements(v, depth)
	case json.Number:
		p.in, p.at = string(v), 0
		return p.number() && p.at == len(p.in)
	case int64:
		p.out = strconv.AppendInt(p.out, v, 10)
	case bool:
		p.out = strconv.AppendBool(p.out, v)
	case nil:
		p.out = append(p.out, "null"...)
	case float64:
		b, err := json.Marshal(v)
		p.out = append(p.out, b...)
		return err == nil
	default:
		return false
	}
	return len(p.out) <= p.r.limits.Value
}

func (p *plain) table(v map[string]any, depth int) bool {
	if len(v) > p.r.limits.Keys {
		return false
	}
	base := len(p.names)
	for name := range v {
		p.names = append(p.names, name)
	}
	defer func() { p.names = p.names[:base] }()
	list := p.names[base:]
	slices.Sort(list)
	p.out = append(p.out, '{')
	for i, name := range list {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		if !p.r.harmlessName(name) || !p.quote(name) {
			return false
		}
		p.out = append(p.out, ':')
		one := v[name]
		if s, ok := one.(string); ok && namesAnother(name) && p.mayPair(s) || !p.tree(one, depth+1) {
			return false
		}
	}
	p.out = append(p.out, '}')
	return true
}

func (p *plain) elements(v []any, depth int) bool {
	if len(v) > p.r.limits.Items {
		return false
	}
	p.out = append(p.out, '[')
	for i, one := range v {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		if s, ok := one.(string); ok && p.mayName(s) || !p.tree(one, depth+1) {
			return false
		}
	}
	p.out = append(p.out, ']')
	return true
}

// say writes a text in which there is nothing to find.
func (p *plain) say(s string) bool { return p.r.stays(s) && p.quote(s) }

// quote writes a text as encode spells it. It fails for what is seldom.
func (p *plain) quote(s string) bool {
	if !utf8.ValidString(s) || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029") {
		return false
	}
	p.out = append(p.out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		at := strings.IndexByte("\"\\\n\r\t\b\f", c)
		if at < 0 {
			return false
		}
		p.out = append(append(p.out, s[from:i]...), '\\', `"\nrtbf`[at])
		from = i + 1
	}
	p.out = append(append(p.out, s[from:]...), '"')
	return true
}
