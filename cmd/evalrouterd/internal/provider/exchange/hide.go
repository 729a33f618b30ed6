package exchange

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// A provider that repeats a key may write it in another way: escaped for JSON or
// for a URL, as base64 within some header it quotes, or in hex.

// hideIn replaces a key in every writing.
func hideIn(raw []byte, key string) []byte {
	if k := []byte(key); bytes.Contains(raw, k) {
		raw = bytes.ReplaceAll(raw, k, []byte(redacted))
	}
	raw = hideEscaped(raw, key)
	for _, form := range encoded(key) {
		if bytes.Contains(raw, form) {
			raw = bytes.ReplaceAll(raw, form, []byte(redacted))
		}
	}
	return raw
}

// hideEscaped replaces a key of which any character may be escaped.
func hideEscaped(raw []byte, key string) []byte {
	var out []byte
	kept := 0
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c != key[0] && c != '\\' && c != '%' {
			continue
		}
		n := written(raw[i:], key)
		if n == 0 {
			continue
		}
		out = append(append(out, raw[kept:i]...), redacted...)
		kept = i + n
		i = kept - 1
	}
	if out == nil {
		return raw
	}
	return append(out, raw[kept:]...)
}

// written is how many bytes at the start of raw are a key, 0 for none.
func written(raw []byte, key string) int {
	n := 0
	for i := range len(key) {
		size := character(raw[n:], key[i])
		if size == 0 {
			return 0
		}
		n += size
	}
	return n
}

// character is how many bytes at the start of raw are a character: itself, or
// \\u0041, \\/ or %41. JSON within JSON doubles the backslashes.
func character(raw []byte, c byte) int {
	switch {
	case len(raw) > 2 && raw[0] == '%' && isHex(raw[1:3], c):
		return 3
	case len(raw) > 0 && raw[0] == c && c != '\\':
		return 1
	}
	n := 0
	for n < len(raw) && raw[n] == '\\' {
		n++
	}
	rest := raw[n:]
	switch {
	case n > 0 && len(rest) > 4 && rest[0] == 'u' && rest[1] == '0' && rest[2] == '0' && isHex(rest[3:5], c):
		return n + 5
	case n > 0 && c == '\\':
		return n
	case n > 0 && len(rest) > 0 && rest[0] == c:
		return n + 1
	}
	return 0
}

func isHex(digits []byte, c byte) bool {
	var b [1]byte
	_, err := hex.Decode(b[:], digits)
	return err == nil && b[0] == c
}

// encoded is a key as base64, at each of the three places where it can begin,
// in both alphabets, and in hex of both cases. What stands at its edges depends
// on its neighbours and is left out.
func encoded(key string) [][]byte {
	h := hex.EncodeToString([]byte(key))
	forms := [][]byte{[]byte(h), []byte(strings.ToUpper(h))}
	for before := range 3 {
		padded := append(make([]byte, before), key...)
		from, to := (before*8+5)/6, len(padded)*8/6
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := []byte(alphabet.EncodeToString(padded))[from:to]
			if last := forms[len(forms)-1]; !bytes.Equal(text, last) {
				forms = append(forms, text)
			}
		}
	}
	return forms
}
