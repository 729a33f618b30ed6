package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"
)

// span is a part of a text to take out, and the rule that found it.
type span struct {
	from, to int
	rule     string
}

// scrub takes secrets out of a text by the shapes of credentials and by
// name=value. It reports how many parts it took out.
func scrub(s string) (string, int) {
	var b strings.Builder
	last, n := 0, 0
	assigns := strings.IndexByte(s, ':') >= 0 || strings.IndexByte(s, '=') >= 0 || strings.Contains(s, "--")
	for i := 0; i < len(s); {
		c := s[i]
		end := i + 1
		var found span
		switch {
		case class[c]&isAlnum != 0: // the beginning of a word
			for end < len(s) && class[s[end]]&isAlnum != 0 {
				end++
			}
			if i+1 < len(s) && begins(c, s[i+1]) {
				found = credentialAt(s, i)
			}
			if found.to == 0 && assigns {
				found = assignmentAt(s, i)
			}
		case c == '-' && strings.HasPrefix(s[i:], "-----BEGIN"):
			found = pemAt(s, i)
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			found = userinfoAt(s, i)
		}
		if found.to <= found.from {
			i = end
			continue
		}
		b.WriteString(s[last:found.from])
		b.WriteString("[redacted:" + found.rule + "]")
		last, i = found.to, found.to
		if s[found.from:found.to] != "[redacted:"+found.rule+"]" {
			n++
		}
	}
	if last == 0 {
		return s, 0
	}
	b.WriteString(s[last:])
	return b.String(), n
}

// Classes of bytes: of words, of names, and of what credentials are made of.
const (
	isAlnum = 1 << iota
	isName
	isToken
)

var class = classes()

func classes() (out [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			out[c] = isAlnum | isName | isToken
		case c == '_' || c == '-' || c == '.':
			out[c] = isName | isToken
		case c == '+' || c == '/' || c == '=' || c == '~':
			out[c] = isToken
		case c >= 0x80:
			out[c] = isName
		}
	}
	return out
}

func nameByte(c byte) bool { return class[c]&isName != 0 }

func tokenByte(c byte) bool { return class[c]&isToken != 0 }

// prefix begins credentials of a known issuer; least is how many more
// characters must follow.
type prefix struct {
	text  string
	least int
	rule  string
}

// prefixes are the credentials of known issuers by their first byte.
var prefixes = byByte(
	prefix{"sk-ant-", 8, "api_key"}, prefix{"sk-lf-", 8, "api_key"}, prefix{"sk-proj-", 8, "api_key"}, prefix{"sk-or-", 8, "api_key"},
	prefix{"sk-", 16, "api_key"}, prefix{"sk_live_", 8, "api_key"}, prefix{"sk_test_", 8, "api_key"}, prefix{"rk_live_", 8, "api_key"},
	prefix{"whsec_", 8, "api_key"}, prefix{"lsv2_", 8, "api_key"}, prefix{"ls__", 8, "api_key"},
	prefix{"erk_", 8, "api_key"}, prefix{"ers_", 8, "api_key"}, prefix{"eri_", 8, "api_key"},
	prefix{"erf_", 8, "refresh_token"}, prefix{"era_", 8, "authorization_code"}, prefix{"erd_", 8, "device_code"}, prefix{"erw_", 8, "cookie"},
	prefix{"ghp_", 16, "api_key"}, prefix{"gho_", 16, "api_key"}, prefix{"ghu_", 16, "api_key"}, prefix{"ghs_", 16, "api_key"},
	prefix{"ghr_", 16, "api_key"}, prefix{"github_pat_", 16, "api_key"}, prefix{"glpat-", 12, "api_key"}, prefix{"npm_", 20, "api_key"},
	prefix{"pypi-", 20, "api_key"}, prefix{"hf_", 16, "api_key"}, prefix{"xoxa-", 8, "api_key"}, prefix{"xoxb-", 8, "api_key"},
	prefix{"xoxp-", 8, "api_key"}, prefix{"xoxr-", 8, "api_key"}, prefix{"xoxs-", 8, "api_key"}, prefix{"xapp-", 8, "api_key"},
	prefix{"AKIA", 16, "access_key"}, prefix{"ASIA", 16, "access_key"}, prefix{"AIza", 30, "api_key"}, prefix{"ya29.", 16, "access_token"},
	prefix{"SG.", 20, "api_key"}, prefix{"gsk_", 16, "api_key"}, prefix{"xai-", 16, "api_key"}, prefix{"r8_", 16, "api_key"},
	prefix{"AGE-SECRET-KEY-", 8, "private_key"},
)

func byByte(list ...prefix) (out [128][]prefix) {
	for _, p := range list {
		out[p.text[0]] = append(out[p.text[0]], p)
	}
	return out
}

// seconds has, for each first byte of a credential, a bit for each byte that may
// stand behind it: most words are told apart by two letters.
var seconds = secondBytes()

func secondBytes() (out [128][2]uint64) {
	add := func(first, second byte) { out[first][second>>6] |= 1 << (second & 63) }
	for first, list := range prefixes {
		for _, p := range list {
			add(byte(first), p.text[1])
		}
	}
	add('e', 'y')                            // of a JSON web token
	for _, first := range []byte{'b', 'B'} { // of the schemes
		for _, second := range []byte{'e', 'E', 'a', 'A'} {
			add(first, second)
		}
	}
	return out
}

// begins says that a credential may begin with these two bytes.
func begins(first, second byte) bool {
	return first < 128 && second < 128 && seconds[first][second>>6]>>(second&63)&1 != 0
}

