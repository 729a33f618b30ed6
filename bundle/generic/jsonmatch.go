package generic

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// jsonMatch compares JSON values. The target is the text of a JSON object or
// array. Options:
//
//	fields       JSON Pointers of the values that are compared; default: all
//	extra        forbid (default) or allow: fields of objects that the target
//	             lacks; with fields, they are always allowed
//	ignore_case  default false, for text values
//	extraction   lenient (default) or strict: the whole answer is the value
//
// Numbers are equal by value (1 and 1.0), text after white space is squeezed,
// arrays in order, objects in any order. A number never equals text. Which
// part of an answer is taken is described at findJSON.
type jsonMatch struct {
	fields     []pointer
	allowExtra bool
	ignoreCase bool
	extraction
	id bundle.Identity
}

// pointer is a JSON Pointer (RFC 6901), taken apart.
type pointer []string

func newJSON(o options) *jsonMatch {
	g := &jsonMatch{
		allowExtra: o.f.OneOf("extra", "forbid", "allow") == "allow",
		ignoreCase: o.f.Flag("ignore_case", false),
		extraction: o.extraction(),
	}
	fields := o.f.Texts("fields")
	for i, s := range fields {
		if !strings.HasPrefix(s, "/") {
			o.r.Add(o.f.Path("fields")+"["+strconv.Itoa(i)+"]", strict.CodeRange, "want a JSON Pointer, which starts with /")
			continue
		}
		var p pointer
		for _, part := range strings.Split(s[1:], "/") {
			p = append(p, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
		g.fields = append(g.fields, p)
	}
	g.id = identity(JSONFieldMatch, map[string]any{"fields": fields, "extra": g.allowExtra, "ignore_case": g.ignoreCase, "extraction": g.extraction})
	return g
}

func (g *jsonMatch) Identity() bundle.Identity { return g.id }

func (g *jsonMatch) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	want := make([]*strict.Node, len(t.Target))
	for i, s := range t.Target {
		n, prob := strict.Parse([]byte(s))
		if prob != nil {
			return bundle.Verdict{}, fmt.Errorf("read target %d: %w", i, prob)
		}
		if len(n.Members) == 0 && len(n.Items) == 0 {
			return bundle.Verdict{}, fmt.Errorf("read target %d: want a JSON object or array that is not empty", i)
		}
		for _, p := range g.fields {
			if p.in(n) == nil {
				return bundle.Verdict{}, fmt.Errorf("read target %d: a compared field is missing", i)
			}
		}
		want[i] = n
	}
	found, how := findJSON(a.Text)
	if found.node == nil {
		none := reading{rule: how}
		return g.verdict(a, none, none), nil
	}
	lenient := g.match(want, found, how)
	strict := lenient
	if how != wholeText {
		strict = reading{rule: "the answer is more than a JSON value"}
	}
	return g.verdict(a, lenient, strict), nil
}

func (g *jsonMatch) match(want []*strict.Node, found located, how string) reading {
	where := ""
	for i, w := range want {
		diff := g.differs(w, found.node)
		if diff == "" {
			return reading{&found.at, true, equalRule(how, true)}
		}
		if i == 0 {
			where = diff
		}
	}
	return reading{&found.at, false, how + ", " + where}
}

// differs says where two values first differ, "" if they are equal.
func (g *jsonMatch) differs(want, got *strict.Node) string {
	if len(g.fields) == 0 {
		return g.compare(want, got)
	}
	for _, p := range g.fields {
		h := p.in(got)
		if h == nil {
			return "no /" + clip(strings.Join(p, "/"))
		}
		if d := g.compare(p.in(want), h); d != "" {
			return d
		}
	}
	return ""
}

func (g *jsonMatch) compare(want, got *strict.Node) string {
	if want.Kind != got.Kind {
		return at(want) + "another type"
	}
	switch want.Kind {
	case strict.Null:
		return ""
	case strict.Object:
		return g.compareObject(want, got)
	case strict.Array:
		if len(want.Items) != len(got.Items) {
			return at(want) + "another length"
		}
		for i := range want.Items {
			if d := g.compare(want.Items[i], got.Items[i]); d != "" {
				return d
			}
		}
		return ""
	case strict.Number:
		if !equalNumber(want.Text, got.Text) {
			return at(want) + "not equal"
		}
	case strict.String:
		x, y := strings.Join(strings.Fields(want.Text), " "), strings.Join(strings.Fields(got.Text), " ")
		if x != y && !(g.ignoreCase && foldCase(x) == foldCase(y)) {
			return at(want) + "not equal"
		}
	case strict.Bool:
		if want.Text != got.Text {
			return at(want) + "not equal"
		}
	}
	return ""
}

func (g *jsonMatch) compareObject(want, got *strict.Node) string {
	for _, m := range want.Members {
		h := got.Get(m.Key)
		if h == nil {
			return at(m.Value) + "missing"
		}
		if d := g.compare(m.Value, h); d != "" {
			return d
		}
	}
	if len(got.Members) > len(want.Members) && !g.allowExtra && len(g.fields) == 0 {
		return at(want) + "more fields than asked for"
	}
	return ""
}

// at words a place of the target for a rule.
func at(n *strict.Node) string {
	if n.Path == "" {
		return ""
	}
	return clip(n.Path) + ": "
}

func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// in finds the value that p points to, nil if there is none.
func (p pointer) in(n *strict.Node) *strict.Node {
	for _, part := range p {
		switch {
		case n == nil:
			return nil
		case n.Kind == strict.Array:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil
			}
			n = n.Items[i]
		default:
			n = n.Get(part)
		}
	}
	return n
}

