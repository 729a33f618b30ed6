package httpapi_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// TestExportReport asks for each format for people and holds its figures
// to those of the JSON export of the same run.
func TestExportReport(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	var e api.Export
	h.send("GET", "/v1/runs/"+run.ID+"/export?format=json", nil).want(t, 200).into(t, &e)
	head := e.Profiles[0].Headline
	interval := e.Profiles[0].Metrics[0].Uncertainty.Interval
	figures := []string{
		fmt.Sprintf("%.1f %%", 100**head.Value), fmt.Sprintf("%d of %d", e.Summary.Outcomes["right"], head.Denominator),
		fmt.Sprintf("95 %% interval %.1f to %.1f", 100*interval.Lower, 100*interval.Upper),
		report.Dollars(e.BillingSnapshot.SpendMicrousd), report.Dollars(e.BillingSnapshot.CapMicrousd), e.Checksum, e.Identities.TaskIDsHash, e.Identities.ManifestSHA256,
	}
	for format, want := range map[string]struct{ kind, extension string }{
		"html": {"text/html; charset=utf-8", "html"}, "md": {"text/markdown; charset=utf-8", "md"},
		"github": {"text/markdown; charset=utf-8", "github.md"}, "junit": {"application/xml; charset=utf-8", "junit.xml"},
	} {
		r := h.send("GET", "/v1/runs/"+run.ID+"/export?format="+format, nil).want(t, 200)
		if got := r.header.Get("Content-Type"); got != want.kind {
			t.Errorf("%s is %s", format, got)
		}
		if got := r.header.Get("Content-Disposition"); got != `attachment; filename="evalrouter-`+run.ID[:8]+"."+want.extension+`"` {
			t.Errorf("%s is called %s", format, got)
		}
		for _, f := range figures {
			if !strings.Contains(string(r.body), f) {
				t.Errorf("%s lacks %q", format, f)
			}
		}
	}
	page := string(h.send("GET", "/v1/runs/"+run.ID+"/export?format=html", nil).want(t, 200).body)
	for _, s := range e.Samples {
		if !strings.Contains(page, ">"+s.TaskID+"</span>") {
			t.Errorf("the page lacks task %s", s.TaskID)
		}
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junit := h.send("GET", "/v1/runs/"+run.ID+"/export?format=junit", nil).want(t, 200)
	if err := xml.Unmarshal(junit.body, &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 40 || suites.Failures != e.Profiles[0].Counts.Graded-e.Summary.Outcomes["right"] || suites.Skipped != e.Summary.Outcomes["skipped_budget"] {
		t.Errorf("JUnit counts %+v, the run %v", suites, e.Summary.Outcomes)
	}
}

// evidenceFiles is where the program that checks evidence keeps bundles that a
// service wrote.
const evidenceFiles = "../../../evalrouter-bench/internal/rederive/testdata"

// TestExportBundle writes the evidence of runs that a program, a judge and log
// probabilities grade, and derives every score and every charge from it. With
// -update the bundles become those that the checking program is tested with.
func TestExportBundle(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	judged := object{"selection": object{"profile_ids": []string{h.judged(t, "practice.judge")}}, "coverage": object{"mode": "full"}}
	cases := []likelyCase{
		{Name: "1", Choices: []string{"no", "yes"}, Gold: "B", Results: [][2]any{{-2.0, true}, {-4.0, false}}},
		{Name: "2", Choices: []string{"red", "blue"}, Gold: "B", Results: [][2]any{{-3.0, false}, {-0.5, true}}},
	}
	c := h.connect(t, &completions{cases: cases, asked: map[string]int{}})
	likely := object{"selection": h.likely(t, cases, "acc"), "model": object{"kind": "connection", "connection_id": c.ID}, "coverage": object{"mode": "full"}}
	for name, id := range map[string]string{"capped": h.capped(t).ID, "judged": h.finished(judged), "likely": h.finished(likely)} {
		r := h.send("GET", "/v1/runs/"+id+"/export?format=bundle", nil).want(t, 200)
		if *update {
			if err := os.WriteFile(filepath.Join(evidenceFiles, name+".zip"), r.body, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if again := h.send("GET", "/v1/runs/"+id+"/export?format=bundle", nil).want(t, 200); !bytes.Equal(r.body, again.body) {
			t.Errorf("%s: the second bundle has other bytes", name)
		}
		var e api.Export
		h.send("GET", "/v1/runs/"+id+"/export", nil).want(t, 200).into(t, &e)
		derive(t, name, r.body, e)
	}
}

// derive computes a run from its bundle.
func derive(t *testing.T, name string, b []byte, e api.Export) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var cfg bundle.GraderConfig
	var prices evidence.Prices
	for file, v := range map[string]any{evidence.GraderFile: &cfg, evidence.PricesFile: &prices} {
		if err := json.Unmarshal(inBundle(t, z, file), v); err != nil {
			t.Fatal(err)
		}
	}
	g, err := families.Grader(cfg)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := gzip.NewReader(bytes.NewReader(inBundle(t, z, evidence.SamplesFile)))
	if err != nil {
		t.Fatal(err)
	}
	n, spend, graded := 0, usd.Micro(0), 0
	for d := json.NewDecoder(lines); d.More(); n++ {
		var one evidence.Task
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e.Samples[n], one.Sample); diff != "" || one.Index != n {
			t.Errorf("%s: task %d is %d and differs: %s", name, n, one.Index, diff)
		}
		for _, call := range one.Calls {
			book := prices.Target
			if call.Kind == "judge" {
				book = prices.Judges[call.Part]
			}
			if book.Charge(call) != call.Charged || call.Charged == 0 {
				t.Errorf("%s: task %d: %+v comes to %s", name, n, call, book.Charge(call))
			}
			spend += call.Charged
		}
		if one.Sample.Status == "graded" {
			graded++
			regrade(t, g, one)
		}
	}
	if n != len(e.Samples) || spend != e.BillingSnapshot.SpendMicrousd || graded != e.Profiles[0].Counts.Graded || graded == 0 {
		t.Errorf("%s: %d tasks, %d graded, cost %s; the run %d, %d, %s", name, n, graded, spend, len(e.Samples), e.Profiles[0].Counts.Graded, e.BillingSnapshot.SpendMicrousd)
	}
}

func regrade(t *testing.T, g bundle.Grader, e evidence.Task) {
	t.Helper()
	task := bundle.Task{ID: e.Sample.TaskID, Target: e.Key.Target, Choices: e.Key.Choices, Schema: e.Key.Schema, Group: e.Key.Group}
	answer := bundle.Answer{Text: *e.Sample.Answer, Finish: bundle.Finish(*e.Sample.FinishReason)}
	v, err := g.Grade(task, answer)
	if j, ok := g.(bundle.Judged); ok {
		v, err = j.Verdict(task, answer, []bundle.Answer{{Text: *e.Sample.Judges[0].Reply, Finish: bundle.Finish(*e.Sample.Judges[0].FinishReason)}})
	}
	if err != nil || string(v.Outcome) != e.Sample.Outcome || v.Score != e.Sample.Scores["accuracy"] {
		t.Errorf("task %s is %s with %v, and now %+v, %v", e.Sample.TaskID, e.Sample.Outcome, e.Sample.Scores, v, err)
	}
}

func inBundle(t *testing.T, z *zip.Reader, name string) []byte {
	t.Helper()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What evidence says that a call is charged is what the books settle, for any
// prices, usage and reservation.
func TestEvidenceCharges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := func(name string) usd.PerMillion {
			return usd.PerMillion(rapid.Int64Range(0, 100_000_000).Draw(t, name))
		}
		tokens := func(name string) int64 { return rapid.Int64Range(0, 300_000).Draw(t, name) }
		rates := func(name string) core.Rates {
			if rapid.Bool().Draw(t, name+" free") {
				return core.Rates{}
			}
			return core.Rates{Input: rate(name + " in"), CacheRead: rate(name + " read"), CacheWrite: rate(name + " write"), CacheWriteHour: rate(name + " hour"), Output: rate(name + " out"), Reasoning: rate(name + " thought")}
		}
		r := rates("standard")
		p := core.Prices{Input: r.Input, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, CacheWriteHour: r.CacheWriteHour, Output: r.Output, Reasoning: r.Reasoning,
			Request: usd.Micro(rapid.Int64Range(0, 1000).Draw(t, "request")), Long: core.LongContext{Above: tokens("above"), Rates: rates("long")}}
		var u *core.Usage
		if rapid.Bool().Draw(t, "reported") {
			u = &core.Usage{Input: tokens("input"), CacheRead: tokens("read"), CacheWrite: tokens("write"), CacheWriteHour: tokens("hour"), Output: tokens("output"), Reasoning: tokens("thought")}
			if rapid.Bool().Draw(t, "billed") {
				u.Billed = new(usd.Micro(tokens("bill")))
			}
		}
		reserved := usd.Micro(tokens("reserved"))
		call := evidence.BilledCall{Reserved: reserved}
		if u != nil {
			call.Usage = new(evidence.Usage(*u))
		}
		book := httpapi.PriceBookOf(core.Target{Kind: "managed", RouteID: "a.b", Priced: true, Prices: p})
		if got, want := book.Charge(call), p.Settle(reserved, u).Spend; got != want {
			t.Errorf("%+v for %+v under %s: %s, the books say %s", p, u, reserved, got, want)
		}
		if got := httpapi.PriceBookOf(core.Target{Prices: p}).Charge(call); got != 0 {
			t.Errorf("a call without known prices is charged %s", got)
		}
	})
}
