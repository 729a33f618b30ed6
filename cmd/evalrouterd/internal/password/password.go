// Package password keeps what people sign in with as argon2id hashes, in the
// usual text form that names its own costs.
//
// golang.org/x/crypto is here because the standard library has no hash of
// passwords that costs an attacker memory. Each hash takes 19 MiB and two
// passes; at most two are made at once, so that a flood of sign-ins fills no
// memory. A check against no account costs as much as one against an account.
package password

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Costs of a hash. More is slower for everybody.
type Costs struct {
	KiB    uint32
	Passes uint32
}

// Usual is what the service hashes with.
func Usual() Costs { return Costs{KiB: 19 << 10, Passes: 2} }

const (
	saltSize = 16
	hashSize = 32
	atOnce   = 2
	// MinLen and MaxLen bound a password: characters at least, bytes at most.
	MinLen = 10
	MaxLen = 256
)

// Hasher makes and checks hashes. It is safe for concurrent use.
type Hasher struct {
	costs  Costs
	random io.Reader
	turns  chan struct{}
	none   string // what no password is hashed to
}

// New makes a hasher. random is crypto/rand.Reader outside tests.
func New(c Costs, random io.Reader) *Hasher {
	h := &Hasher{costs: c, random: random, turns: make(chan struct{}, atOnce)}
	h.none = encode(c, make([]byte, saltSize), make([]byte, hashSize))
	return h
}

// Fit says what is wrong with a password that somebody chooses, "" for nothing.
func Fit(pw, email string) string {
	switch {
	case utf8.RuneCountInString(pw) < MinLen:
		return fmt.Sprintf("A password has at least %d characters.", MinLen)
	case len(pw) > MaxLen:
		return fmt.Sprintf("A password has at most %d bytes.", MaxLen)
	case strings.EqualFold(pw, email):
		return "A password is not your e-mail address."
	case strings.Count(pw, pw[:1]) == len(pw):
		return "A password is more than one character again and again."
	}
	return ""
}

// Hash makes the hash of a password.
func (h *Hasher) Hash(ctx context.Context, pw string) (string, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(h.random, salt); err != nil {
		return "", fmt.Errorf("draw a salt: %w", err)
	}
	sum, err := h.sum(ctx, pw, h.costs, salt)
	if err != nil {
		return "", err
	}
	return encode(h.costs, salt, sum), nil
}

// Check compares a password with a hash, "" for an account that is not there.
func (h *Hasher) Check(ctx context.Context, pw, hash string) (bool, error) {
	exists := hash != ""
	if !exists {
		hash = h.none
	}
	c, salt, want, err := decode(hash)
	if err != nil {
		return false, err
	}
	if len(pw) > MaxLen {
		pw, exists = "", false
	}
	got, err := h.sum(ctx, pw, c, salt)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1 && exists, err
}

func (h *Hasher) sum(ctx context.Context, pw string, c Costs, salt []byte) ([]byte, error) {
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.turns }()
	return argon2.IDKey([]byte(pw), salt, c.Passes, c.KiB, 1, hashSize), nil
}

func encode(c Costs, salt, sum []byte) string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, c.KiB, c.Passes, b.EncodeToString(salt), b.EncodeToString(sum))
}

var errForm = errors.New("a password hash that is not of this service")

func decode(hash string) (c Costs, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprint("v=", argon2.Version) {
		return c, nil, nil, errForm
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=1", &c.KiB, &c.Passes); err != nil || c.Passes == 0 || c.KiB == 0 || c.KiB > 1<<20 || c.Passes > 100 {
		return c, nil, nil, errForm
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil || len(salt) != saltSize {
		return c, nil, nil, errForm
	}
	if sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(sum) != hashSize {
		return c, nil, nil, errForm
	}
	return c, salt, sum, nil
}
