package e2e_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// figures are those of a run, as people read them.
type figures struct {
	Score, Of, Interval string
	Spent, Cap          string
	Graded, Planned     string
	// Outcomes are counts by the words that people read.
	Outcomes map[string]string
}

// exported is the part of a run's JSON export that has figures.
type exported struct {
	Billing struct {
		Cap   string `json:"cap_microusd"`
		Spend string `json:"spend_microusd"`
	} `json:"billing_snapshot"`
	Summary struct {
		Coverage struct{ Planned, Graded int }
		Outcomes map[string]int
	}
	Profiles []struct {
		Metrics []measured
	}
	Samples []struct {
		Outcome string
		Charge  string `json:"charge_microusd"`
		Scores  map[string]float64
	}
}

type measured struct {
	Value       float64
	N           int `json:"sample_count"`
	Uncertainty struct {
		Interval struct{ Lower, Upper float64 }
	}
}

// words are what people read for outcomes.
var outcomeWords = map[string]string{"right": "right", "wrong": "wrong", "extraction_failed": "no answer found", "provider_error": "provider error", "skipped_budget": "not run (cap)"}

// money is micro-dollars as people read them: at least cents, no more digits
// than there are.
func money(t testing.TB, micro string) string {
	t.Helper()
	n, err := strconv.ParseInt(micro, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	s := strings.TrimRight(fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000), "0")
	whole, part, _ := strings.Cut(s, ".")
	return "$" + whole + "." + part + strings.Repeat("0", max(0, 2-len(part)))
}

// figuresOf computes from a record what all others must say.
func figuresOf(t testing.TB, e exported) figures {
	t.Helper()
	m := e.Profiles[0].Metrics[0]
	f := figures{
		Score: fmt.Sprintf("%.1f %%", 100*m.Value), Of: fmt.Sprintf("%d of %d", e.Summary.Outcomes["right"], m.N),
		Interval: fmt.Sprintf("%.1f to %.1f", 100*m.Uncertainty.Interval.Lower, 100*m.Uncertainty.Interval.Upper), Spent: money(t, e.Billing.Spend), Cap: money(t, e.Billing.Cap),
		Graded: strconv.Itoa(e.Summary.Coverage.Graded), Planned: strconv.Itoa(e.Summary.Coverage.Planned), Outcomes: map[string]string{},
	}
	for k, n := range e.Summary.Outcomes {
		w, ok := outcomeWords[k]
		if !ok {
			t.Fatalf("no word for the outcome %q", k)
		}
		f.Outcomes[w] = strconv.Itoa(n)
	}
	return f
}

// found is what an expression finds in a text, by its groups.
func found(t testing.TB, where, text, pattern string) []string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s has nothing like %s:\n%s", where, pattern, text)
	}
	return m[1:]
}

// pairs are all that an expression finds, a word with a figure.
func pairsIn(text, pattern string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}

func fromHTML(t testing.TB, where, text string) figures {
	t.Helper()
	text = html.UnescapeString(text)
	score := found(t, where, text, `<p class="score"><strong>([^<]+)</strong> <span>([^<]+)</span> <span>95 % interval ([^<]+)</span>`)
	spent := found(t, where, text, `<span>Spent</span> <b>([^<]+)</b> of ([^<]+)</li>`)
	graded := found(t, where, text, `<span>Graded</span> <b>([^<]+)</b> of ([0-9,]+) planned`)
	figure := found(t, where, text, `<b>Accuracy</b> <span>([^,]+), ([^,]+), 95 % interval ([0-9.]+ to [0-9.]+)`)
	if d := cmp.Diff(score, figure); d != "" {
		t.Errorf("%s says it differently at its top and below: %s", where, d)
	}
	facts := pairsIn(text, `<dt>(Cap|Spent|Planned|Graded)</dt><dd>([^<]+)</dd>`)
	if facts["Cap"] != spent[1] || facts["Spent"] != spent[0] || facts["Planned"] != graded[1] || facts["Graded"] != graded[0] {
		t.Errorf("%s says %v below and %v, %v at its top", where, facts, spent, graded)
	}
	return figures{score[0], score[1], score[2], spent[0], spent[1], graded[0], graded[1], pairsIn(text, `<span class="dot k-\w+"></span>([^<]+)</th><td>[^<]*</td><td class="num">([^<]+)</td>`)}
}

