package redact

import (
	"strings"
	"unicode"
)

// maxName bounds the characters of a name that are looked at. A longer name
// is no identifier.
const maxName = 256

// Sensitive says that a field of this name holds a secret.
func Sensitive(name string) bool {
	_, ok := match(name)
	return ok
}

// match is the rule that makes a name sensitive.
func match(name string) (rule string, ok bool) {
	if len(name) > 4*maxName {
		return "", false
	}
	words := split(name)
	if len(words) == 0 || harmless(words) {
		return "", false
	}
	for i := range words {
		for _, r := range sequences[words[i]] {
			if hasPrefix(words[i:], r) {
				return strings.Join(r, "_"), true
			}
		}
	}
	if rule, ok := tokenRule(words); ok {
		return rule, true
	}
	joined := strings.Join(words, "")
	for _, w := range unmistakable {
		if strings.Contains(joined, w) {
			return w, true
		}
	}
	return "", false
}

// split cuts a name into lower-case words at camelCase humps, digits and
// anything that is no letter.
func split(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	runes := fold(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			afterLower := unicode.IsLower(runes[i-1])
			endsAcronym := unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || endsAcronym {
				flush()
			}
		}
		word = append(word, unicode.ToLower(r))
	}
	flush()
	return words
}

// fold brings look-alikes to the letters that they imitate, as far as that can
// be said without tables of Unicode: full-width and mathematical letters, and
// the Cyrillic and Greek ones that look Latin. Marks and characters that show
// nothing are dropped.
func fold(name string) []rune {
	out := make([]rune, 0, len(name))
	for _, r := range name {
		switch {
		case r < 0x80:
		case r >= 0xFF01 && r <= 0xFF5E:
			r -= 0xFEE0
		case r >= 0x1D400 && r <= 0x1D6A3:
			if n := (r - 0x1D400) % 52; n < 26 {
				r = 'A' + n
			} else {
				r = 'a' + n - 26
			}
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r):
			continue
		default:
			if at := strings.IndexRune(lookAlikes, r); at >= 0 {
				r = rune(imitated[len([]rune(lookAlikes[:at]))])
			}
		}
		if out = append(out, r); len(out) == maxName {
			break
		}
	}
	return out
}

// The letter of imitated at the same position is what the look-alike imitates.
const (
	lookAlikes = "авеікмнорстухѕјԁɡαεικνορτυАВЕІКМНОРСТУХЅЈ"
	imitated   = "abeikmhopctyxsjdgaeikvoptuABEIKMHOPCTYXSJ"
)

func hasPrefix(words, prefix []string) bool {
	if len(words) < len(prefix) {
		return false
	}
	for i, w := range prefix {
		if words[i] != w {
			return false
		}
	}
	return true
}

// tokenRule judges the one word that is a credential in some names and a unit
// of text in others: a single token at the end of a name is a credential
// unless the word before it says what kind of text it is.
func tokenRule(words []string) (string, bool) {
	last := len(words) - 1
	if words[last] != "token" {
		return "", false
	}
	if last > 0 && oneOf(words[last-1], "stop", "eos", "bos", "pad", "unk", "mask", "cls", "sep", "end", "start", "special",
		"per", "first", "last", "next", "page", "each", "image", "text", "audio", "output", "input", "prompt", "completion", "max", "min") {
		return "", false
	}
	return "token", true
}

// harmless names measure, describe or point at a secret, or only look like
// one.
func harmless(words []string) bool {
	last := words[len(words)-1]
	if oneOf(last, "count", "counts", "length", "len", "limit", "limits", "usage", "cost", "costs", "budget", "policy",
		"type", "types", "enabled", "required", "expiry", "expires", "expired", "age", "size", "strength", "version",
		"status", "method", "mode", "provider", "scheme", "per", "tokens", "tokenizer", "details") {
		return true
	}
	if len(words) >= 2 && oneOf(last, "at", "in") && oneOf(words[len(words)-2], "expires", "expired", "created", "rotated", "updated", "changed") {
		return true
	}
	return false
}

func oneOf(word string, list ...string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// sequences are the rules by their first word: the words must follow each
// other anywhere in a name.
var sequences = byFirst(
	"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pin code", "pincode", "pin",
	"secret", "secrets", "client secret", "api key", "api keys", "apikey", "apikeys", "access key", "private key", "signing key",
	"encryption key", "master key", "account key", "storage key", "subscription key", "shared key", "ssh key", "secret key", "service key",
	"license key", "deploy key", "certificate key", "tls key", "ssl key", "host key", "webhook key", "auth key", "session key", "admin key", "recovery key",
	"credential", "credentials", "creds", "auth", "authorization", "authentication", "bearer", "jwt", "oauth",
	"access token", "refresh token", "id token", "session token", "csrf", "xsrf", "csrf token", "token value", "token string", "token secret",
	"cookie", "cookies", "set cookie", "connection string", "connection url", "database url", "db url", "redis url", "mongo url", "mongodb uri", "postgres url", "dsn",
	"webhook url", "otp", "mfa", "totp", "recovery code", "recovery codes", "backup code", "backup codes", "verification code", "security code", "security answer",
	"cvv", "cvc", "card number", "iban", "account number", "routing number", "sort code", "ssn", "social security", "passport",
	"tax id", "national id", "drivers license", "driver license", "dob", "date of birth", "salt", "nonce secret", "kubeconfig", "seed phrase", "mnemonic",
	"sas token", "bot token", "hmac", "sig key", "pgp key", "gpg key", "pat", "x api key", "keystore", "htpasswd", "netrc",
)

// unmistakable words are looked for in the whole name without its separators,
// because people glue them together: DBPASSWORD, xapikey, mypasswd.
var unmistakable = []string{
	"password", "passwd", "passphrase", "apikey", "privatekey", "accesskey", "secretkey", "clientsecret", "accesstoken",
	"refreshtoken", "idtoken", "sessiontoken", "authtoken", "bearertoken", "bottoken", "connectionstring", "credential", "authorization",
}

func byFirst(rules ...string) map[string][][]string {
	out := map[string][][]string{}
	for _, r := range rules {
		words := strings.Fields(r)
		out[words[0]] = append(out[words[0]], words)
	}
	return out
}
