package argv

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/peterbourgon/ff/v4"
)

// Flag is one declared flag.
type Flag struct {
	Long string
	// Short is a single letter, 0 for none.
	Short rune
	// Value is the placeholder of the flag's value, "" for a switch.
	Value string
	Usage string
	// Repeat allows the flag more than once. Any other repetition is an error:
	// nobody should have to guess which --max-cost counts.
	Repeat bool
	// More keeps the flag off the short help page.
	More bool

	set   func(string) error
	given bool
}

// Flags are the flags of one command, in the order of declaration.
type Flags struct {
	name   string
	set    *ff.FlagSet
	parent *Flags
	list   []*Flag
	failed error
}

// NewFlags is an empty set for the named command.
func NewFlags(name string) *Flags { return &Flags{name: name, set: ff.NewFlagSet(name)} }

// Bool declares a switch.
func (f *Flags) Bool(p *bool, long, usage string) *Flag {
	return f.add(&Flag{Long: long, Usage: usage, set: func(s string) (err error) {
		*p, err = strconv.ParseBool(s)
		return err
	}})
}

// String declares a flag with a text value, never empty.
func (f *Flags) String(p *string, long, value, usage string) *Flag {
	return f.add(&Flag{Long: long, Value: value, Usage: usage, set: func(s string) error {
		*p = s
		return nil
	}})
}

// Strings declares a flag that may be repeated.
func (f *Flags) Strings(p *[]string, long, value, usage string) *Flag {
	return f.add(&Flag{Long: long, Value: value, Usage: usage, Repeat: true, set: func(s string) error {
		*p = append(*p, s)
		return nil
	}})
}

// Choice declares a flag whose value is one of the listed words.
func (f *Flags) Choice(p *string, long, usage string, words ...string) *Flag {
	return f.add(&Flag{Long: long, Value: oneOf(words), Usage: usage, set: func(s string) error {
		for _, w := range words {
			if s == w {
				*p = s
				return nil
			}
		}
		return errors.New("want " + oneOf(words))
	}})
}

// Int declares a whole number from lo to hi.
func (f *Flags) Int(p *int, long, value, usage string, lo, hi int) *Flag {
	return f.add(&Flag{Long: long, Value: value, Usage: usage, set: func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("want a whole number from %d to %d", lo, hi)
		}
		*p = n
		return nil
	}})
}

// Seconds declares a positive number of seconds; fractions are allowed.
func (f *Flags) Seconds(p *float64, long, usage string, hi float64) *Flag {
	return f.add(&Flag{Long: long, Value: "SECONDS", Usage: usage, set: func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n > 0) || n > hi {
			return fmt.Errorf("want seconds, more than 0 and at most %g", hi)
		}
		*p = n
		return nil
	}})
}

// Money declares an amount of US dollars. *p stays nil when the flag is absent.
func (f *Flags) Money(p **usd.Micro, long, usage string) *Flag {
	return f.add(&Flag{Long: long, Value: "USD", Usage: usage, set: func(s string) error {
		m, err := usd.Parse(s)
		if err != nil {
			return err
		}
		*p = &m
		return nil
	}})
}

// Checked declares a flag whose value set reads; its error is what to give instead.
func (f *Flags) Checked(long, value, usage string, set func(string) error) *Flag {
	return f.add(&Flag{Long: long, Value: value, Usage: usage, set: set})
}

// Given says whether the named flag stood on the command line.
func (f *Flags) Given(long string) bool {
	g := f.lookup(long)
	return g != nil && g.given
}

// List is the command's own flags, without those of its parents.
func (f *Flags) List() []*Flag { return f.list }

// WithShort gives the flag a one-letter name.
func (g *Flag) WithShort(r rune) *Flag {
	g.Short = r
	return g
}

// Rare moves the flag to the long help page.
func (g *Flag) Rare() *Flag {
	g.More = true
	return g
}

func (f *Flags) add(g *Flag) *Flag {
	f.list = append(f.list, g)
	return g
}

// attach gives ff the collected declarations. It runs once, when the tree is
// complete, because a short name may be added after the declaration.
func (f *Flags) attach(parent *Flags) {
	f.parent = parent
	if parent != nil {
		f.set.SetParent(parent.set)
	}
	for _, g := range f.list {
		f.set.Value(g.Short, g.Long, &value{owner: f, flag: g}, g.Usage)
	}
}

func (f *Flags) lookup(name string) *Flag {
	for s := f; s != nil; s = s.parent {
		for _, g := range s.list {
			if g.Long == name || g.Short != 0 && string(g.Short) == name {
				return g
			}
		}
	}
	return nil
}

func (f *Flags) names() []string {
	var out []string
	for s := f; s != nil; s = s.parent {
		for _, g := range s.list {
			out = append(out, "--"+g.Long)
		}
	}
	return out
}

func (f *Flags) firstFailure() error {
	for s := f; s != nil; s = s.parent {
		if s.failed != nil {
			return s.failed
		}
	}
	return nil
}

// value is what ff sees of a flag. It keeps the refusal, because ff would
// repeat the refused text, which may be a mistyped secret.
type value struct {
	owner *Flags
	flag  *Flag
}

func (v *value) Set(s string) error {
	if err := v.flag.set(s); err != nil {
		v.owner.failed = &UsageError{Message: fmt.Sprintf("--%s: %s", v.flag.Long, err)}
		return errors.New("refused")
	}
	v.flag.given = true
	return nil
}

func (v *value) String() string { return "" }

func oneOf(words []string) string {
	s := ""
	for i, w := range words {
		if i > 0 {
			s += "|"
		}
		s += w
	}
	return s
}
