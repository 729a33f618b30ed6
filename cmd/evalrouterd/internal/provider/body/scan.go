package body

// Scanner goes once through a JSON text from left to right, for readers who want
// one string out of it. It takes what encoding/json takes, but for what is
// strange in a body: names with escapes, a name twice in one object, more than
// deepest values within each other. There it fails, once and for all.
type Scanner struct {
	b     []byte
	i     int
	depth int
	bad   bool
}

const (
	deepest = 16
	most    = 24 // names of an object
)

// Scan begins at the front of a text.
func Scan(b []byte) *Scanner { return &Scanner{b: b} }

// End says that the whole text was read and was right.
func (s *Scanner) End() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

func (s *Scanner) fail() bool {
	s.bad = true
	return false
}

func (s *Scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// next says whether c comes next, and goes behind it.
func (s *Scanner) next(c byte) bool {
	s.space()
	if s.bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

// Object reads an object: value reads the value of each name, and is false where
// it is not the one that is expected.
func (s *Scanner) Object(value func(name string) bool) bool {
	var names [most]string
	n := 0
	return s.members(func() bool {
		raw := s.String()
		if raw == nil || n == most {
			return false
		}
		name := string(raw[1 : len(raw)-1])
		for _, c := range raw[1 : len(raw)-1] {
			if c == '\\' || c >= 0x80 {
				return false
			}
		}
		for _, was := range names[:n] {
			if was == name {
				return false
			}
		}
		names[n] = name
		n++
		return s.next(':') && value(name)
	}, '{', '}')
}

// Single reads an array of one value.
func (s *Scanner) Single(value func() bool) bool {
	n := 0
	return s.members(func() bool { n++; return n == 1 && value() }, '[', ']') && (n == 1 || s.fail())
}

func (s *Scanner) members(one func() bool, open, end byte) bool {
	if s.depth++; s.depth > deepest || !s.next(open) {
		return s.fail()
	}
	if !s.next(end) {
		for more := true; more; {
			if !one() || s.bad {
				return s.fail()
			}
			if more = s.next(','); !more && !s.next(end) {
				return s.fail()
			}
		}
	}
	s.depth--
	return true
}

// Null reads a null.
func (s *Scanner) Null() bool { return s.word("null") }

func (s *Scanner) word(w string) bool {
	s.space()
	if s.bad || len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return s.fail()
	}
	s.i += len(w)
	return true
}

// String reads a string and gives it with its quotes, nil where none is. Its
// escapes are of the right shape.
func (s *Scanner) String() []byte {
	if !s.next('"') {
		s.fail()
		return nil
	}
	for from := s.i - 1; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[from:s.i]
		case c < ' ':
			s.fail()
			return nil
		case c == '\\':
			if s.i++; !s.escape() {
				s.fail()
				return nil
			}
		}
	}
	s.fail()
	return nil
}

func (s *Scanner) escape() bool {
	if s.i >= len(s.b) {
		return false
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if s.i++; s.i >= len(s.b) || !hex(s.b[s.i]) {
				return false
			}
		}
		return true
	}
	return false
}

func hex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// Skip reads any value.
func (s *Scanner) Skip() bool {
	s.space()
	if s.bad || s.i >= len(s.b) {
		return s.fail()
	}
	switch c := s.b[s.i]; {
	case c == '"':
		return s.String() != nil
	case c == '{':
		return s.members(func() bool { return s.String() != nil && s.next(':') && s.Skip() }, '{', '}')
	case c == '[':
		return s.members(s.Skip, '[', ']')
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.number() || s.fail()
}

func (s *Scanner) number() bool {
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		if s.i++; !s.digits() {
			return false
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		if s.i++; s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		return s.digits()
	}
	return true
}

func (s *Scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from
}
