package routefile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

const maxKey = 4096

// Read fetches a credential. It is "" when the source names none, and never
// empty otherwise: a route whose key is not there could call nobody.
func (k KeySource) Read(getenv func(string) string, readFile func(string) ([]byte, error)) (provider.Secret, error) {
	var v, where string
	switch {
	case k.Env != "":
		v, where = getenv(k.Env), "the variable "+k.Env
	case k.File != "":
		b, err := readFile(k.File)
		if err != nil {
			return provider.Secret{}, fmt.Errorf("read key: %w", err)
		}
		v, where = string(b), "the file "+k.File
	default:
		return provider.Secret{}, nil
	}
	v = strings.TrimRight(v, "\r\n")
	if v == "" {
		return provider.Secret{}, fmt.Errorf("%s is empty or not set", where)
	}
	if len(v) > maxKey || strings.ContainsFunc(v, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return provider.Secret{}, errors.New(where + " holds what no header can carry: a key is one line of printable characters")
	}
	return provider.NewSecret(v), nil
}
