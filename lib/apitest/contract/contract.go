// Package contract is the records of the API as text says them, and the check of
// bytes against them.
package contract

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed records.txt
var recordsText string

// Contract is the records of the API by name, as text says them and not as
// Go types do, so that a drifting tag cannot agree with itself.
type Contract struct {
	Records map[string]Record
	Order   []string
}

// Record is one JSON object.
type Record struct {
	Name   string
	Fields []Field
}

// Field is one member of a record.
type Field struct {
	Name     string
	Optional bool // may be absent
	Addition bool // not known to clients of the first version
	Type     Type
}

// Type is the type of a member.
type Type struct {
	Nullable bool
	// Scalar is string, int, number, bool, ts, money, signed, dict or any;
	// empty for the others.
	Scalar string
	Enum   []string // allowed words
	Union  []string // names of records; one name is no choice
	List   *Type
	Map    *Type
}

// Field finds a member by name.
func (r Record) Field(name string) (Field, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Load reads the contract.
func Load() (*Contract, error) {
	c := &Contract{Records: map[string]Record{}}
	var name string
	for n, line := range strings.Split(recordsText, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case !strings.HasPrefix(line, " "):
			if _, twice := c.Records[text]; twice {
				return nil, fmt.Errorf("read contract line %d: record %s stands twice", n+1, text)
			}
			name = text
			c.Records[name] = Record{Name: name}
			c.Order = append(c.Order, name)
		default:
			f, err := parseField(text)
			if err != nil {
				return nil, fmt.Errorf("read contract line %d: %w", n+1, err)
			}
			r := c.Records[name]
			if _, twice := r.Field(f.Name); twice {
				return nil, fmt.Errorf("read contract line %d: field %s stands twice", n+1, f.Name)
			}
			r.Fields = append(r.Fields, f)
			c.Records[name] = r
		}
	}
	return c, c.resolve()
}

func parseField(text string) (Field, error) {
	rest, addition := strings.CutPrefix(text, "+ ")
	name, spec, ok := strings.Cut(rest, " ")
	if !ok {
		return Field{}, fmt.Errorf("no type in %q", text)
	}
	name, optional := strings.CutSuffix(name, "?")
	t, err := parseType(strings.TrimSpace(spec))
	return Field{Name: name, Optional: optional, Addition: addition, Type: t}, err
}

func parseType(s string) (Type, error) {
	var t Type
	s, t.Nullable = strings.CutSuffix(s, "|null")
	switch {
	case s == "":
		return t, fmt.Errorf("empty type")
	case strings.Contains(" string int number bool ts money signed dict any ", " "+s+" "):
		t.Scalar = s
	case s[0] == '"' && len(s) > 2 && s[len(s)-1] == '"':
		t.Enum = strings.Split(s[1:len(s)-1], "|")
	case s[0] == '[' && s[len(s)-1] == ']':
		e, err := parseType(s[1 : len(s)-1])
		t.List = &e
		return t, err
	case s[0] == '{' && s[len(s)-1] == '}':
		e, err := parseType(s[1 : len(s)-1])
		t.Map = &e
		return t, err
	default:
		t.Union = strings.Split(s, "/")
	}
	return t, nil
}

// resolve makes sure that every record that is named exists.
func (c *Contract) resolve() error {
	var check func(t *Type) error
	check = func(t *Type) error {
		if t == nil {
			return nil
		}
		for _, name := range t.Union {
			if _, ok := c.Records[name]; !ok {
				return fmt.Errorf("read contract: no record %s", name)
			}
		}
		if err := check(t.List); err != nil {
			return err
		}
		return check(t.Map)
	}
	for _, r := range c.Records {
		for _, f := range r.Fields {
			if err := check(&f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}
