package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
)

var terminalFigures = regexp.MustCompile(`(?s)([0-9.]+ %) +([0-9,]+ of [0-9,]+) +95 % interval\s+([0-9.]+ to [0-9.]+).*Money +(\$[0-9.,]+) spent under a cap of (\$[0-9,]+\.[0-9]+)`)

// EXP-03: a run is saved as HTML. The figures that the terminal prints are
// those of the JSON record, of the HTML report, of Markdown and of JUnit.
func TestFiguresAreEqual_EXP03(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	id := strings.TrimSpace(output(t, ownProcess(t, home, f.URL, f.Token, nil, "run", "arithmetic", "--model", "practice.solver-80", "--sample", "30", "--max-cost", "1", "--yes", "--jq", ".id")))
	m := terminalFigures.FindStringSubmatch(output(t, ownProcess(t, home, f.URL, f.Token, nil, "results", id)))
	if m == nil {
		t.Fatal("the terminal prints no figures")
	}
	output(t, ownProcess(t, home, f.URL, f.Token, nil, "export", id, "--format", "html,md,github,junit,json", "--output", "result"))
	text := map[string]string{}
	for _, ext := range []string{"html", "md", "github.md", "junit.xml", "json"} {
		b, err := os.ReadFile(filepath.Join(home, "result."+ext))
		if err != nil {
			t.Fatal(err)
		}
		text[ext] = string(b)
	}
	var e api.Export
	if err := json.Unmarshal([]byte(text["json"]), &e); err != nil {
		t.Fatal(err)
	}
	delete(text, "json")
	head, interval := e.Profiles[0].Headline, e.Profiles[0].Metrics[0].Uncertainty.Interval
	record := []string{
		fmt.Sprintf("%.1f %%", 100**head.Value), fmt.Sprintf("%d of %d", e.Summary.Outcomes["right"], head.Denominator), fmt.Sprintf("%.1f to %.1f", 100*interval.Lower, 100*interval.Upper),
		report.Dollars(e.BillingSnapshot.SpendMicrousd), report.Dollars(e.BillingSnapshot.CapMicrousd),
	}
	for i, want := range m[1:] {
		if record[i] != want {
			t.Errorf("the record says %q, the terminal %q", record[i], want)
		}
		for ext, s := range text {
			if !strings.Contains(s, want) {
				t.Errorf("%s lacks %q, which the terminal prints", ext, want)
			}
		}
	}
}
