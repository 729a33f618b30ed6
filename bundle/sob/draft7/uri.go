package draft7

import (
	"slices"
	"strings"
)

// uri is an address in the parts that Python's urllib.parse tells apart, as
// far as joining needs them.
type uri struct {
	scheme, host, path, query, fragment string
}

// relativeSchemes lists the schemes that an address can be relative to. The empty
// scheme is one of them; urn and the like are not.
var relativeSchemes = []string{"", "ftp", "http", "https", "gopher", "nntp", "imap", "wais", "file", "shttp", "mms",
	"rtsp", "rtspu", "prospero", "sftp", "svn", "svn+ssh", "ws", "wss"}

func parseURI(s, scheme string) uri {
	u := uri{scheme: scheme}
	if name, rest, ok := strings.Cut(s, ":"); ok && isScheme(name) {
		u.scheme, s = strings.ToLower(name), rest
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		u.host, s = rest[:end], rest[end:]
	}
	s, u.fragment, _ = strings.Cut(s, "#")
	u.path, u.query, _ = strings.Cut(s, "?")
	return u
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

func (u uri) String() string {
	var b strings.Builder
	if u.scheme != "" {
		b.WriteString(u.scheme + ":")
	}
	if u.host != "" {
		b.WriteString("//" + u.host)
		if u.path != "" && u.path[0] != '/' {
			b.WriteByte('/')
		}
	}
	b.WriteString(u.path)
	if u.query != "" {
		b.WriteString("?" + u.query)
	}
	if u.fragment != "" {
		b.WriteString("#" + u.fragment)
	}
	return b.String()
}

// join is urllib.parse.urljoin(base, ref). Parameters behind a semicolon count
// as part of the path.
func join(base, ref string) string {
	if base == "" {
		return ref
	}
	if ref == "" {
		return base
	}
	b := parseURI(base, "")
	u := parseURI(ref, b.scheme)
	if u.scheme != b.scheme || !slices.Contains(relativeSchemes, u.scheme) {
		return ref
	}
	if u.host != "" {
		return u.String()
	}
	u.host = b.host
	if u.path == "" {
		u.path = b.path
		if u.query == "" {
			u.query = b.query
		}
		return u.String()
	}
	u.path = joinPath(b.path, u.path)
	return u.String()
}

func joinPath(base, path string) string {
	segments := strings.Split(path, "/")
	if path[0] != '/' {
		dir := strings.Split(base, "/")
		if dir[len(dir)-1] != "" {
			dir = dir[:len(dir)-1]
		}
		segments = append(dir, segments...)
		if len(segments) > 2 {
			inner := slices.DeleteFunc(slices.Clone(segments[1:len(segments)-1]), func(s string) bool { return s == "" })
			segments = append(append([]string{segments[0]}, inner...), segments[len(segments)-1])
		}
	}
	var out []string
	for _, s := range segments {
		switch s {
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		case ".":
		default:
			out = append(out, s)
		}
	}
	if last := segments[len(segments)-1]; last == "." || last == ".." {
		out = append(out, "")
	}
	if joined := strings.Join(out, "/"); joined != "" {
		return joined
	}
	return "/"
}

// splitFragment is urllib.parse.urldefrag.
func splitFragment(url string) (base, fragment string) {
	if !strings.Contains(url, "#") {
		return url, ""
	}
	u := parseURI(url, "")
	fragment, u.fragment = u.fragment, ""
	return u.String(), fragment
}

func withoutFragment(url string) string {
	base, _ := splitFragment(url)
	return base
}

// unquote is urllib.parse.unquote for UTF-8: an escape that is not one stays.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, okHi := hexDigit(s[i+1])
			lo, okLo := hexDigit(s[i+2])
			if okHi && okLo {
				b = append(b, hi<<4|lo)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c-'0' < 10:
		return c - '0', true
	case c|0x20-'a' < 6:
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
