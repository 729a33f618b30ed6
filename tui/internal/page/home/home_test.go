package home_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/page/home"
)

// hanging is a service that answers, beside releases that do not.
type hanging struct{}

func (hanging) Benchmarks(context.Context, bool) iter.Seq2[api.BenchmarkRecord, error] {
	return func(func(api.BenchmarkRecord, error) bool) {}
}
func (hanging) Models(context.Context, bool) iter.Seq2[api.ManagedRoute, error] {
	return func(func(api.ManagedRoute, error) bool) {}
}
func (hanging) Runs(context.Context) ([]api.RunRecord, error)      { return nil, nil }
func (hanging) Groups(context.Context) ([]api.GroupRecord, error)  { return nil, nil }
func (hanging) Credits(context.Context) (api.CreditsRecord, error) { return api.CreditsRecord{}, nil }

func (hanging) Newer(ctx context.Context) string {
	<-ctx.Done()
	return ""
}

func TestHomeWaitsForNoRelease_UPD05(t *testing.T) {
	t.Parallel()
	screen, effects := home.New(hanging{})
	frame := func() string {
		c := kit.NewCanvas(80, 24)
		screen.View(c)
		var rows []string
		for y := range 24 {
			rows = append(rows, c.Row(y))
		}
		return strings.Join(rows, "\n")
	}
	if got := frame(); !strings.Contains(got, "Run a benchmark") {
		t.Fatalf("the first screen has no menu:\n%s", got)
	}
	asked := false
	for _, e := range effects {
		load, ok := e.(kit.Load)
		if !ok {
			t.Fatalf("Home begins with %T", e)
		}
		if load.Name == "release" {
			asked = true // and no answer ever comes
			continue
		}
		screen, _ = screen.Update(load.Do(t.Context()))
	}
	if got := frame(); !asked || strings.Contains(got, "reading") {
		t.Errorf("asked %v; the rest waits for the answer:\n%s", asked, got)
	}
}
