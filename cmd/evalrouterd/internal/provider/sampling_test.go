package provider_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/anthropic"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/google"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/responses"
)

// Every protocol writes a temperature and stop texts in its own words, a
// temperature of zero too, and none where none is asked for.
func TestRender_Sampling(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		adapter provider.Adapter
		want    []string
	}{
		{"chat", openai.Chat(openai.Config{}), []string{`"temperature":0`, `"stop":["Q:"]`}},
		{"completions", openai.Completions(openai.Config{}), []string{`"temperature":0`, `"stop":["Q:"]`}},
		{"responses", responses.New(exchange.Config{}), []string{`"temperature":0`}},
		{"messages", anthropic.New(exchange.Config{}), []string{`"temperature":0`, `"stop_sequences":["Q:"]`}},
		{"Gemini", google.New(exchange.Config{}), []string{`"temperature":0`, `"stopSequences":["Q:"]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			task := bundle.Task{Input: []bundle.Message{{Role: bundle.User, Text: "2+2?"}}}
			q := core.Quote{Target: core.Target{BaseURL: "http://model.example/v1", ModelID: "m"}, Profile: core.Profile{MaxOutputTokens: 64}}
			render := func() string {
				b, err := tt.adapter.Render(provider.RequestFor(q, task))
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			if body := render(); strings.Contains(body, "temperature") || strings.Contains(body, "stop") {
				t.Errorf("nothing is asked for: %s", body)
			}
			q.Sampling = bundle.Sampling{Temperature: new(float64), Stop: []string{"Q:"}}
			body := render()
			for _, part := range tt.want {
				if !strings.Contains(body, part) {
					t.Errorf("no %s in %s", part, body)
				}
			}
		})
	}
}
