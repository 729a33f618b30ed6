package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

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
		Long: `A cap is a bound, not a price, and no promise that the evaluation fits under it.
FILE is such a request; the cap is a string of millionths of a dollar:

  {"model": {"kind": "managed", "route_id": "practice.solver-0.8"},
   "selection": {"profile_ids": ["arithmetic@1"]},
   "coverage": {"mode": "sample", "sample_count": 3, "seed": 42},
   "max_charge_microusd": "1000000"}`,
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
	var err error
	if c.config != "" {
		in, err = c.request()
	} else {
		c.id, err = c.OneQuote(c.id)
	}
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	q, err := c.get(ctx, client, in)
	if err != nil {
		return err
	}
	c.RememberQuote(q)
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
	data, err := c.ReadInput(c.config)
	if err != nil {
		return in, malformed(err.Error())
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

func malformed(what string) error {
	return &flow.Error{
		Code: api.InvalidInput, Message: "the quote request cannot be used: " + what,
		Facts: []string{"nothing was quoted, started or charged"},
	}
}
