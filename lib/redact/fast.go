package redact

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// plain is the way of values in which there is nothing to do but to sort
// members, which most are. It makes no tree. Whatever needs a thought, and all
// that is unusual, makes it give up: then walk decides, which alone knows the
// rules. What it does return is what walk would return.
type plain struct {
	r       *Redactor
	in      string
	at      int
	out     []byte
	members []member
	names   []string // of the objects of a tree that are being written
	spare   []byte
}

// member is a member of an object whose value is written: out[from:to].
type member struct {
	name     string
	from, to int
}

// fast returns the canonical form of b, or false.
func (r *Redactor) fast(b []byte) ([]byte, bool) {
	if !utf8.Valid(b) || len(b) > 2*r.limits.Value {
		return nil, false
	}
	p := r.take()
	defer r.give(p)
	p.in, p.at, p.members = string(b), 0, p.members[:0]
	p.out = make([]byte, 0, len(b))
	ok := p.value(0)
	if p.space(); !ok || p.at != len(p.in) || len(p.out) > r.limits.Value {
		return nil, false
	}
	return p.out, true
}

func (r *Redactor) take() *plain {
	p, ok := r.plains.Get().(*plain)
	if !ok {
		p = new(plain)
	}
	p.r = r
	return p
}

// give keeps the room that a value took for the next one.
func (r *Redactor) give(p *plain) {
	p.in, p.r, p.out = "", nil, nil
	clear(p.members[:cap(p.members)])
	clear(p.names[:cap(p.names)])
	if cap(p.spare) <= 64<<10 && cap(p.members) <= 1024 && cap(p.names) <= 1024 {
		r.plains.Put(p)
	}
}

// space skips white space and returns what is next, 0 at the end.
func (p *plain) space() byte {
	for ; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (p *plain) value(depth int) bool {
	switch c := p.space(); {
	case c == '{':
		return depth < p.r.limits.Depth && p.object(depth)
	case c == '[':
		return depth < p.r.limits.Depth && p.array(depth)
	case c == '"':
		_, ok := p.text()
		return ok
	case c == 't':
		return p.literal("true")
	case c == 'f':
		return p.literal("false")
	case c == 'n':
		return p.literal("null")
	}
	return p.number()
}

func (p *plain) literal(word string) bool {
	if !strings.HasPrefix(p.in[p.at:], word) {
		return false
	}
	p.out = append(p.out, word...)
	p.at += len(word)
	return true
}

// number copies a number as it is spelt.
func (p *plain) number() bool {
	from := p.at
	p.skip("-")
	whole := p.digits()
	if whole == 0 || whole > 1 && p.in[p.at-whole] == '0' {
		return false
	}
	if p.skip(".") && p.digits() == 0 {
		return false
	}
	if p.skip("eE") {
		p.skip("+-")
		if p.digits() == 0 {
			return false
		}
	}
	p.out = append(p.out, p.in[from:p.at]...)
	return p.at-from <= 64
}

func (p *plain) skip(any string) bool {
	if p.at < len(p.in) && strings.IndexByte(any, p.in[p.at]) >= 0 {
		p.at++
		return true
	}
	return false
}

func (p *plain) digits() (n int) {
	for ; p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9'; p.at++ {
		n++
	}
	return n
}

// text copies a text in which there is nothing to find, and returns what it
// says.
func (p *plain) text() (string, bool) {
	raw, escaped, ok := p.quoted()
	if !ok {
		return "", false
	}
	s := raw
	if escaped {
		s = unescape.Replace(raw)
	}
	if !p.r.stays(s) {
		return "", false
	}
	p.out = append(p.out, '"')
	p.out = append(p.out, raw...)
	p.out = append(p.out, '"')
	return s, true
}

// stays says that a text is within its bound and that there is nothing to find
// in it.
func (r *Redactor) stays(s string) bool {
	if len(s) > r.limits.String || looksJSON(s) || asBlob(s) != nil || hidden(s) {
		return false
	}
	clean, n := scrub(s)
	return n == 0 && clean == s
}

// unescape knows the escapes that quoted lets through.
var unescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\b`, "\b", `\f`, "\f")

// quoted reads a text that is spelt as encode would spell it.
func (p *plain) quoted() (raw string, escaped, ok bool) {
	p.at++
	for from := p.at; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return p.in[from : p.at-1], escaped, true
		case c == '\\':
			if p.at++; p.at == len(p.in) || strings.IndexByte(`"\nrtbf`, p.in[p.at]) < 0 {
				return "", false, false
			}
			escaped = true
		case c < ' ':
			return "", false, false
		case c == 0xE2 && strings.HasPrefix(p.in[p.at+1:], "\x80") && (p.in[p.at+2] == 0xA8 || p.in[p.at+2] == 0xA9):
			return "", false, false // line separators, which encode escapes
		}
	}
	return "", false, false
}

