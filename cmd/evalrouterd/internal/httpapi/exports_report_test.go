package httpapi_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
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
