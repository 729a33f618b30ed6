package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Version names the rules of this package. It changes with every change of a
// rule, so that stored content says by which rules it was redacted.
const Version = "evalrouter.redact.v1"

// Limits bound what is kept of one value. Zero means the default.
type Limits struct {
	// Input is the most bytes of JSON that are read at all (4 MiB).
	Input int
	// Value is the most bytes of the result (64 KiB, at least 256).
	Value int
	// String is the most bytes of one text (16 KiB, at least 64).
	String int
	// Depth is how many objects and arrays may be inside each other (16).
	Depth int
	// Keys and Items are the most members of one object (200) and elements of
	// one array (500).
	Keys, Items int
}

// Config is what may differ between users of the package.
type Config struct {
	Limits Limits
	// Fields are further sensitive names, compared by their words.
	Fields []string
}

// Counts says what was done to one or more values.
type Counts struct {
	Fields    int `json:"fields"`    // fields with a sensitive name
	Values    int `json:"values"`    // parts of texts
	Truncated int `json:"truncated"` // marks of a bound
	Errors    int `json:"errors"`    // values lost to an error
}

// Add sums.
func (c *Counts) Add(d Counts) {
	c.Fields += d.Fields
	c.Values += d.Values
	c.Truncated += d.Truncated
	c.Errors += d.Errors
}

// Redactor applies one configuration. It is safe for concurrent use.
type Redactor struct {
	limits  Limits
	fields  map[string]bool
	profile string
	names   names
	plains  sync.Pool // of *plain
}

// New fills the defaults.
func New(cfg Config) *Redactor {
	l := cfg.Limits
	fill(&l.Input, 4<<20, 1)
	fill(&l.Value, 64<<10, 256)
	fill(&l.String, 16<<10, 64)
	fill(&l.Depth, 16, 1)
	fill(&l.Keys, 200, 2)
	fill(&l.Items, 500, 2)
	r := &Redactor{limits: l, fields: map[string]bool{}}
	for _, f := range cfg.Fields {
		r.fields[strings.Join(split(f), "_")] = true
	}
	names := make([]string, 0, len(r.fields))
	for n := range r.fields {
		names = append(names, n)
	}
	slices.Sort(names)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %q", Version, l, names))
	r.profile = hex.EncodeToString(sum[:8])
	return r
}

func fill(p *int, otherwise, least int) {
	if *p == 0 {
		*p = otherwise
	}
	*p = max(*p, least)
}

// Profile identifies the rules with this configuration, 16 hex digits. Equal
// input under an equal profile gives equal bytes.
func (r *Redactor) Profile() string { return r.profile }

// Field says whether this configuration hides a field of this name, and by
// which rule.
func (r *Redactor) Field(name string) (rule string, hidden bool) { return r.match(name, false) }

// JSON redacts one JSON value. What is no JSON is treated as text. The result
// is canonical JSON of at most Limits.Value bytes.
func (r *Redactor) JSON(b []byte) (out []byte, n Counts) {
	defer func() {
		if recover() != nil {
			out, n = []byte(`{"$redacted":"error"}`), Counts{Errors: 1}
		}
	}()
	if len(bytes.TrimSpace(b)) == 0 {
		return []byte("null"), Counts{}
	}
	if len(b) > r.limits.Input {
		return oversize(len(b)), Counts{Truncated: 1}
	}
	if out, ok := r.fast(b); ok {
		return out, Counts{}
	}
	v, ok := decode(b)
	if !ok {
		v = strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return r.bounded(v, len(b))
}

// Value is JSON for a value that is decoded already: of nil, bool, string,
// json.Number, int64, finite float64, []any and map[string]any. It is not
// changed.
func (r *Redactor) Value(v any) (out []byte, n Counts) {
	defer func() {
		if recover() != nil {
			out, n = []byte(`{"$redacted":"error"}`), Counts{Errors: 1}
		}
	}()
	if out, ok := r.fastTree(v); ok {
		return out, Counts{}
	}
	return r.bounded(v, 0)
}

// bounded walks a value. One that is too large is walked again under tighter
// bounds, so that a little of everything stays. The result obeys the first
// bounds as well. size is how large it was, 0 when that is not known.
func (r *Redactor) bounded(v any, size int) (out []byte, n Counts) {
	tight := r.limits
	for range 6 {
		w := walk{r: r, limits: tight}
		out = encode(w.value(v, 0, false))
		if len(out) <= r.limits.Value {
			return out, w.counts
		}
		if size == 0 {
			size = len(out)
		}
		tight.String, tight.Keys, tight.Items = max(64, tight.String/4), max(4, tight.Keys/3), max(4, tight.Items/3)
	}
	return oversize(size), Counts{Truncated: 1}
}

// Text redacts one text and bounds it by Limits.String.
func (r *Redactor) Text(s string) (out string, n Counts) {
	defer func() {
		if recover() != nil {
			out, n = "[redacted:error]", Counts{Errors: 1}
		}
	}()
	if utf8.ValidString(s) && r.stays(s) {
		return s, Counts{}
	}
	w := walk{r: r, limits: r.limits}
	switch v := w.text(strings.ToValidUTF8(s, "\uFFFD"), r.limits.Depth).(type) {
	case string:
		return v, w.counts
	default:
		return string(encode(v)), w.counts
	}
}

func oversize(n int) []byte {
	return encode(truncated("bytes", n))
}

func decode(b []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, false
	}
	_, err := dec.Token()
	return v, err == io.EOF
}

// encode cannot fail: the tree holds nothing but what decode makes.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