// credentialAt finds the credential at i, where begins says that one may be.
func credentialAt(s string, i int) span {
	for _, p := range prefixes[s[i]&0x7F] {
		if !strings.HasPrefix(s[i:], p.text) {
			continue
		}
		end := i + len(p.text)
		digit := false
		for end < len(s) && class[s[end]]&(isName|isToken) == isName|isToken {
			digit = digit || s[end] >= '0' && s[end] <= '9'
			end++
		}
		if end-i-len(p.text) >= p.least && (digit || p.text != "sk-") {
			return span{i, end, p.rule}
		}
	}
	if strings.HasPrefix(s[i:], "eyJ") {
		end := i
		for end < len(s) && tokenByte(s[end]) {
			end++
		}
		if dot := strings.Index(s[i:end], ".eyJ"); dot >= 8 {
			return span{i, end, "jwt"}
		}
	}
	return schemeAt(s, i)
}

// schemeAt finds what follows an authorization scheme.
func schemeAt(s string, i int) span {
	if c := s[i] | 0x20; c != 'b' {
		return span{}
	}
	for _, scheme := range []string{"bearer", "basic"} {
		if len(s)-i <= len(scheme)+1 || !strings.EqualFold(s[i:i+len(scheme)], scheme) || s[i+len(scheme)] != ' ' {
			continue
		}
		from := i + len(scheme) + 1
		end, digit := from, false
		for end < len(s) && tokenByte(s[end]) {
			digit = digit || s[end] >= '0' && s[end] <= '9'
			end++
		}
		if n := end - from; n >= 16 || n >= 8 && digit {
			return span{from, end, "bearer"}
		}
	}
	return span{}
}

func pemAt(s string, i int) span {
	head := s[i:min(len(s), i+80)]
	if !strings.Contains(head, "PRIVATE KEY") {
		return span{}
	}
	end := len(s)
	if at := strings.Index(s[i+10:], "-----END"); at >= 0 {
		end = i + 10 + at + len("-----END")
		if close := strings.Index(s[end:], "-----"); close >= 0 {
			end += close + 5
		}
	}
	return span{i, end, "private_key"}
}

// userinfoAt finds user:password@ behind a scheme. A name alone is no secret.
func userinfoAt(s string, i int) span {
	from := i + 3
	colon := false
	for j := from; j < len(s); j++ {
		switch c := s[j]; {
		case c == '@':
			if colon {
				return span{from, j, "url_password"}
			}
			return span{}
		case c == ':':
			colon = true
		case c <= ' ' || strings.IndexByte(`/?#"'<>\`, c) >= 0:
			return span{}
		}
	}
	return span{}
}

// assignmentAt finds the value of name=value, name: value, "name": "value" and
// --name value, where the name is sensitive.
func assignmentAt(s string, i int) span {
	end := i
	for end < len(s) && nameByte(s[end]) {
		end++
	}
	if i > 0 && nameByte(s[i-1]) && s[i-1] != '-' && s[i-1] != '.' || end-i > maxName {
		return span{}
	}
	at := end
	for at < len(s) && (s[at] == '\\' || s[at] == '"' || s[at] == '\'' || s[at] == '`' || s[at] == ']') {
		at++
	}
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	option := i >= 2 && s[i-2:i] == "--" && at > end
	if !option {
		if at >= len(s) || s[at] != ':' && s[at] != '=' {
			return span{}
		}
		for at < len(s) && (s[at] == ':' || s[at] == '=' || s[at] == '>') {
			at++
		}
	}
	rule, ok := match(s[i:end])
	if !ok {
		return span{}
	}
	return valueAt(s, at, rule)
}

// valueAt is the value that begins near at. A header's value ends with its
// line, a quoted one with its quote, a bracket with its partner, any other at
// a space or separator.
func valueAt(s string, at int, rule string) span {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	from := at
	for at < len(s) && s[at] == '\\' {
		at++
	}
	if at >= len(s) {
		return span{}
	}
	switch c := s[at]; {
	case c == '"' || c == '\'' || c == '`':
		end := at + 1
		for end < len(s) && s[end] != c {
			end++
		}
		if from == at { // a plain quote may hold escaped ones
			for end = at + 1; end < len(s) && s[end] != c; end++ {
				if s[end] == '\\' {
					end++
				}
			}
		}
		end = min(end, len(s))
		if end > at+1 && s[end-1] == '\\' && end < len(s) {
			end--
		}
		return span{at + 1, max(end, at+1), rule}
	case c == '{' || c == '[':
		return span{at, bracketEnd(s, at), rule}
	}
	end := from
	stop := " \t\r\n,;&\"'`)}]<>|"
	if rule == "authorization" || rule == "cookie" || rule == "cookies" || rule == "set_cookie" {
		stop = "\r\n\"`"
	}
	for end < len(s) && strings.IndexByte(stop, s[end]) < 0 {
		end++
	}
	if literal := s[from:end]; literal == "true" || literal == "false" || literal == "null" {
		return span{}
	}
	return span{from, end, rule}
}

func bracketEnd(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// hidden says that a text is another encoding of one that holds a secret.
func hidden(s string) bool {
	if len(s) >= 12 && strings.Contains(s, "%") {
		if plain, err := url.QueryUnescape(s); err == nil && plain != s {
			if _, n := scrub(plain); n > 0 {
				return true
			}
		}
	}
	if plain, ok := unbase64(s); ok {
		if _, n := scrub(plain); n > 0 {
			return true
		}
		return strings.HasPrefix(strings.TrimSpace(plain), "{") && hasSecretJSON(plain)
	}
	return false
}

func unbase64(s string) (string, bool) {
	if len(s) < 16 || len(s) > 1<<20 || strings.ContainsAny(s, " \t\n{[\"") {
		return "", false
	}
	t := strings.TrimRight(s, "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := enc.DecodeString(t); err == nil && utf8.Valid(b) {
			return string(b), true
		}
	}
	return "", false
}
