package report_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/report"
)

type write func(io.Writer, report.Report, report.Tasks) error

func written(t testing.TB, f write, r report.Report, tasks report.Tasks) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r, tasks); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFiles_Golden(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]write{"report.md": report.Markdown, "github.md": report.GitHubSummary, "junit.xml": report.JUnit} {
		golden(t, name, []byte(written(t, f, newReport(t, 20), tasksOf(20, nil))))
	}
}

// suites is what CI systems read of JUnit XML.
type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	counted
	Suites []suite `xml:"testsuite"`
}

type counted struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
}

type suite struct {
	counted
	Properties []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	} `xml:"properties>property"`
	Cases []struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Failure *junitEnd `xml:"failure"`
		Error   *junitEnd `xml:"error"`
		Skipped *junitEnd `xml:"skipped"`
	} `xml:"testcase"`
}

type junitEnd struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func readJUnit(t testing.TB, text string) suites {
	t.Helper()
	var s suites
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = true
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if len(s.Suites) != 1 {
		t.Fatalf("%d suites", len(s.Suites))
	}
	return s
}

// The counts of the suite are those of its cases, and those of the run.
func TestJUnit_Counts(t *testing.T) {
	t.Parallel()
	const n = 200
	s := readJUnit(t, written(t, report.JUnit, newReport(t, n), tasksOf(n, nil)))
	in := s.Suites[0]
	got := counted{Tests: len(in.Cases), Name: in.Name}
	names := map[string]bool{}
	for _, c := range in.Cases {
		names[c.Name] = true
		switch {
		case c.Failure != nil:
			got.Failures++
		case c.Error != nil:
			got.Errors++
		case c.Skipped != nil:
			got.Skipped++
		}
	}
	want := counted{Name: in.Name, Tests: n, Failures: 40, Errors: 10, Skipped: 10}
	if got != want || in.counted != want || len(names) != n {
		t.Errorf("cases %+v, suite %+v, want %+v; %d names", got, in.counted, want, len(names))
	}
	if s.Tests != n || s.Failures != 40 || s.Errors != 10 || s.Skipped != 10 {
		t.Errorf("the root counts %+v", s.counted)
	}
}

// Markdown stays within its bound and says how much it does not list.
func TestMarkdown_Bounds(t *testing.T) {
	t.Parallel()
	const n = 8_000
	for _, tt := range []struct {
		name  string
		write write
		limit int
	}{{"comment", report.Markdown, report.MaxMarkdown}, {"step summary", report.GitHubSummary, report.MaxGitHubSummary}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat("`|long<b>", 100)
			got := written(t, tt.write, newReport(t, n), tasksOf(n, func(x *report.Task) { x.Target = []string{long}; x.Extracted = long }))
			listed := strings.Count(got, "\n- `sums/")
			at := strings.Index(got, " more are in the report: `evalrouter export ")
			if len(got) > tt.limit || len(got) < tt.limit*9/10 || at < 0 {
				t.Fatalf("%d bytes of %d with %d tasks listed", len(got), tt.limit, listed)
			}
			left, err := strconv.Atoi(strings.ReplaceAll(got[strings.LastIndexByte(got[:at], '\n')+1:at], ",", ""))
			if err != nil || left+listed != n*6/20 {
				t.Errorf("%d listed and %d more (%v) of %d", listed, left, err, n*6/20)
			}
		})
	}
}

// Every format of a run says the same figures as its records, in the digits of
// people: the terminal's are held to the same ones by its own test.
func TestFigures_EqualInEveryFormat(t *testing.T) {
	t.Parallel()
	r := newReport(t, 20)
	files := map[string]string{
		"html":   htmlOf(t, r, tasksOf(20, nil), 0),
		"md":     written(t, report.Markdown, r, tasksOf(20, nil)),
		"github": written(t, report.GitHubSummary, r, tasksOf(20, nil)),
		"junit":  written(t, report.JUnit, r, tasksOf(20, nil)),
	}
	for _, want := range []string{"77.8 %", "14 of 18", "95 % interval 54.8 to 91.0", "76.1 %", "70.0 to 82.1", "$1.234567", "$2.00", "2026-11-02 09:30:15 UTC"} {
		for name, text := range files {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

func TestFrom_Refuses(t *testing.T) {
	t.Parallel()
	e := export(20)
	e.Result.Profiles = nil
	if _, err := report.From(e, nil); err == nil {
		t.Error("a result without a profile became a report")
	}
}

// Nothing graded is no score, in words.
func TestNothingGraded(t *testing.T) {
	t.Parallel()
	e := export(20)
	e.Result.Profiles[0].Metrics, e.Result.Profiles[0].Graded = nil, 0
	e.Result.Summary.Outcomes = map[string]int{"skipped_budget": 20, "<script>": 1}
	r, err := report.From(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"html": htmlOf(t, r, tasksOf(20, nil), 0), "md": written(t, report.Markdown, r, tasksOf(20, nil)), "github": written(t, report.GitHubSummary, r, tasksOf(0, nil))} {
		if !strings.Contains(strings.ToLower(text), "nothing was graded") || strings.Contains(text, "NaN") {
			t.Errorf("%s does not say that nothing was graded", name)
		}
	}
}
