package agent

import (
	"context"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type search struct {
	Query string `json:"query,omitempty" jsonschema:"words to look for in names"`
	page
}

// catalog is what can be measured and with what.
func (d *Desk) catalog(s *mcp.Server) {
	add(s, d, tool{"list_benchmarks", "List benchmarks", "Benchmarks that models can be measured on, with their number of tasks and license. Free.", false},
		func(ctx context.Context, c *evalrouter.Client, in search) (any, error) {
			at, err := in.paging()
			if err != nil {
				return nil, err
			}
			return c.Catalog.Benchmarks(ctx, evalrouter.BenchmarkQuery{Text: in.Query, Paging: at})
		})
	add(s, d, tool{"list_models", "List models", "Models of the service with their rates in millionths of a dollar for a million tokens. Routes that begin with practice. are simulated. Free.", false},
		func(ctx context.Context, c *evalrouter.Client, in search) (any, error) {
			at, err := in.paging()
			if err != nil {
				return nil, err
			}
			return c.Catalog.Models(ctx, evalrouter.ModelQuery{Text: in.Query, Paging: at})
		})
	add(s, d, tool{"list_connections", "List connections", "Model servers that the person connected. Calls there are billed by whoever runs them. Free.", false},
		func(ctx context.Context, c *evalrouter.Client, in page) (any, error) {
			at, err := in.paging()
			if err != nil {
				return nil, err
			}
			return c.Connections.List(ctx, at)
		})
}
