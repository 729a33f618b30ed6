package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	web "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/judging"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/lib/api"
)

// agents is the part of the harness that takes traces in.
func (h *harness) agents() *web.Handlers {
	h.t.Helper()
	st, err := h.store.Traces(h.id("9"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.keys.store = h.store
	door := traces.NewDoor(st)
	h.t.Cleanup(door.Close)
	issue := func() (string, core.APIKey, error) {
		h.keys.mu.Lock()
		defer h.keys.mu.Unlock()
		n := h.ids.Add(1)
		k := core.APIKey{ID: fmt.Sprint("ingest-", n), Prefix: fmt.Sprintf("eri_%08d", n), MAC: []byte{1}}
		secret := k.Prefix + "_secret"
		h.keys.ingest[secret] = k.Prefix
		return secret, k, nil
	}
	looks := &traces.Evaluation{Findings: st, Recent: st, NewID: h.id("3"), Now: func() core.Micros { return core.Micros(h.now.Load()) }}
	answers := export.Source{Samples: h.store, Replies: h.store, Tasks: h.catalog, Adapters: h.adapters}
	judges := &judging.Service{Kept: st, Own: h.mine.Service, Runs: h.store, Answers: answers, NewID: h.id("2"), Now: looks.Now}
	return web.New(&traces.Service{Connections: st, NewID: h.id("8"), NewEntry: h.id("5"), Issue: issue}, &traces.Intake{Door: door, Importer: st}, st, looks, judges, h.clock)
}

func (h *harness) traceConnection(kind string, more ...object) (c api.TraceConnectionCreated) {
	h.t.Helper()
	body := object{"name": "shop", "kind": kind}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	h.send("POST", "/v1/trace-connections", body).want(h.t, 200).into(h.t, &c)
	return c
}

// fixture is a recorded agent run as an exporter sends it.
func (h *harness) fixture(name string) string {
	h.t.Helper()
	raw, err := os.ReadFile("../dialect/testdata/" + name + ".otlp.json")
	if err != nil {
		h.t.Fatal(err)
	}
	return string(raw)
}

// trace is one that came over c.
func (h *harness) trace(c api.TraceConnectionCreated) api.TraceRecord {
	h.t.Helper()
	h.send("POST", "/v1/otlp/v1/traces", h.fixture("genai"), as(c.Secret)).want(h.t, 200)
	var page api.Page[api.TraceRecord]
	h.send("GET", "/v1/traces?connection_id="+c.ID, nil).want(h.t, 200).into(h.t, &page)
	if len(page.Data) != 1 {
		h.t.Fatalf("%d traces", len(page.Data))
	}
	return page.Data[0]
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s)) // into memory
	_ = z.Close()
	return b.String()
}

// A trace that an exporter sends can be read as the steps of its agent.
func TestTraces_FromExporterToSteps(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("otlp")
	if c.Status != "active" || !strings.HasPrefix(c.Secret, c.IngestKey.Prefix) || c.Capture.MaxValueBytes != 65536 || !c.Capture.Inputs || c.RetentionDays != 30 {
		t.Errorf("%+v", c)
	}
	tr := h.trace(c)
	if tr.Name != "invoke_agent support" || tr.Status != "ok" || tr.Completeness != "collecting" || tr.SpanCount != 4 || tr.ModelCalls != 2 || tr.ToolCalls != 1 || *tr.Usage.InputTokens != 61 ||
		*tr.Agent != "support" || *tr.ConversationID != "conv-1" || !cmp.Equal(tr.Models, []string{"gpt-x"}) || tr.Content != "captured" || *tr.DurationMS != 33 || tr.SourceTraceID != "5b8aa5a2d2c872e8321cf37308d69df2" {
		t.Errorf("%+v", tr)
	}
	h.now.Add(31 * 1_000_000)
	var again api.TraceRecord
	h.send("GET", "/v1/traces/"+tr.ID, nil).want(t, 200).into(t, &again)
	if again.Completeness != "complete" {
		t.Errorf("31 s later it is %s", again.Completeness)
	}
	var first, spans api.Page[api.SpanRecord]
	h.send("GET", "/v1/traces/"+tr.ID+"/spans?limit=3", nil).want(t, 200).into(t, &first)
	h.send("GET", "/v1/traces/"+tr.ID+"/spans?limit=3&cursor="+*first.NextCursor, nil).want(t, 200).into(t, &spans)
	all := append(first.Data, spans.Data...)
	if len(all) != 4 || all[0].ParentSpanID != nil || *all[3].ParentSpanID != all[0].ID || all[2].Kind != "tool" || string(all[2].Input) != `{"a":6,"b":7}` || spans.NextCursor != nil {
		t.Errorf("%+v", all)
	}
	h.send("GET", "/v1/traces/"+tr.ID+"/spans?limit=500", nil).want(t, 200).into(t, &spans) // a long trace by one request
	if len(spans.Data) != 4 {
		t.Errorf("%d steps", len(spans.Data))
	}
	h.send("GET", "/v1/traces/"+tr.ID+"/spans?limit=501", nil).refused(t, 422, "invalid_request")
	h.send("DELETE", "/v1/traces/"+tr.ID, nil).want(t, 200)
	h.send("GET", "/v1/traces/"+tr.ID, nil).refused(t, 404, "not_found")
}

