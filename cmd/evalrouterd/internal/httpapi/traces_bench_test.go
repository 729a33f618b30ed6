package httpapi_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// longTrace is a run of an agent with n steps of about a kilobyte of content, as
// an exporter sends it.
func longTrace(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	words := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString([]string{"the", "agent", "asked", "about", "her", "parcel", "in", "Oslo", `\"quoted\"`, "42"}[r.IntN(10)] + " ")
		}
		return b.String()
	}
	text := func(k, v string) string { return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, k, v) }
	var all []string
	for i := range n {
		parent := ""
		if i > 0 {
			parent = `"parentSpanId":"0000000000000001",`
		}
		start := 1_700_000_000_000_000_000 + i*10_000
		all = append(all, fmt.Sprintf(`{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"%016x",%s"name":"chat bench-1","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s,%s,%s,%s]}`,
			i+1, parent, start, start+5000, text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "bench-1"),
			text("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"`+words(680)+`"}]}]`),
			text("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"`+words(340)+`"}],"finish_reason":"stop"}]`)))
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(all, ",") + `]}]}]}`
}

// BenchmarkSteps reads the 500 steps of a trace, page by page.
func BenchmarkSteps(b *testing.B) {
	h := newHarness(b)
	c := h.traceConnection("otlp")
	h.send("POST", "/v1/otlp/v1/traces", longTrace(500), as(c.Secret)).want(b, 200)
	var page api.Page[api.TraceRecord]
	h.send("GET", "/v1/traces", nil).want(b, 200).into(b, &page)
	var paths []string
	for next := "/v1/traces/" + page.Data[0].ID + "/spans?limit=500"; next != ""; {
		paths = append(paths, next)
		var steps api.Page[api.SpanRecord]
		h.send("GET", next, nil).want(b, 200).into(b, &steps)
		base := next
		if next = ""; steps.NextCursor != nil {
			next = strings.Split(base, "&")[0] + "&cursor=" + *steps.NextCursor
		}
	}
	b.ReportAllocs()
	var size int64
	for b.Loop() {
		for _, path := range paths {
			req, err := http.NewRequest(http.MethodGet, h.URL+path, nil)
			if err != nil {
				b.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+owner)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK {
				b.Fatal(err, resp.StatusCode)
			}
			size += n
		}
	}
	b.ReportMetric(float64(size)/float64(b.N), "sent/op")
	b.ReportMetric(float64(len(paths)), "pages")
}
