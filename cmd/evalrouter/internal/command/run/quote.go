package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

const maxConfig = 256 << 10

type quoteCmd struct {
	*command.App
	config, id, concurrency, format string
}

// Quote is "evalrouter quote": the explicit form of asking what a run may cost.
func Quote(a *command.App) *argv.Command {
	c := &quoteCmd{App: a}
	fs := argv.NewFlags("quote")
	fs.String(&c.config, "config", "FILE|-", "the request as JSON; - reads stdin")
	fs.String(&c.id, "id", "QUOTE", "show a quote that exists")
	fs.String(&c.concurrency, "concurrency", "N", "auto, max or 1 to 100, instead of the file's")
	fs.String(&c.format, "output-format", "FORMAT", "instead of the file's")
	return &argv.Command{
		Name: "quote", Args: "--config FILE | --id QUOTE", Short: "Ask what a run may cost, without starting it",
		Long: "The request has model, selection, coverage and max_charge_microusd, a string of\nmillionths of a dollar. A cap is a bound, not a price, and no promise that the\nevaluation fits under it.",
		Examples: []string{
			"evalrouter quote --config quote.json --json",
			"evalrouter run --quote ID --idempotency-key KEY --wait",
		},
		Flags: fs, Exec: c.exec,
	}
}

func (c *quoteCmd) exec(ctx context.Context, args []string) error {
	if err := command.NoOperands(args); err != nil {
		return err
	}
	if (c.config == "") == (c.id == "") {
		return &argv.UsageError{Message: "give either --config or --id", Next: "evalrouter quote --help"}
	}
	if c.id != "" && (c.concurrency != "" || c.format != "") {
		return &argv.UsageError{Message: "--concurrency and --output-format belong to --config; a finished quote does not change"}
	}
	var in api.NewQuote
	if c.config != "" {
		var err error
		if in, err = c.request(); err != nil {
			return err
		}
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	q, err := c.get(ctx, client, in)
	if err != nil {
		return err
	}
	return c.Value(q, func(p *term.Page) {
		showQuote(p, q)
		if !q.Preview {
			p.Next("evalrouter run --quote " + q.ID + " --idempotency-key KEY")
			p.Line("      KEY is any name of yours; keep both until the run is there.")
		}
	})
}

func (c *quoteCmd) get(ctx context.Context, client *evalrouter.Client, in api.NewQuote) (api.QuoteRecord, error) {
	if c.id != "" {
		return client.Quotes.Get(ctx, c.id)
	}
	return client.Quotes.Create(ctx, in)
}

// request reads the file and refuses what the service would refuse, naming the
// place and never the value.
func (c *quoteCmd) request() (in api.NewQuote, err error) {
	data, err := c.read()
	if err != nil {
		return in, err
	}
	if len(data) > maxConfig {
		return in, malformed("it is larger than 256 KiB")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, malformed(where(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return in, malformed("something follows the JSON object")
	}
	if at, err := duplicate(data); err != nil || at != "" {
		return in, malformed(at + " stands in it twice")
	}
	if in.MaxChargeMicrousd == nil && !in.Preview {
		return in, malformed(`it has no max_charge_microusd, such as "1000000" for $1`)
	}
	if c.concurrency != "" {
		conc, err := api.ParseConcurrency(c.concurrency)
		if err != nil {
			return in, &argv.UsageError{Message: "--concurrency: " + err.Error()}
		}
		in.Concurrency = &conc
	}
	if c.format != "" {
		in.OutputFormat = &c.format
	}
	return in, nil
}

func (c *quoteCmd) read() ([]byte, error) {
	if c.config == "-" {
		data, err := io.ReadAll(io.LimitReader(c.Term.In, maxConfig+1))
		if err != nil {
			return nil, &argv.UsageError{Message: "stdin cannot be read: " + reason(err)}
		}
		return data, nil
	}
	path := c.config
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Term.Dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &argv.UsageError{Message: "the file of --config cannot be read: " + reason(err)}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &argv.UsageError{Message: "--config names a folder, not a file; nothing was quoted", Next: "evalrouter quote --help"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, &argv.UsageError{Message: "the file of --config cannot be read: " + reason(err)}
	}
	return data, nil
}

func malformed(what string) error {
	return &flow.Error{
		Code: api.InvalidInput, Message: "the quote request cannot be used: " + what,
		Facts: []string{"nothing was quoted, started or charged"},
	}
}

func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