// Every path, encoding and form of credential that exporters use.
func TestTraces_WaysIn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("sdk")
	body := h.fixture("langfuse")
	basic := header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("pk-lf-x:"+c.Secret)))
	for _, w := range []struct {
		name, path, body string
		tweaks           []tweak
		answer           string
	}{
		{"JSON", "/v1/otlp/v1/traces", body, nil, "{}"},
		{"JSON with a charset and gzip", "/v1/traces", zipped(body), []tweak{header("Content-Type", "application/json; charset=utf-8"), header("Content-Encoding", "gzip")}, "{}"},
		{"the Langfuse exporter", "/api/public/otel/v1/traces", body, []tweak{basic}, "{}"},
		{"protobuf without spans", "/v1/otlp/v1/traces", "", []tweak{header("Content-Type", "application/x-protobuf")}, ""},
		{"the connection is named", "/v1/otlp/v1/traces", body, []tweak{header("X-Trace-Connection-Id", c.ID), header("X-Workspace-Id", "local")}, "{}"},
	} {
		r := h.send("POST", w.path, w.body, append([]tweak{as(c.Secret)}, w.tweaks...)...).want(t, 200)
		if string(r.body) != w.answer {
			t.Errorf("%s: answered %q", w.name, r.body)
		}
		if kind := r.header.Get("Content-Type"); kind != "application/json; charset=utf-8" && w.answer == "{}" || w.answer == "" && kind != "application/x-protobuf" {
			t.Errorf("%s: the answer is %s", w.name, kind)
		}
	}
	var page api.Page[api.TraceRecord]
	h.send("GET", "/v1/traces", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.Data[0].SpanCount != 4 {
		t.Errorf("sent four times: %+v", page.Data)
	}
	for _, w := range []struct {
		name, body, code string
		status           int
		tweaks           []tweak
	}{
		{"another connection's id", body, "ingest_only", 403, []tweak{header("X-Trace-Connection-Id", "x")}},
		{"text", body, "unsupported_media_type", 415, []tweak{header("Content-Type", "text/plain")}},
		{"brotli", body, "unsupported_media_type", 415, []tweak{header("Content-Encoding", "br")}},
		{"no gzip", body, "malformed_export", 400, []tweak{header("Content-Encoding", "gzip")}},
		{"half of gzip", zipped(body)[:100], "malformed_export", 400, []tweak{header("Content-Encoding", "gzip")}},
		{"no JSON", "{", "malformed_export", 400, nil},
		{"no protobuf", body, "malformed_export", 400, []tweak{header("Content-Type", "application/x-protobuf")}},
		{"a Langfuse key alone", body, "unauthenticated", 401, []tweak{header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.Secret+":x")))}},
	} {
		r := h.send("POST", "/v1/otlp/v1/traces", w.body, append([]tweak{as(c.Secret)}, w.tweaks...)...)
		if p := r.refused(t, w.status, w.code); w.status != 401 && w.status != 403 && !strings.Contains(p.Error.Message, "othing") {
			t.Errorf("%s: %s", w.name, p.Error.Message)
		}
	}
	r := h.send("POST", "/v1/otlp/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{},{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708"}]}]}]}`, as(c.Secret)).want(t, 200)
	if !strings.Contains(string(r.body), `"rejectedSpans":"1"`) || !strings.Contains(string(r.body), "not logs") {
		t.Errorf("%s", r.body)
	}
}

// TRC-02: an ingest key brings traces to its connection and can do nothing
// else; it ends with its connection, and the second rotation ends it.
func TestTraces_TRC02_IngestKeys(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c, body := h.traceConnection("otlp"), h.fixture("genai")
	send := func(secret string) reply { return h.send("POST", "/v1/otlp/v1/traces", body, as(secret)) }
	for _, rt := range h.api.RouteTable() {
		if rt.Public || rt.Scope == "traces:ingest" {
			continue
		}
		var in any
		if rt.Body {
			in = "{}"
		}
		h.send(rt.Method, strings.NewReplacer("{id}", c.ID).Replace(rt.Path), in, as(c.Secret)).refused(t, 403, "ingest_only")
	}
	other := h.traceConnection("langsmith")
	h.send("POST", "/v1/trace-connections/"+other.ID+"/imports", object{"source": "langsmith", "project_id": "p", "traces": []object{}}, as(c.Secret)).refused(t, 403, "ingest_only")
	send(other.Secret).refused(t, 422, "invalid_request")
	secrets := []string{c.Secret}
	for range 2 {
		h.now.Add(1_000_000)
		var next api.TraceConnectionCreated
		h.send("POST", "/v1/trace-connections/"+c.ID+"/rotate-key", nil).want(t, 200).into(t, &next)
		secrets = append(secrets, next.Secret)
	}
	send(secrets[0]).refused(t, 401, "key_revoked")
	send(secrets[1]).want(t, 200)
	send(secrets[2]).want(t, 200)
	var key api.TraceConnection
	h.send("GET", "/v1/trace-connections/"+c.ID, nil).want(t, 200).into(t, &key)
	// The list of keys shows it, but only its connection gives it a successor.
	if r := h.send("GET", "/v1/api-keys", nil).want(t, 200); !bytes.Contains(r.body, []byte(key.IngestKey.ID)) {
		t.Errorf("%s", r.body)
	}
	h.send("POST", "/v1/api-keys/"+key.IngestKey.ID+"/rotate", object{}).refused(t, 403, "insufficient_scope")
	h.send("DELETE", "/v1/api-keys/"+key.IngestKey.ID, nil).want(t, 200)
	send(secrets[2]).refused(t, 401, "key_revoked")
	h.send("DELETE", "/v1/trace-connections/"+c.ID, nil).want(t, 200)
	send(secrets[1]).refused(t, 401, "key_revoked")
	send(secrets[2]).refused(t, 401, "key_revoked")
	if log := h.log.String(); strings.Contains(log, "_secret") {
		t.Error("a key stands in the log")
	}
}

// What a connection keeps: no inputs, little output, and no field that it names.
func TestTraces_Capture(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("otlp", object{"capture": object{"inputs": false, "max_value_bytes": 300, "redact_fields": []string{"plate number"}}, "retention_days": 7})
	output := `{\"password\":\"hunter2\",\"plateNumber\":\"AB 123\",\"authorized\":\"yes\",\"long\":\"` + strings.Repeat("x", 900) + `\"}`
	body := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"n","startTimeUnixNano":"5","endTimeUnixNano":"6","attributes":[
		{"key":"evalrouter.input","value":{"stringValue":"secret question"}},{"key":"evalrouter.output","value":{"stringValue":"` + output + `"}},
		{"key":"http.request.header.authorization","value":{"stringValue":"Bearer abcdefgh12345678"}}]}]}]}]}`
	h.send("POST", "/v1/traces", body, as(c.Secret)).want(t, 200)
	var page api.Page[api.TraceRecord]
	h.send("GET", "/v1/traces", nil).want(t, 200).into(t, &page)
	tr := page.Data[0]
	if !tr.Redacted || !tr.Truncated || tr.Content != "partial" || tr.ExpiresAt.Sub(tr.ReceivedAt).Hours() != 7*24 {
		t.Errorf("%+v", tr)
	}
	r := h.send("GET", "/v1/traces/"+tr.ID+"/spans", nil).want(t, 200)
	for _, gone := range []string{"secret question", "hunter2", "AB 123", "abcdefgh12345678"} {
		if bytes.Contains(r.body, []byte(gone)) {
			t.Errorf("%q was kept: %s", gone, r.body)
		}
	}
	var spans api.Page[api.SpanRecord]
	r.into(t, &spans)
	if s := spans.Data[0]; string(s.Input) != "null" || len(s.Output) > 300 || !s.OutputTruncated || !strings.Contains(string(s.Attributes), "authorization") {
		t.Errorf("%+v: %s %s", s, s.Output, s.Attributes)
	}
}

func TestTraceConnections_Settings(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, bad := range []object{
		{"name": "n", "kind": "ftp"}, {"name": " ", "kind": "sdk"}, {"name": strings.Repeat("n", 101), "kind": "sdk"}, {"kind": "sdk"}, {"name": "n", "kind": "sdk", "retention_days": 0},
		{"name": "n", "kind": "sdk", "retention_days": 401}, {"name": "n", "kind": "sdk", "capture": object{"max_value_bytes": 255}},
		{"name": "n", "kind": "sdk", "capture": object{"redact_fields": []string{""}}}, {"name": "n", "kind": "sdk", "capture": object{"redact_fields": make([]string, 101)}}, {"name": "n", "kind": "sdk", "key": "x"},
	} {
		h.send("POST", "/v1/trace-connections", bad).refused(t, 422, "invalid_request")
	}
	c := h.traceConnection("sdk", object{"capture": object{"outputs": false}})
	var v api.TraceConnection
	h.send("PATCH", "/v1/trace-connections/"+c.ID, object{"capture": object{"redact_fields": []string{"plate"}}, "retention_days": 3}).want(t, 200).into(t, &v)
	if v.Capture.Outputs || !v.Capture.Inputs || !cmp.Equal(v.Capture.RedactFields, []string{"plate"}) || v.RetentionDays != 3 || v.Name != "shop" {
		t.Errorf("%+v", v)
	}
	r := h.send("GET", "/v1/trace-connections/"+c.ID, nil).want(t, 200)
	if bytes.Contains(r.body, []byte("secret")) {
		t.Errorf("a key is shown again: %s", r.body)
	}
	h.traceConnection("otlp")
	var page api.Page[api.TraceConnection]
	h.send("GET", "/v1/trace-connections?limit=1", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.NextCursor == nil {
		t.Errorf("%+v", page)
	}
}

func importedTrace(id string, change func(*api.ImportedTrace)) api.ImportedTrace {
	at := began
	t := api.ImportedTrace{
		SourceTraceID: id, Name: "run", Status: api.TraceOK, Completeness: api.TraceComplete, Reasons: []string{}, StartedAt: at, EndedAt: &at, Labels: []string{"blue"}, SpanCount: 1,
		Redaction: api.TraceRedaction{Version: "v", Profile: "p"},
		Spans: []api.ImportedSpan{{
			SourceSpanID: id, Kind: api.SpanAgent, Name: "run", Status: api.TraceOK, StartedAt: at, EndedAt: &at, Input: json.RawMessage(`{"q":"1+1?"}`), Output: json.RawMessage(`{"a":"2"}`), Attributes: json.RawMessage("null"),
		}},
	}
	if change != nil {
		change(&t)
	}
	digest, _, err := t.ContentDigest()
	if err != nil {
		panic(err) // a trace of this file always encodes
	}
	t.Digest = digest
	return t
}

// Every trace of a batch has a fate of its own; a batch may come again.
func TestTraces_Imports(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("langsmith")
	bring := func(traces ...api.ImportedTrace) (out api.TraceImportResult) {
		t.Helper()
		h.send("POST", "/v1/trace-connections/"+c.ID+"/imports", api.TraceImport{Source: "langsmith", ProjectID: "p", Traces: traces}, as(c.Secret), keyed("k")).want(t, 200).into(t, &out)
		return out
	}
	good, twin := importedTrace("a", nil), importedTrace("twin", nil)
	forged := importedTrace("forged", nil)
	forged.Name = "another"
	bad := importedTrace("bad", func(t *api.ImportedTrace) { t.Spans[0].Kind = "dream" })
	torn := importedTrace("torn", func(t *api.ImportedTrace) { t.SpanCount = 7 })
	got := bring(good, forged, bad, twin, torn, twin)
	want := api.TraceImportResult{Accepted: 2, Rejected: []api.TraceRejection{
		{SourceTraceID: "forged", Code: api.DigestMismatch}, {SourceTraceID: "bad", Code: api.InvalidRequest}, {SourceTraceID: "torn", Code: api.InvalidRequest}, {SourceTraceID: "twin", Code: api.InvalidRequest},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := bring(good, twin); got.Duplicates != 2 || got.Accepted != 0 {
		t.Errorf("again: %+v", got)
	}
	later := importedTrace("a", func(t *api.ImportedTrace) {
		t.Completeness, t.Reasons, t.Name = api.TracePartial, []string{"runs_open"}, "longer"
	})
	if got := bring(later); got.Accepted != 1 {
		t.Errorf("a revision: %+v", got)
	}
	var page api.Page[api.TraceRecord]
	h.send("GET", "/v1/traces?q=LONGER", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.Data[0].Revision != 2 || page.Data[0].Completeness != "partial" || !cmp.Equal(page.Data[0].Reasons, []string{"runs_open"}) || !cmp.Equal(page.Data[0].Labels, []string{"blue"}) {
		t.Errorf("%+v", page.Data)
	}
	many := make([]api.ImportedTrace, 101)
	for i := range many {
		many[i] = good
	}
	path := "/v1/trace-connections/" + c.ID + "/imports"
	h.send("POST", path, api.TraceImport{Source: "langsmith", ProjectID: "p", Traces: many}, as(c.Secret)).refused(t, 422, "invalid_request")
	h.send("POST", path, api.TraceImport{Source: "elsewhere", ProjectID: "p", Traces: many[:1]}, as(c.Secret)).refused(t, 422, "invalid_request")
	h.send("POST", path, `{"source":"langsmith","traces":[],"extra":1}`, as(c.Secret)).refused(t, 422, "invalid_request")
	h.send("POST", path, `{"a":"`+strings.Repeat("x", 4<<20)+`"}`, as(c.Secret)).refused(t, 413, "request_too_large")
	h.send("POST", "/v1/otlp/v1/traces", "{}", as(c.Secret), header("Content-Type", "application/json")).refused(t, 422, "invalid_request")
}

// U+0000 is in names that programs give. No trace is lost for it, and what is kept
// can be kept by both databases; in content it stays what it was.
func TestTraces_NULInNames(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("otlp")
	h.send("POST", "/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"n\u0000","startTimeUnixNano":"5","endTimeUnixNano":"6",
		"status":{"code":2,"message":"m\u0000"},"attributes":[{"key":"evalrouter.kind","value":{"stringValue":"agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"a\u0000"}},{"key":"gen_ai.request.model","value":{"stringValue":"x\u0000"}},
		{"key":"gen_ai.conversation.id","value":{"stringValue":"c\u0000"}},{"key":"evalrouter.input","value":{"stringValue":"q\u0000"}}]}]}]}]}`, as(c.Secret)).want(t, 200)
	smith := h.traceConnection("langsmith", object{"name": "smith"})
	text := "t\x00"
	var out api.TraceImportResult
	h.send("POST", "/v1/trace-connections/"+smith.ID+"/imports", api.TraceImport{Source: "langsmith", ProjectID: "p\x00", Traces: []api.ImportedTrace{
		importedTrace("a", func(t *api.ImportedTrace) {
			t.Name, t.ThreadID, t.Labels, t.Reasons = text, &text, []string{text}, []string{text}
			t.Spans[0].Name, t.Spans[0].Model, t.Spans[0].Error, t.Spans[0].Input = text, &text, &text, json.RawMessage(`"q\u0000"`)
		}),
		importedTrace("b\x00", nil),
	}}, as(smith.Secret)).want(t, 200).into(t, &out)
	if out.Accepted != 1 || len(out.Rejected) != 1 || out.Rejected[0].Code != api.InvalidRequest {
		t.Errorf("%+v", out)
	}
	var page api.Page[api.TraceRecord]
	h.send("GET", "/v1/traces", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 2 {
		t.Fatalf("%+v", page.Data)
	}
	for _, tr := range page.Data {
		r := h.send("GET", "/v1/traces/"+tr.ID+"/spans", nil).want(t, 200)
		var spans api.Page[api.SpanRecord]
		r.into(t, &spans)
		s, letter := spans.Data[0], "t"
		if tr.SourceTraceID != "a" {
			letter = "n"
		}
		if s.Name != letter+"\uFFFD" || string(s.Input) != `"q\u0000"` || !strings.HasSuffix(*tr.ConversationID, "\uFFFD") || strings.Contains(fmt.Sprintf("%+v", tr)+*s.Model, "\x00") {
			t.Errorf("%+v: %s", tr, r.body)
		}
	}
}
