package flow

import (
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Error is a refusal that was decided on this side of the network.
type Error struct {
	Code    api.Code
	Message string
	// Facts are further lines: what was not done, what it cost, what is kept.
	Facts []string
	// Closest are names near the one that was not understood, best first; for
	// an ambiguous name they are the candidates.
	Closest []string
	// RunID is the run that the refusal is about, "" if none.
	RunID string
	// IdempotencyKey is the key under which a submission may have been taken.
	IdempotencyKey string
	// Err is what caused the refusal, if another error did.
	Err error
}

// Error is the message alone.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, api.BenchmarkUnknown) work.
func (e *Error) Is(target error) bool {
	c, ok := target.(api.Code)
	return ok && c == e.Code
}

func refuse(code api.Code, message string, facts ...string) *Error {
	return &Error{Code: code, Message: message, Facts: facts}
}

// Typed repeats something a person typed, in quotes, when it is short, printable
// and does not look like a secret. Otherwise it says "that value": a pasted key
// must not end up in a log because it stood in the wrong place.
func Typed(s string) string {
	if len(s) == 0 || len(s) > 64 || looksSecret(s) {
		return "that value"
	}
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) || r == '"' || r == '\\' {
			return "that value"
		}
	}
	return `"` + s + `"`
}

func looksSecret(s string) bool {
	low := strings.ToLower(s)
	for _, p := range append(plain.KeyBeginnings(), "bearer ") {
		if strings.Contains(low, strings.ToLower(p)) {
			return true
		}
	}
	longest := 0
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a' && r != '_' }) {
		if mixed(part) {
			longest = max(longest, len(part))
		}
	}
	return longest >= 20
}

// mixed says that a word holds lower case, upper case and digits, as keys do
// and names seldom do.
func mixed(s string) bool {
	var lower, upper, digit bool
	for _, r := range s {
		lower = lower || unicode.IsLower(r)
		upper = upper || unicode.IsUpper(r)
		digit = digit || unicode.IsDigit(r)
	}
	return lower && upper && digit
}
