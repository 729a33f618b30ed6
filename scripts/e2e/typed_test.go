package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// An application uses the catalog, quotes, runs, traces and datasets of the
// service through their types: from a model to a score, and from an agent's run
// to a sealed version.
func TestTyped_LIB04_Resources(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("evalrouter", "local", "start")
	token, err := os.ReadFile(filepath.Join(s.data(), "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := evalrouter.New(evalrouter.Config{BaseURL: s.serviceURL(), APIKey: strings.TrimSpace(string(token)), WorkspaceID: s.workspaceID(), AllowHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	measure(t, client)
	secret := s.traceConnection("typed", "otlp").Secret
	if got := s.export(secret, recorded(t, "openinference")); got != 200 {
		t.Fatalf("the export answered %d", got)
	}
	curate(t, client)
	s.audit()
}

// measure goes from the catalog to the result.
func measure(t *testing.T, client *evalrouter.Client) {
	t.Helper()
	ctx := t.Context()
	models, err := client.Catalog.Models(ctx, evalrouter.ModelQuery{})
	if err != nil || len(models.Data) == 0 {
		t.Fatalf("models: %d, %v", len(models.Data), err)
	}
	limit, five := usd.Dollar, 5
	quote, err := client.Quotes.Create(ctx, api.NewQuote{
		Selection: api.Selection{ProfileIDs: []string{"arithmetic@1"}}, Model: api.ModelRef{Kind: api.ManagedKind, RouteID: models.Data[0].ID},
		Coverage: &api.Coverage{Mode: api.Sample, SampleCount: &five}, MaxChargeMicrousd: &limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := client.Quotes.Get(ctx, quote.ID); err != nil || again.ID != quote.ID || again.Plan.TotalTasks != 5 {
		t.Errorf("the quote read again: %+v, %v", again, err)
	}
	run, err := client.Runs.Submit(ctx, api.NewRun{QuoteID: quote.ID}, evalrouter.NewIdempotencyKey())
	if err != nil {
		t.Fatal(err)
	}
	if run, err = client.Runs.Wait(ctx, run.ID, evalrouter.WaitOptions{Every: 20 * time.Millisecond}); err != nil || run.Status != api.StatusCompleted {
		t.Fatalf("the run: %s, %v", run.Status, err)
	}
	result, err := client.Runs.Results(ctx, run.ID, 0)
	if err != nil || result.Summary.Coverage.Planned != 5 || result.RunID != run.ID || result.Summary.BillingSnapshot.SpendMicrousd > limit {
		t.Errorf("the result: %+v, %v", result.Summary, err)
	}
	tasks := 0
	for task, err := range client.Runs.AllTasks(ctx, run.ID, evalrouter.TaskQuery{}) {
		if err != nil || task.Outcome == nil {
			t.Fatalf("a task: %+v, %v", task, err)
		}
		tasks++
	}
	if tasks != 5 {
		t.Errorf("%d tasks", tasks)
	}
}

// curate goes from a trace to a sealed version.
func curate(t *testing.T, client *evalrouter.Client) {
	t.Helper()
	ctx := t.Context()
	traces, err := client.Traces.List(ctx, evalrouter.TraceFilter{}, evalrouter.Paging{})
	if err != nil || len(traces.Data) != 1 {
		t.Fatalf("traces: %d, %v", len(traces.Data), err)
	}
	spans := 0
	for span, err := range client.Traces.AllSpans(ctx, traces.Data[0].ID, evalrouter.Paging{}) {
		if err != nil || span.ID == "" {
			t.Fatalf("a span: %+v, %v", span, err)
		}
		spans++
	}
	if spans != 4 {
		t.Errorf("%d spans", spans)
	}
	if all, err := client.Traces.Connections.List(ctx, evalrouter.Paging{}); err != nil || len(all.Data) != 1 {
		t.Errorf("connections: %+v, %v", all.Data, err)
	}
	set, err := client.Datasets.Create(ctx, api.NewDataset{Name: "typed"})
	if err != nil {
		t.Fatal(err)
	}
	items, err := client.Datasets.AddItems(ctx, set.ID, api.NewDatasetItems{Items: []api.NewDatasetItem{{Input: json.RawMessage(`"2+2"`), Expected: json.RawMessage(`"4"`)}}})
	if err != nil || len(items.Data) != 1 {
		t.Fatalf("items: %+v, %v", items.Data, err)
	}
	if read, err := client.Datasets.Item(ctx, set.ID, items.Data[0].ID); err != nil || string(read.Expected) != `"4"` {
		t.Errorf("the item: %+v, %v", read, err)
	}
	if page, err := client.Datasets.Versions(ctx, set.ID, evalrouter.Paging{}); err != nil || len(page.Data) != 0 {
		t.Errorf("versions: %+v, %v", page.Data, err)
	}
}