func fromMarkdown(t testing.TB, where, text string) figures {
	t.Helper()
	score := found(t, where, text, `\*\*([^*]+)\*\*, ([^,]+), 95 % interval ([0-9.]+ to [0-9.]+)`)
	rows := pairsIn(text, `\| (Spent|Cap|Graded|Planned) \| ([^|]+) \|`)
	_, outcomes, _ := strings.Cut(text, "## Outcomes")
	outcomes, _, _ = strings.Cut(outcomes, "\n## ")
	return figures{score[0], score[1], score[2], rows["Spent"], rows["Cap"], rows["Graded"], rows["Planned"], pairsIn(outcomes, `(?m)^- (.+): ([0-9,]+) \(`)}
}

// fromTerminal reads the score of a run as a terminal shows it.
func fromTerminal(t testing.TB, where, text string) figures {
	t.Helper()
	score := found(t, where, text, `(?:Sample|Score) +([0-9.]+ %) +([0-9]+ of [0-9]+) +95 % interval ([0-9.]+ to [0-9.]+)`)
	spent := found(t, where, text, `Money +(\$[0-9.]+) spent under a cap of (\$[0-9.]+),`)
	line := found(t, where, text, `Outcome +(.+) +\(([0-9]+) planned\)`)
	f := figures{score[0], score[1], score[2], spent[0], spent[1], "", line[1], pairsIn(line[0], `([a-z][a-z ()]*?) ([0-9]+)(?:  |$)`)}
	_, f.Graded, _ = strings.Cut(f.Of, " of ")
	return f
}

