package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// keyFlags are the ways in which a provider key reaches a command. None of
// them leaves the key on the command line.
type keyFlags struct {
	stdin, none bool
	variable    string
}

func (k *keyFlags) declare(fs *argv.Flags) {
	fs.Bool(&k.stdin, "key-stdin", "read the provider key from stdin")
	fs.String(&k.variable, "key-env", "VARIABLE", "read the provider key from a variable")
	fs.Bool(&k.none, "no-key", "the endpoint needs no key")
}

func (k *keyFlags) any() bool { return k.stdin || k.none || k.variable != "" }

const maxKey = 4096

// read gets the key on the way that was chosen, and asks for it, hidden, if
// none was.
func (k *keyFlags) read(ctx context.Context, a *App) (string, error) {
	ways := 0
	for _, used := range []bool{k.stdin, k.none, k.variable != ""} {
		if used {
			ways++
		}
	}
	if ways > 1 {
		return "", &argv.UsageError{Message: "--key-stdin, --key-env and --no-key exclude each other"}
	}
	switch {
	case k.none:
		return "", nil
	case k.variable != "":
		v, ok := a.Term.Env(k.variable)
		if !ok || strings.TrimSpace(v) == "" {
			return "", &argv.UsageError{Message: "the variable " + flow.Typed(k.variable) + " is empty or not set"}
		}
		return strings.TrimSpace(v), nil
	case k.stdin:
		b, err := io.ReadAll(io.LimitReader(a.Term.In, maxKey+2))
		if err != nil {
			return "", &argv.UsageError{Message: "stdin cannot be read"}
		}
		return checkKey(strings.TrimSpace(string(b)))
	case !a.Attended():
		return "", &argv.UsageError{Message: "no terminal to ask for the key; give --key-stdin, --key-env or --no-key"}
	}
	key, err := a.Term.AskSecret(ctx, "Provider key (not shown): ")
	if errors.Is(err, errors.ErrUnsupported) {
		return "", &argv.UsageError{Message: "this terminal cannot hide input; give --key-stdin or --key-env"}
	}
	if err != nil {
		return "", err
	}
	return checkKey(strings.TrimSpace(key))
}

func checkKey(key string) (string, error) {
	if key == "" {
		return "", &argv.UsageError{Message: "the key is empty; --no-key says that none is needed"}
	}
	if len(key) > maxKey || strings.ContainsAny(key, " \t\r\n") {
		return "", &argv.UsageError{Message: "the key is longer than 4,096 characters or has spaces in it"}
	}
	return key, nil
}
