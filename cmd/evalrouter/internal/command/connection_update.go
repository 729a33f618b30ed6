package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// connectionChange is the flags of "connections update".
type connectionChange struct {
	*App
	keys      keyFlags
	flags     *argv.Flags
	rotate    bool
	config    string
	name      string
	maxOutput int
	context   int
}

func connectionsUpdate(a *App) *argv.Command {
	c := &connectionChange{App: a, flags: argv.NewFlags("update")}
	fs := c.flags
	fs.Bool(&c.rotate, "rotate-key", "replace the stored provider key")
	c.keys.declare(fs)
	fs.String(&c.name, "name", "NAME", "a new name")
	fs.Int(&c.maxOutput, "max-output-tokens", "N", "longest answer to ask for", 1, 10_000_000)
	fs.Int(&c.context, "context-window", "N", "the model's context window", 1, 100_000_000)
	fs.String(&c.config, "config", "FILE|-", "the changes as JSON; - reads stdin").Rare()
	return &argv.Command{
		Name: "update", Args: "CONNECTION [flags]", Short: "Change an endpoint or replace its key",
		Long:     "A new key clears the last check. Without --key-stdin or --key-env the key is\nasked for and not shown. Quotes made before the change keep their terms.",
		Examples: []string{"evalrouter connections update mine --rotate-key --key-env KEY", "evalrouter connections update mine --context-window 65536"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *connectionChange) exec(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return &argv.UsageError{Message: "name one connection", Next: "evalrouter connections list"}
	}
	in, err := c.change()
	if err != nil {
		return err
	}
	if in == (api.UpdateConnection{}) && !c.rotate {
		return &argv.UsageError{Message: "say what to change; nothing was changed", Next: "evalrouter connections update --help"}
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	id, err := c.oneConnection(ctx, client.Connections, args[0])
	if err != nil {
		return err
	}
	if c.rotate {
		key, err := c.keys.read(ctx, c.App)
		if err != nil {
			return err
		}
		in.APIKey = &key
	}
	r, err := client.Connections.Update(ctx, id, in)
	if err != nil {
		return err
	}
	return c.Value(r, func(p *term.Page) {
		p.Line("Updated connection %s (%s).", r.Name, r.ID)
		if c.rotate {
			p.Line("The old key is replaced; the connection needs a check.")
		}
		p.Next("evalrouter connections check " + Short(r.ID))
	})
}

// change is what the flags and the file ask for, without the key.
func (c *connectionChange) change() (in api.UpdateConnection, err error) {
	if c.keys.any() && !c.rotate {
		return in, &argv.UsageError{Message: "a key replaces the stored one only with --rotate-key"}
	}
	if c.config != "" {
		if in, err = c.read(); err != nil {
			return in, err
		}
	}
	if c.config == "-" && c.keys.stdin {
		return in, &argv.UsageError{Message: "--config - and --key-stdin both read stdin; give the key with --key-env"}
	}
	if c.flags.Given("name") {
		in.Name = &c.name
	}
	if c.flags.Given("max-output-tokens") {
		in.MaxOutputTokens = &c.maxOutput
	}
	if c.flags.Given("context-window") {
		in.ContextWindow = &c.context
	}
	return in, nil
}

// read takes the changes of a file. A key in a file would be a secret on a
// disk, so a file has none.
func (c *connectionChange) read() (in api.UpdateConnection, err error) {
	bad := func(what string) error {
		return &argv.UsageError{Message: "the changes of --config cannot be used: " + what + "; nothing was changed"}
	}
	data, err := c.ReadInput(c.config)
	if err != nil {
		return in, bad(err.Error())
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if dec.Decode(&in) != nil {
		return in, bad("they are an object with name, max_output_tokens or context_window")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return in, bad("something follows the JSON object")
	}
	if in.APIKey != nil {
		return api.UpdateConnection{}, bad("a key never stands in a file; use --rotate-key")
	}
	return in, nil
}

// maxInput bounds a file of --config.
const maxInput = 256 << 10

// ReadInput reads a small file, or stdin where its name is "-". Errors name no
// path.
func (a *App) ReadInput(name string) ([]byte, error) {
	in := a.Term.In
	if name != "-" {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Term.Dir, path)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, errors.New("the file cannot be read: " + pathless(err))
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, errors.New("it is a folder, not a file")
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return nil, errors.New("it cannot be read: " + pathless(err))
	case len(data) > maxInput:
		return nil, errors.New("it is larger than 256 KiB")
	}
	return data, nil
}

func pathless(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func connectionsDisable(a *App) *argv.Command {
	return &argv.Command{
		Name: "disable", Args: "CONNECTION", Short: "Take an endpoint out of use",
		Long:     "No new run can use it; runs that use it now go on. It cannot be enabled again,\nand a new connection takes its place.",
		Examples: []string{"evalrouter connections disable mine", "evalrouter connections disable 3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one connection", Next: "evalrouter connections list"}
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			id, err := a.oneConnection(ctx, client.Connections, args[0])
			if err != nil {
				return err
			}
			if err := client.Connections.Disable(ctx, id); err != nil {
				return err
			}
			return a.Value(map[string]any{"ok": true, "connection_id": id}, func(p *term.Page) {
				p.Line("Connection %s is out of use.", id)
				p.Next("evalrouter connections list")
			})
		},
	}
}
