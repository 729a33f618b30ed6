package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
)

// Kind is what an API key is for.
type Kind string

// Kinds of key, as they begin.
const (
	APIKey     Kind = "erk"
	SessionKey Kind = "ers" // an access token
	IngestKey  Kind = "eri"
	RefreshKey Kind = "erf"
	CodeKey    Kind = "era" // an authorization code
	DeviceKey  Kind = "erd" // what a device asks with
	CookieKey  Kind = "erw" // a browser's session
)

const (
	alphabet  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	idLen     = 8
	secretLen = 43 // 32 bytes: 62^43 > 2^256
	checkLen  = 6  // a CRC-32: 62^6 > 2^32
	tokenLen  = 3 + 1 + idLen + 1 + secretLen + checkLen
)

// PrefixLen is how long the public part of a key is.
const PrefixLen = 3 + 1 + idLen

// ErrKeySyntax is returned for text that is no API key: mistyped, cut off, or
// something else. It says so without looking anything up.
var ErrKeySyntax = errors.New("not an API key of this service; check that it was copied whole")

// Key is an API key, erk_<id8>_<secret43><crc6>. It does not print; Reveal is
// for the one time that it is shown.
type Key struct{ token string }

// NewKey draws a key.
func NewKey(kind Kind, random io.Reader) (Key, error) {
	if !known(kind) {
		return Key{}, fmt.Errorf("draw an API key: unknown kind %q", kind)
	}
	var b [keySize]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return Key{}, fmt.Errorf("draw an API key: %w", err)
	}
	var id [keySize]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return Key{}, fmt.Errorf("draw an API key: %w", err)
	}
	// The low digits of a 256-bit number are uniform for all that matters.
	body := string(kind) + "_" + base62(id[:], secretLen)[secretLen-idLen:] + "_" + base62(b[:], secretLen)
	return Key{body + checksum(body)}, nil
}

// ParseKey reads a key. It checks the form and the checksum, so that a slip
// of the hand is told apart from a key that is not known.
func ParseKey(s string) (Key, error) {
	if len(s) != tokenLen || s[3] != '_' || s[3+1+idLen] != '_' || !known(Kind(s[:3])) {
		return Key{}, ErrKeySyntax
	}
	for _, part := range []string{s[4 : 4+idLen], s[4+idLen+1:]} {
		if strings.Trim(part, alphabet) != "" {
			return Key{}, ErrKeySyntax
		}
	}
	if body := s[:tokenLen-checkLen]; checksum(body) != s[tokenLen-checkLen:] {
		return Key{}, ErrKeySyntax
	}
	return Key{s}, nil
}

func known(k Kind) bool {
	switch k {
	case APIKey, SessionKey, IngestKey, RefreshKey, CodeKey, DeviceKey, CookieKey:
		return true
	}
	return false
}

// Kind is what the key is for, "" for the zero Key.
func (k Key) Kind() Kind { return Kind(k.token[:min(3, len(k.token))]) }

// Prefix is the public part, erk_<id8>, by which a key is found and named.
func (k Key) Prefix() string { return k.token[:min(PrefixLen, len(k.token))] }

// Reveal is the key itself.
func (k Key) Reveal() string { return k.token }

// String hides the secret.
func (k Key) String() string { return k.Prefix() + "_[redacted]" }

// Format hides it from every verb of package fmt, %d included.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }

// MarshalText hides it from encoders.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MAC is what is stored of a key.
func (m *Master) MAC(k Key) []byte {
	h := hmac.New(sha256.New, m.pepper[:])
	h.Write([]byte(k.token))
	return h.Sum(nil)
}

// Label keeps MACs of different things apart.
type Label string

// MACText is what is stored of a text that a person types or that a browser
// sends back.
func (m *Master) MACText(l Label, text string) []byte {
	h := hmac.New(sha256.New, m.pepper[:])
	h.Write([]byte(string(l) + "\x00" + text)) // no key of ours begins with a label
	return h.Sum(nil)
}

// Derive makes the key that follows another one: the same for the same key and
// salt, and unknown to whoever lacks the master key file, the key or the salt.
// An answer that was lost is given again so, without keeping it.
func (m *Master) Derive(kind Kind, from Key, salt []byte) (Key, error) {
	material, err := hkdf.Key(sha256.New, append(m.pepper[:], from.token...), salt, "evalrouter "+string(kind), 2*keySize)
	if err != nil {
		return Key{}, fmt.Errorf("derive a key: %w", err)
	}
	return NewKey(kind, bytes.NewReader(material))
}

// Matches compares a key with a stored MAC in constant time. Call it with nil
// when no key of that prefix is stored: it is false then, and takes as long.
func (m *Master) Matches(k Key, stored []byte) bool {
	// Neither a branch nor a slice that is made here: both cost nanoseconds that can
	// be measured.
	known := subtle.ConstantTimeEq(int32(len(stored)), sha256.Size)
	kept := [2][]byte{m.none[:], stored}[known]
	return known&subtle.ConstantTimeCompare(m.MAC(k), kept) == 1
}

func checksum(s string) string {
	n := crc32.ChecksumIEEE([]byte(s))
	return base62([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, checkLen)
}

// base62 writes a big-endian number with width digits.
func base62(b []byte, width int) string {
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(62), new(big.Int)
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = alphabet[digit.Int64()]
	}
	return string(out)
}
