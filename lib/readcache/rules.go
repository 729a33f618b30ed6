package readcache

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// forbidding are the directives that keep an answer off the disk. Any of them
// anywhere is enough, even where a lenient reader would see none.
func forbidding() []string { return []string{"no-store", "no-cache", "private"} }

// forbids says that an answer must leave no copy.
func forbids(h http.Header) bool {
	for _, name := range []string{"Cache-Control", "Pragma"} {
		for _, line := range h.Values(name) {
			line = strings.ToLower(line)
			if slices.ContainsFunc(forbidding(), func(word string) bool { return strings.Contains(line, word) }) {
				return true
			}
		}
	}
	return false
}

// storable says that the headers of a 200 allow a copy.
func storable(h http.Header) bool {
	if forbids(h) || len(h.Values("Set-Cookie")) > 0 || len(h.Values("Content-Encoding")) > 0 || len(h.Values("Content-Range")) > 0 {
		return false
	}
	if _, ok := maxAge(h); !ok || !varies(h) {
		return false
	}
	if _, ok := ageOf(h); !ok {
		return false
	}
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	kind, _, err := mime.ParseMediaType(types[0])
	return err == nil && kind == "application/json"
}

// maxAge is the one explicit lifetime. Two of them, none, zero, or one that is
// no plain number, is none.
func maxAge(h http.Header) (time.Duration, bool) {
	found := time.Duration(-1)
	for _, line := range h.Values("Cache-Control") {
		parts, ok := directives(line)
		if !ok {
			return 0, false
		}
		for _, p := range parts {
			name, value, given := strings.Cut(p, "=")
			if name != "max-age" {
				continue
			}
			n, ok := seconds(value)
			if !given || !ok || found >= 0 {
				return 0, false
			}
			found = n
		}
	}
	return found, found > 0
}

// directives splits a header line at its commas, outside of quotes, with names
// in lower case. A line that is not well formed is not read at all.
func directives(line string) (out []string, ok bool) {
	var part strings.Builder
	quoted, escaped := false, false
	flush := func() bool {
		s := strings.Trim(part.String(), " \t")
		part.Reset()
		if s == "" {
			return true // an empty element of a list is allowed
		}
		name, value, given := strings.Cut(s, "=")
		if !token(name) || given && !quotedString(value) && !token(value) {
			return false
		}
		s = strings.ToLower(name)
		if given {
			s += "=" + value
		}
		out = append(out, s)
		return true
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			if !flush() {
				return nil, false
			}
			continue
		case c < 0x20 && c != '\t' || c >= 0x7F:
			return nil, false
		}
		part.WriteByte(c)
	}
	if quoted || escaped || !flush() {
		return nil, false
	}
	return out, true
}

func token(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(marks, c) >= 0) {
			return false
		}
	}
	return s != ""
}

func quotedString(s string) bool {
	return len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"'
}

// seconds reads a whole number of seconds of at most nine digits.
func seconds(s string) (time.Duration, bool) {
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return time.Duration(n) * time.Second, err == nil
}

// keyed are the request headers whose values are part of a copy's name.
func keyed() []string {
	return []string{"Accept", "Accept-Encoding", "Accept-Language", "X-Evalrouter-Version"}
}

// varies says that the answer depends on nothing but what is in the name of its
// copy. A request with Authorization has no copy at all.
func varies(h http.Header) bool {
	for _, line := range h.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			name = http.CanonicalHeaderKey(strings.Trim(name, " \t"))
			if name != "" && name != "Authorization" && !slices.Contains(keyed(), name) {
				return false
			}
		}
	}
	return true
}

// ageOf is the Age header, 0 without one; not ok when there are several or it
// is no number.
func ageOf(h http.Header) (time.Duration, bool) {
	lines := h.Values("Age")
	switch len(lines) {
	case 0:
		return 0, true
	case 1:
		return seconds(strings.Trim(lines[0], " \t"))
	}
	return 0, false
}

// apparent is how old an answer is by its Date. A Date that is missing, not
// one, or in the future says nothing.
func apparent(h http.Header, now time.Time) time.Duration {
	lines := h.Values("Date")
	if len(lines) != 1 {
		return 0
	}
	date, err := http.ParseTime(lines[0])
	if err != nil {
		return 0
	}
	return max(0, now.Sub(date))
}

// strong says that a validator stands for exactly these bytes.
func strong(etag string) bool {
	return len(etag) >= 2 && etag[0] == '"' && etag[len(etag)-1] == '"' && strings.Count(etag, `"`) == 2
}