// equalNumber compares JSON numbers by value. Beyond the bounds only the same
// spelling is equal.
func equalNumber(x, y string) bool {
	if x == y {
		return true
	}
	a, okA := boundedRat(x)
	b, okB := boundedRat(y)
	return okA && okB && a.Cmp(b) == 0
}

func boundedRat(s string) (*big.Rat, bool) {
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	if exp == "" {
		exp = "0"
	}
	v, err := strconv.Atoi(exp)
	if err != nil || v < -maxExponent || v > maxExponent || len(mantissa) > maxDigits {
		return nil, false
	}
	return rat(s), true
}

// located is a JSON value and where it stands.
type located struct {
	at   region
	node *strict.Node
}

// findJSON takes the answer's value: the whole text; else the last block
// between fences at line starts that are bare or say json; else the last
// object that stands in the prose. A duplicate key makes a text no value. The
// search gives up loudly on a text with more openings than any honest answer
// has, so that padding cannot push the real candidate out of sight.
func findJSON(text string) (located, string) {
	whole := trimRegion(text, region{0, len(text)}, jsonSpace)
	if n := container(text, whole); n != nil {
		return located{whole, n}, wholeText
	}
	blocks := fences(text)
	for i := len(blocks) - 1; i >= 0; i-- {
		if n := container(text, blocks[i]); n != nil {
			return located{blocks[i], n}, "fenced block"
		}
	}
	return lastObject(text)
}

// wholeText words that nothing stands around the value.
const wholeText = "whole text"

func jsonSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\r' || r == '\t' || r == '\ufeff' }

// container parses a part that is a whole object or array.
func container(text string, r region) *strict.Node {
	if r.empty() || text[r.from] != '{' && text[r.from] != '[' {
		return nil
	}
	n, prob := strict.Parse([]byte(text[r.from:r.to]))
	if prob != nil {
		return nil
	}
	return n
}

// fences lists the contents of the closed ``` or ~~~ blocks of a text that may
// hold JSON. Fences inside a line, and so inside a JSON string, are text.
func fences(text string) []region {
	var out []region
	open, mark, wanted := -1, "", false
	for i := 0; i < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
		}
		line := strings.TrimSpace(text[i:end])
		switch {
		case open < 0 && (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")):
			mark = line[:3]
			info := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, mark[:1])))
			wanted = info == "" || info == "json" || info == "jsonc" || info == "json5"
			open = end
		case open >= 0 && strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "":
			if wanted {
				out = append(out, trimRegion(text, region{min(open+1, i), i}, jsonSpace))
			}
			open = -1
		}
		i = end + 1
	}
	return out
}

// Limits of the search in prose: openings tried, and bytes looked at beyond a
// multiple of the length of the text.
const (
	maxOpenings = 1000
	scanFactor  = 8
	scanBase    = 1 << 20
)

// lastObject decodes at every brace that does not stand inside an object
// already taken.
func lastObject(text string) (located, string) {
	var last located
	budget := scanFactor*len(text) + scanBase
	for i, openings := 0, 0; i < len(text); {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			break
		}
		i += n
		openings++
		var raw json.RawMessage
		src := strings.NewReader(text[i:])
		err := json.NewDecoder(src).Decode(&raw)
		budget -= len(text) - i - src.Len() // what the decoder read, ahead included
		if budget < 0 || openings > maxOpenings {
			return located{}, "too many candidates for a JSON object"
		}
		if err != nil {
			i++
			continue
		}
		r := region{i, i + len(raw)}
		if node := container(text, r); node != nil {
			last = located{r, node}
		}
		i = r.to
	}
	if last.node == nil {
		return last, "no JSON object"
	}
	return last, "last object in the text"
}
