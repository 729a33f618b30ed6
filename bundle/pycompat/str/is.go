package str

// all reports whether s is not empty and every code point satisfies ok.
func all(s string, ok func(*Rune) bool) bool {
	if s == "" {
		return false
	}
	for s != "" {
		r, size := DecodeRune(s)
		if !ok(record(r)) {
			return false
		}
		s = s[size:]
	}
	return true
}

// IsSpace is str.isspace.
func IsSpace(s string) bool { return all(s, func(r *Rune) bool { return r.flags&flagSpace != 0 }) }

// IsAlpha is str.isalpha.
func IsAlpha(s string) bool { return all(s, func(r *Rune) bool { return r.category <= catLo }) }

// IsAlnum is str.isalnum.
func IsAlnum(s string) bool { return all(s, func(r *Rune) bool { return r.Alnum() }) }

// IsDecimal is str.isdecimal: digits that int() reads.
func IsDecimal(s string) bool { return all(s, func(r *Rune) bool { return r.decimal >= 0 }) }

// IsDigit is str.isdigit: superscripts count, and int() refuses them.
func IsDigit(s string) bool { return all(s, func(r *Rune) bool { return r.digit >= 0 }) }

// IsNumeric is str.isnumeric: fractions and number ideographs count.
func IsNumeric(s string) bool { return all(s, func(r *Rune) bool { return r.numeric > 0 }) }

// IsLower is str.islower: at least one cased letter, and all of them lower.
func IsLower(s string) bool { return oneCase(s, flagLower, flagUpper) }

// IsUpper is str.isupper.
func IsUpper(s string) bool { return oneCase(s, flagUpper, flagLower) }

func oneCase(s string, want, other uint8) bool {
	seen := false
	for s != "" {
		r, size := DecodeRune(s)
		rec := record(r)
		if rec.flags&other != 0 || rec.category == catLt {
			return false
		}
		seen = seen || rec.flags&want != 0
		s = s[size:]
	}
	return seen
}

// IsIdentifier is str.isidentifier; keywords count as identifiers.
func IsIdentifier(s string) bool {
	for i, rest := 0, s; rest != ""; i++ {
		r, size := DecodeRune(rest)
		flag := uint8(flagIDContinue)
		if i == 0 {
			flag = flagIDStart
		}
		if record(r).flags&flag == 0 {
			return false
		}
		rest = rest[size:]
	}
	return s != ""
}