// fromJUnit reads the properties of a suite, and counts its cases.
func fromJUnit(t testing.TB, text string) figures {
	t.Helper()
	var s struct {
		Suite struct {
			Tests      int `xml:"tests,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Cases []struct {
				Failure *struct {
					Type string `xml:"type,attr"`
				} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	p := map[string]string{}
	for _, x := range s.Suite.Properties {
		p[x.Name] = x.Value
	}
	right, failed, errs, skipped := 0, 0, 0, 0
	for _, c := range s.Suite.Cases {
		switch {
		case c.Failure != nil:
			failed++
		case c.Error != nil:
			errs++
		case c.Skipped != nil:
			skipped++
		default:
			right++
		}
	}
	score := found(t, "JUnit", p["figure.accuracy"], `^(.+), (.+), 95 % interval (.+)$`)
	return figures{score[0], score[1], score[2], p["spent"], p["cap"], strconv.Itoa(right + failed), strconv.Itoa(s.Suite.Tests),
		map[string]string{"right": strconv.Itoa(right), "wrong": strconv.Itoa(failed), "provider error": strconv.Itoa(errs), "not run (cap)": strconv.Itoa(skipped)}}
}

// surf reads a page with the cookies of a browser.
type surf struct {
	t      testing.TB
	client http.Client
}

func newSurf(t testing.TB) *surf {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &surf{t, http.Client{Jar: jar}}
}

func (s *surf) page(address string) string {
	s.t.Helper()
	res, err := s.client.Get(address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s is answered %s (%v): %s", address, res.Status, err, b)
	}
	return string(b)
}

// link is the signed address of a page of the service.
func (s *site) link(args ...string) string {
	s.t.Helper()
	out := s.ok("evalrouter", append(append([]string{"open"}, args...), "--link")...)
	return found(s.t, "open --link", out.stdout, `(http://\S+)`)[0]
}

func (s *site) file(parts ...string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{s.home}, parts...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// TestFigures_Run reads one run on its page, in its report, at a terminal, in
// JSON, CSV, Markdown, a step summary and JUnit. The run has answers of several
// outcomes, an error, and tasks that its cap left. All figures are equal.
func TestFigures_Run(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out := s.run("evalrouter", "run", "arithmetic", "--model", "practice.flaky", "--sample", "60", "--max-cost", "0.004", "--yes")
	id := strings.TrimSpace(s.ok("evalrouter", "status", "--limit", "1", "--jq", ".data[0].id").stdout)
	s.ok("evalrouter", "export", id, "--format", "json,csv,html,md,github,junit", "--output", "all")
	e := decode[exported](t, s.file("all.json"))
	want := figuresOf(t, e)
	if len(want.Outcomes) < 4 || want.Outcomes["not run (cap)"] == "" || want.Outcomes["provider error"] == "" {
		t.Fatalf("the run is too plain to compare: %+v", want)
	}
	t.Logf("%+v", want)
	report, page := s.file("all.html"), newSurf(t).page(s.link(id))
	for where, got := range map[string]figures{
		"the page": fromHTML(t, "the page", page), "the report": fromHTML(t, "the report", report), "Markdown": fromMarkdown(t, "Markdown", s.file("all.md")),
		"the step summary": fromMarkdown(t, "the step summary", s.file("all.github.md")), "JUnit": fromJUnit(t, s.file("all.junit.xml")),
		"the run's end": fromTerminal(t, "the run's end", out.stdout), "results": fromTerminal(t, "results", s.ok("evalrouter", "results", id).stdout), "CSV": fromCSV(t, s.file("all.csv"), want),
	} {
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s says other figures than the JSON export (-JSON +%s):\n%s", where, where, d)
		}
	}
	// The samples of the export add up to its summary.
	right, sum := 0, int64(0)
	for _, x := range e.Samples {
		sum += micros(t, x.Charge)
		if x.Outcome == "right" {
			right++
		}
	}
	if right != e.Summary.Outcomes["right"] || strconv.FormatInt(sum, 10) != e.Billing.Spend || len(e.Samples) != e.Summary.Coverage.Planned {
		t.Errorf("%d samples with %d right and %d micro-dollars", len(e.Samples), right, sum)
	}
	// A report says once that it is of a sample.
	for where, text := range map[string]string{"the page": page, "the report": report} {
		if n := strings.Count(text, "full benchmark") + strings.Count(text, "full-benchmark"); n != 1 {
			t.Errorf("%s says %d times that a sample is not the full benchmark", where, n)
		}
	}
	s.audit()
}

// fromCSV counts lines; a CSV has no interval and no cap, which are taken from
// what is wanted.
func fromCSV(t testing.TB, text string, want figures) figures {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	outcomes, charged, graded, scores := map[string]int{}, int64(0), 0, 0.0
	for _, r := range rows[1:] {
		outcomes[outcomeWords[r[at["outcome"]]]]++
		charged += micros(t, r[at["charge_microusd"]])
		if cell := r[at["score_accuracy"]]; cell != "" {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			graded, scores = graded+1, scores+v
		}
	}
	f := figures{fmt.Sprintf("%.1f %%", 100*scores/float64(graded)), fmt.Sprintf("%.0f of %d", scores, graded), want.Interval, money(t, strconv.FormatInt(charged, 10)), want.Cap, strconv.Itoa(graded), strconv.Itoa(len(rows) - 1), map[string]string{}}
	for k, n := range outcomes {
		f.Outcomes[k] = strconv.Itoa(n)
	}
	return f
}

// compared is a comparison as a record.
type compared struct {
	Series []struct {
		Label    string
		Headline struct {
			Value       float64
			Denominator int
		}
		Charge   string `json:"charge_microusd"`
		Coverage struct{ Planned, Graded, Errors int }
	}
	Statistics *struct {
		Pairs []struct {
			First, Second string
			FirstHigher   int `json:"first_higher"`
			SecondHigher  int `json:"second_higher"`
			Difference    float64
			Interval      struct{ Lower, Upper float64 }
			P             float64
			PHolm         float64 `json:"p_holm"`
			Verdict       string
		}
	}
}

// TestFigures_Group reads a group at a terminal, as a record and on its page, and
// its comparison at a terminal, in JSON, as a file and on its page.
func TestFigures_Group(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.8", "--model", "practice.solver-0.5", "--sample", "40", "--max-cost", "1", "--yes")
	id := strings.TrimSpace(s.ok("evalrouter", "group", "list", "--jq", ".data[0].id").stdout)
	g := decode[struct {
		Spend   string `json:"spend_microusd"`
		Cap     string `json:"cap_microusd"`
		Members []struct {
			RunID     string `json:"run_id"`
			Spend     string `json:"spend_microusd"`
			Errors    int    `json:"error_count"`
			Processed int    `json:"processed_count"`
			Planned   int    `json:"planned_count"`
			Headline  struct {
				Value       float64
				Denominator int
				Interval    struct{ Lower, Upper float64 }
			}
		}
	}](t, s.ok("evalrouter", "group", "status", id, "--json").stdout)
	browser := newSurf(t)
	status, page := s.ok("evalrouter", "group", "status", id).stdout, html.UnescapeString(browser.page(s.link(id, "--group", "--live")))
	contains(t, "the terminal", status, money(t, g.Spend)+" spent", money(t, g.Cap)+" together")
	contains(t, "the page", page, "<b>"+money(t, g.Spend)+"</b> of "+money(t, g.Cap))
	for i, m := range g.Members {
		h := m.Headline
		score, n := fmt.Sprintf("%.1f %%", 100*h.Value), h.Denominator
		right := fmt.Sprintf("%.0f of %d", h.Value*float64(n), n)
		contains(t, "the terminal", status, fmt.Sprintf("%s [%.1f, %.1f]  %d", score, 100*h.Interval.Lower, 100*h.Interval.Upper, n))
		contains(t, "the page", page, fmt.Sprintf(`<td class="num">%s</td><td class="num">%s</td><td class="num">%d of %d</td><td class="num">%d</td><td class="num">%s `, score, right, m.Processed, m.Planned, m.Errors, money(t, m.Spend)),
			fmt.Sprintf("%s, %s, 95 %% interval %.1f to %.1f", score, right, 100*h.Interval.Lower, 100*h.Interval.Upper))
		// The member's own report says the same.
		own := fromTerminal(t, "results", s.ok("evalrouter", "results", m.RunID).stdout)
		if own.Score != score || own.Of != right || own.Spent != money(t, m.Spend) {
			t.Errorf("member %d: its own results say %+v", i, own)
		}
	}
	text := s.ok("evalrouter", "group", "compare", id, "--format", "html", "--output", "group").stdout
	s.sameComparison("group", text, html.UnescapeString(browser.page(s.pageBehind(id))))
	text = s.ok("evalrouter", "compare", g.Members[0].RunID, g.Members[1].RunID, "--stats", "--format", "html", "--output", "tested").stdout
	s.sameComparison("tested", text, "")
}

// pageBehind is the page of a group's comparison, for a browser that has opened
// the group.
func (s *site) pageBehind(group string) string {
	return s.serviceURL() + "/groups/" + group + "/comparison"
}

// sameComparison holds what a terminal printed, the saved page and a live one,
// where there is one, to the saved record.
func (s *site) sameComparison(dir, terminal, live string) {
	s.t.Helper()
	var c compared
	if err := json.Unmarshal([]byte(s.file(dir, "comparison.json")), &c); err != nil {
		s.t.Fatal(err)
	}
	saved := html.UnescapeString(s.file(dir, "comparison.html"))
	pages := map[string]string{"the saved page": saved}
	if live != "" {
		pages["the live page"] = live
	}
	if len(c.Series) != 2 {
		s.t.Fatalf("%d series", len(c.Series))
	}
	for _, x := range c.Series {
		score, n := fmt.Sprintf("%.1f %%", 100*x.Headline.Value), x.Headline.Denominator
		found(s.t, "the terminal", terminal, fmt.Sprintf(`(?m)^(%s) .*  %s +%d  `, x.Label, regexp.QuoteMeta(score), n))
		for where, page := range pages {
			contains(s.t, where, page, fmt.Sprintf(`<td class="num">%s</td><td class="num">n %d</td><td class="num">%d of %d</td><td class="num">%d</td><td class="num">%s</td>`, score, n, x.Coverage.Graded, x.Coverage.Planned, x.Coverage.Errors, money(s.t, x.Charge)))
		}
	}
	if (c.Statistics != nil) != (live == "") {
		s.t.Fatalf("statistics: %v", c.Statistics)
	}
	if c.Statistics == nil {
		return
	}
	for _, p := range c.Statistics.Pairs {
		verdict := p.Verdict
		if verdict == "better" || verdict == "worse" {
			verdict = p.First + " " + verdict
		}
		pair, gap, interval := p.First+"-"+p.Second, fmt.Sprintf("%+.1f", 100*p.Difference), fmt.Sprintf("%+.1f to %+.1f", 100*p.Interval.Lower, 100*p.Interval.Upper)
		flips, holm := fmt.Sprintf("%d / %d", p.FirstHigher, p.SecondHigher), fmt.Sprintf("%.4f", p.PHolm)
		found(s.t, "the terminal", terminal, fmt.Sprintf(`(?m)^(%s) +%s +%s +%s +%s +%s  `, pair, regexp.QuoteMeta(gap), regexp.QuoteMeta(interval), flips, holm, verdict))
		contains(s.t, "the saved page", saved, fmt.Sprintf(`<th scope="row">%s</th><td class="num">%s</td><td>%s</td><td class="num">%s</td><td class="num">%.4f</td><td class="num">%s</td><td>%s</td>`, pair, gap, interval, flips, p.P, holm, verdict))
	}
}
