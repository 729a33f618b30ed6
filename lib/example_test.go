package evalrouter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Quote first, keep the quote id and the idempotency key, then submit. After
// a lost answer the same pair finds the run instead of starting another.
func Example() {
	service := apitest.NewFake(apitest.Options{TaskTime: time.Millisecond})
	defer service.Close()
	service.Drop("POST /v1/runs", 1) // the first answer will be lost

	client, err := evalrouter.New(evalrouter.Config{
		BaseURL: service.URL, APIKey: service.Token, WorkspaceID: service.WorkspaceID, AllowHTTP: true,
		Retries: new(0), // so that the loss can be seen
	})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()

	limit := usd.Dollar
	quote, err := client.Quotes.Create(ctx, api.NewQuote{ // starts nothing
		Selection:         api.Selection{ProfileIDs: []string{"arithmetic@1"}},
		Model:             api.ModelRef{Kind: api.ManagedKind, RouteID: "practice.solver-80"},
		MaxChargeMicrousd: &limit,
	})
	if err != nil {
		panic(err)
	}

	// Keep both before submitting, where a crash cannot reach them.
	order := struct {
		QuoteID string
		Key     evalrouter.IdempotencyKey
	}{quote.ID, evalrouter.NewIdempotencyKey()}
	dir, err := os.MkdirTemp("", "order")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	kept, err := json.Marshal(order)
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "order.json"), kept, 0o600); err != nil {
		panic(err)
	}

	run, err := client.Runs.Submit(ctx, api.NewRun{QuoteID: order.QuoteID}, order.Key) // can start paid work
	if e := (*evalrouter.Error)(nil); errors.As(err, &e) && e.Uncertain {
		fmt.Println("no answer:", e.Code)
		run, err = client.Runs.Submit(ctx, api.NewRun{QuoteID: order.QuoteID}, order.Key)
	}
	if err != nil {
		panic(err)
	}
	run, err = client.Runs.Wait(ctx, run.ID, evalrouter.WaitOptions{Every: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	fmt.Println(run.Status, run.Headline.Value, "of", run.Headline.Denominator)
	fmt.Println("runs started:", service.Runs())
	// Output:
	// no answer: network_error
	// completed 0.8 of 25
	// runs started: 1
}
