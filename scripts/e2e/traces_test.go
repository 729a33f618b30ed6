package e2e_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is an agent's run as one kind of instrumentation sends it.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "cmd", "evalrouterd", "internal", "dialect", "testdata", name+".otlp.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// export sends spans as an exporter does, and gives the status.
func (s *site) export(secret string, body []byte) int {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.serviceURL()+"/v1/otlp/v1/traces", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// What an exporter sends is seen, found, shown as a tree and taken away, and
// the keys of its connection work as long as they should.
func TestTraces_TDS02_TDS03_FromAnExporterToTheTree(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.traceConnection("shop", "otlp")
	for range 2 { // a batch that is sent again is kept once
		if got := s.export(c.Secret, recorded(t, "openinference")); got != 200 {
			t.Fatalf("the export answered %d", got)
		}
	}
	all := s.traces("--connection", "shop", "--status", "ok", "--model", "gpt-x", "--tool", "multiply", "--query", "SUPP", "--since", "2025-11-30", "--until", "2025-12-01T00:00:00Z")
	if len(all) != 1 || all[0].Spans != 4 || all[0].Models != 2 || all[0].Tools != 1 || all[0].Usage.In != 61 || all[0].Usage.Out != 19 {
		t.Fatalf("%+v", all)
	}
	for _, none := range [][]string{{"--status", "error"}, {"--model", "other"}, {"--until", "2025-11-30"}, {"--since", "1h"}, {"--min-duration", "60"}} {
		if got := s.traces(none...); len(got) != 0 {
			t.Errorf("%v shows %+v", none, got)
		}
	}
	contains(t, "what an exporter is told", s.ok("evalrouter", "traces", "connections", "create", "--name", "second", "--kind", "otlp").stdout, "An exporter sends to "+s.serviceURL()+"/v1/otlp with the header", "EVALROUTER_TRACE_KEY=eri_")
	id := all[0].ID
	contains(t, "the tree", s.ok("evalrouter", "traces", "show", id[24:], "--content").stdout,
		"support  ok", "\nagent support", "\n  model OpenAI Chat Completions (gpt-x)", "\n  tool multiply", `< {"a":6,"b":7}`, "6 times 7 is 42.")
	s.refused(2, "invalid_input", "evalrouter", "traces", "show", "nowhere")
	s.refused(2, "invalid_input", "evalrouter", "traces", "list", "--since", "yesterday")
	s.refused(2, "invalid_input", "evalrouter", "traces", "list", "--connection", "other")

	next := decode[traceConnection](t, s.ok("evalrouter", "traces", "connections", "rotate-key", "shop", "--json").stdout)
	decode[traceConnection](t, s.ok("evalrouter", "traces", "connections", "rotate-key", "shop", "--json").stdout)
	if first, second := s.export(c.Secret, recorded(t, "genai")), s.export(next.Secret, recorded(t, "genai")); first != 401 || second != 200 {
		t.Errorf("after two rotations the keys answer %d and %d", first, second)
	}
	contains(t, "the change", s.ok("evalrouter", "traces", "connections", "update", "shop", "--keep", "outputs", "--days", "7", "--redact", "plate").stdout, "shop keeps outputs for 7 days")
	contains(t, "the list", s.ok("evalrouter", "traces", "connections", "list", "--json").stdout, `"status":"active"`, `"redact_fields":["plate"]`)
	if list := s.ok("evalrouter", "traces", "connections", "list", "--json").stdout; strings.Contains(list, next.Secret) {
		t.Error("a key is shown again")
	}
	s.ok("evalrouter", "traces", "delete", id)
	s.refused(1, "not_found", "evalrouter", "traces", "show", id)
	s.ok("evalrouter", "traces", "connections", "disable", "shop")
	if got := s.export(next.Secret, recorded(t, "genai")); got != 401 {
		t.Errorf("a disabled connection's key answers %d", got)
	}
	s.audit()
}