func (p *plain) array(depth int) bool {
	p.at++
	p.out = append(p.out, '[')
	if p.space() == ']' {
		p.at++
		p.out = append(p.out, ']')
		return true
	}
	for n := 1; ; n++ {
		if n > p.r.limits.Items {
			return false
		}
		if p.space() == '"' {
			s, ok := p.text()
			if !ok || p.mayName(s) {
				return false
			}
		} else if !p.value(depth + 1) {
			return false
		}
		switch p.space() {
		case ',':
			p.out = append(p.out, ',')
		case ']':
			p.at++
			p.out = append(p.out, ']')
			return true
		default:
			return false
		}
		p.at++
	}
}

// mayName says that what follows a text in a list may be the value of the
// sensitive field that it names.
func (p *plain) mayName(s string) bool {
	if len(s) > maxName || strings.ContainsAny(s, " =:\n") {
		return false
	}
	if len(s) < 3 && len(p.r.fields) == 0 {
		return false // no rule of ours is that short
	}
	_, found := p.r.match(s, false)
	return found
}

func (p *plain) object(depth int) bool {
	p.at++
	p.out = append(p.out, '{')
	start, base := len(p.out), len(p.members)
	if p.space() == '}' {
		p.at++
		p.out = append(p.out, '}')
		return true
	}
	for {
		if len(p.members)-base == p.r.limits.Keys || !p.member(depth) {
			return false
		}
		switch p.space() {
		case ',':
			p.out = append(p.out, ',')
		case '}':
			p.at++
			if !p.sort(start, base) {
				return false
			}
			p.out = append(p.out, '}')
			return true
		default:
			return false
		}
		p.at++
	}
}

func (p *plain) member(depth int) bool {
	from := len(p.out)
	if p.space() != '"' {
		return false
	}
	name, escaped, ok := p.quoted()
	if !ok || escaped || !p.r.harmlessName(name) || p.space() != ':' {
		return false
	}
	p.at++
	p.out = append(p.out, '"')
	p.out = append(p.out, name...)
	p.out = append(p.out, '"', ':')
	if p.space() == '"' {
		s, ok := p.text()
		if !ok || namesAnother(name) && p.mayPair(s) {
			return false
		}
	} else if !p.value(depth + 1) {
		return false
	}
	p.members = append(p.members, member{name, from, len(p.out)})
	return true
}

// namesAnother and mayPair recognise what walk's pair does: a member whose value
// is the name of a sensitive field.
func namesAnother(name string) bool {
	return oneOf(name, "name", "key", "header", "field", "Name", "Key")
}

func (p *plain) mayPair(s string) bool {
	if len(s) > maxName {
		return false
	}
	_, found := match(s)
	return found
}

// sort puts the members of an object in order. It fails where two have one name.
func (p *plain) sort(start, base int) bool {
	list := p.members[base:]
	defer func() { p.members = p.members[:base] }()
	byName := func(a, b member) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(list, byName) {
		slices.SortFunc(list, byName)
		p.spare = append(p.spare[:0], p.out[start:]...)
		p.out = p.out[:start]
		for i, m := range list {
			if i > 0 {
				p.out = append(p.out, ',')
			}
			p.out = append(p.out, p.spare[m.from-start:m.to-start]...)
		}
	}
	for i := 1; i < len(list); i++ {
		if list[i].name == list[i-1].name {
			return false
		}
	}
	return true
}

// maxNames bounds the names that a Redactor remembers.
const maxNames = 1024

// names remembers which names of members need no thought. Reading it takes no
// lock, because it is read for every member.
type names struct {
	known atomic.Pointer[map[string]bool]
	mu    sync.Mutex
}

// harmlessName says that a member of this name stays as it is, whatever stands
// around it, and that its value is no headers.
func (r *Redactor) harmlessName(name string) bool {
	known := r.names.known.Load()
	if known != nil {
		if is, ok := (*known)[name]; ok {
			return is
		}
	}
	is := r.judgeName(name)
	if len(name) > maxName {
		return is
	}
	r.names.mu.Lock()
	defer r.names.mu.Unlock()
	next := map[string]bool{}
	if known = r.names.known.Load(); known != nil {
		if len(*known) >= maxNames {
			return is
		}
		next = maps.Clone(*known)
	}
	next[strings.Clone(name)] = is
	r.names.known.Store(&next)
	return is
}

func (r *Redactor) judgeName(name string) bool {
	if len(name) > maxName || strings.HasPrefix(name, "$") || carriesHeaders(name) {
		return false
	}
	if _, found := r.match(name, true); found {
		return false
	}
	clean, n := scrub(name)
	return n == 0 && clean == name
}
