package apitest

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
)

func (f *Fake) connection(id string) (*api.ConnectionRecord, *failure) {
	for _, c := range f.conns {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, notFound("connection")
}

func (f *Fake) listConnections(in *request) (*reply, *failure) {
	out := make([]api.ConnectionRecord, 0, len(f.conns))
	for _, c := range f.conns {
		out = append(out, *c)
	}
	return page(in, out)
}

func (f *Fake) createConnection(in *request) (*reply, *failure) {
	n := api.NewConnection{Protocol: api.OpenAIChat, MaxOutputTokens: 4096, ContextWindow: 32768}
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	var bad []api.FieldError
	for _, e := range []struct{ path, value string }{{"name", n.Name}, {"base_url", n.BaseURL}, {"model_id", n.ModelID}} {
		if e.value == "" {
			bad = append(bad, api.FieldError{Path: e.path, Code: "required"})
		}
	}
	if !slices.Contains([]string{api.OpenAIChat, api.OpenAICompletions, api.OpenAIResponses, api.AnthropicMessages, api.GoogleGenerate}, n.Protocol) {
		bad = append(bad, api.FieldError{Path: "protocol", Code: "unknown"})
	}
	if (n.PriceInMicrousd == nil) != (n.PriceOutMicrousd == nil) {
		bad = append(bad, api.FieldError{Path: "price_in_microusd", Code: "both_or_neither"})
	}
	u, err := url.Parse(n.BaseURL)
	if n.BaseURL != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
		bad = append(bad, api.FieldError{Path: "base_url", Code: "invalid_value"})
	}
	if len(bad) > 0 {
		return nil, invalid(bad...)
	}
	if u.Hostname() == "169.254.169.254" {
		return nil, refuse(http.StatusUnprocessableEntity, api.EndpointRefused, "the service does not connect to this address")
	}
	c := &api.ConnectionRecord{
		ID: uuid.NewString(), Name: n.Name, BaseURL: n.BaseURL, ModelID: n.ModelID, Protocol: n.Protocol, Revision: 1, Capabilities: []string{},
		Config:    map[string]any{"max_output_tokens": n.MaxOutputTokens, "context_window": n.ContextWindow},
		CreatedAt: f.now(), PriceInMicrousd: n.PriceInMicrousd, PriceOutMicrousd: n.PriceOutMicrousd,
	}
	f.conns = append(f.conns, c)
	return ok(*c)
}

func (f *Fake) updateConnection(in *request) (*reply, *failure) {
	c, x := f.connection(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	var n api.UpdateConnection
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	if n.Name != nil {
		c.Name = *n.Name
	}
	if n.MaxOutputTokens != nil {
		c.Config["max_output_tokens"] = *n.MaxOutputTokens
	}
	if n.ContextWindow != nil {
		c.Config["context_window"] = *n.ContextWindow
	}
	if n.APIKey != nil {
		c.CheckedAt, c.CheckResult = nil, api.CheckResult{}
	}
	c.Revision++
	return ok(*c)
}

func (f *Fake) disableConnection(in *request) (*reply, *failure) {
	c, x := f.connection(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	if c.DisabledAt == nil {
		c.DisabledAt = new(f.now())
	}
	return ok(api.OKResponse{OK: true})
}

// checkConnection asks the endpoint for one answer, for real.
func (f *Fake) checkConnection(in *request) (*reply, *failure) {
	c, x := f.connection(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	now := f.now()
	c.CheckedAt = &now
	c.CheckResult = api.CheckResult{Status: "ok", SentRequest: true, CheckedAt: &now, ModelEcho: &c.ModelID, Capabilities: []string{"chat"}}
	c.Capabilities = c.CheckResult.Capabilities
	if !answers(in.Context(), c) {
		c.CheckResult = api.CheckResult{Status: "failed", SentRequest: true, CheckedAt: &now, ErrorCode: new("endpoint_unreachable"), Message: "the endpoint did not answer"}
	}
	return ok(*c)
}

func answers(ctx context.Context, c *api.ConnectionRecord) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body := strings.NewReader(`{"model":"` + c.ModelID + `","max_tokens":1,"messages":[{"role":"user","content":"ping"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.BaseURL, "/")+"/chat/completions", body)
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// discover finds the same two servers each time.
func (f *Fake) discover(*request) (*reply, *failure) {
	version, window, note := "0.34.0", 8192, "it tells its models only with a key"
	return ok(api.DiscoveryRecord{
		Probed: []string{"127.0.0.1:11434", "127.0.0.1:1234", "127.0.0.1:8080", "127.0.0.1:8000"},
		Servers: []api.DiscoveredServer{
			{Server: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Protocol: api.OpenAIChat, Version: &version, Models: []api.DiscoveredModel{
				{ID: "llama3.2:3b", ContextWindow: &window}, {ID: "big:cloud", Remote: true},
			}},
			{Server: "vllm", BaseURL: "http://127.0.0.1:8000/v1", Protocol: api.OpenAIChat, NeedsKey: true, Models: []api.DiscoveredModel{}, Note: &note},
		},
	})
}
