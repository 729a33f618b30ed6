package source_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
	"github.com/evalrouter/evalrouter/langsmith/source"
	"github.com/evalrouter/evalrouter/lib/api"
)

// keeper is a destination and a store that keep everything.
type keeper struct{ traces map[string]api.ImportedTrace }

func (k *keeper) Import(_ context.Context, _ string, traces []api.ImportedTrace) (api.TraceImportResult, error) {
	for _, t := range traces {
		k.traces[t.SourceTraceID] = t
	}
	return api.TraceImportResult{Accepted: len(traces)}, nil
}

func (k *keeper) Save(langsmith.Change, func(func(langsmith.Change) bool)) error { return nil }

// imported is what one pass over a server sends.
func imported(t *testing.T, s *fakesmith.Server, version string) map[string]api.ImportedTrace {
	t.Helper()
	c, clock := client(t, s, func(cfg *source.Config) { cfg.API = version })
	k := &keeper{traces: map[string]api.ImportedTrace{}}
	state := langsmith.NewState()
	since := noon.Add(-48 * time.Hour)
	state.Apply(langsmith.Change{Since: &since})
	out, err := langsmith.New(langsmith.Config{Settle: time.Second}, state, c, k, k, clock).Once(t.Context())
	if err != nil || out.Pending > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	return k.traces
}

// Both versions make the same record of a trace, so that a change of version
// sends nothing again.
func TestDigestsAgree(t *testing.T) {
	t.Parallel()
	s := serve(t, fakesmith.Options{})
	for i := range 5 {
		s.Add(trace(i, noon.Add(-time.Duration(i+1)*time.Hour))...)
	}
	v2, v1 := imported(t, s, source.V2), imported(t, s, source.V1)
	if len(v2) != 5 {
		t.Fatalf("%d traces", len(v2))
	}
	if diff := cmp.Diff(v2, v1); diff != "" {
		t.Errorf("traces (-v2 +v1):\n%s", diff)
	}
	for _, x := range v2 {
		if digest, _, err := x.ContentDigest(); err != nil || digest != x.Digest {
			t.Errorf("digest %s, want %s: %v", x.Digest, digest, err)
		}
		if *x.Spans[1].Cost != 125 || x.Spans[0].Kind != api.SpanAgent || x.Spans[2].Status != api.TraceError {
			t.Errorf("spans %+v", x.Spans)
		}
	}
}

// The runs of a trace beyond two thousand are left out from the middle and
// counted, and its record stays within one request.
func TestLongTrace_LSM09(t *testing.T) {
	t.Parallel()
	s := serve(t, fakesmith.Options{})
	runs := trace(1, noon.Add(-time.Hour))[:1]
	root := runs[0]
	for i := range 2100 {
		id := time.Duration(i).String()
		runs = append(runs, &fakesmith.Run{
			ID: id, TraceID: root.ID, Parents: []string{root.ID}, Order: root.Order + "." + root.Start.Add(time.Duration(i)*time.Millisecond).Format("150405.000000") + id, Name: "step", Type: "tool",
			Start: root.Start.Add(time.Duration(i) * time.Millisecond), End: root.Start.Add(time.Second), ProjectID: project,
			Inputs: json.RawMessage(`{"text":"` + strings.Repeat("word ", 320) + `"}`),
		})
	}
	s.Add(runs...)
	got := imported(t, s, source.V2)[root.ID]
	if got.SpanCount != 2101 || got.OmittedSpans != 101 || len(got.Spans) != 2000 || got.Completeness != api.TracePartial || got.Reasons[0] != "runs_omitted" {
		t.Errorf("%d spans, %d omitted, %d kept, %s %v", got.SpanCount, got.OmittedSpans, len(got.Spans), got.Completeness, got.Reasons)
	}
	if got.Spans[0].SourceSpanID != root.ID || got.Spans[1999].SourceSpanID != runs[2100].ID {
		t.Error("the first or the last run is not kept")
	}
	if _, size, err := got.ContentDigest(); err != nil || size > 3<<20 {
		t.Errorf("%d bytes, %v", size, err)
	}
}
