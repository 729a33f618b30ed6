package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; -update rewrites it:\n%s", name, d)
	}
}

func htmlOf(t testing.TB, r report.Report, tasks report.Tasks, budget int64) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.HTML(&b, r, tasks, budget); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTML_Golden(t *testing.T) {
	t.Parallel()
	got := htmlOf(t, newReport(t, 20), tasksOf(20, nil), 0)
	golden(t, "report.html", []byte(got))
	if again := htmlOf(t, newReport(t, 20), tasksOf(20, nil), 0); again != got {
		t.Error("the same run gave other bytes")
	}
}

// The policy names the hash of exactly what stands in the page, and allows
// nothing inline beside it.
func TestHTML_Policy(t *testing.T) {
	t.Parallel()
	got := htmlOf(t, newReport(t, 20), tasksOf(20, nil), 0)
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(got)
	if policy == nil {
		t.Fatal("there is no policy")
	}
	csp := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	for _, element := range []string{"style", "script"} {
		all := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(got, -1)
		if len(all) != 1 {
			t.Fatalf("%d elements %s", len(all), element)
		}
		sum := sha256.Sum256([]byte(all[0][1]))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(csp, want) {
			t.Errorf("the policy %q lacks %q", csp, want)
		}
	}
	if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") || strings.Contains(got, " style=") {
		t.Errorf("the policy is %q", csp)
	}
}

var shownTask = regexp.MustCompile(`<details id="t(\d+)" data-o="([a-z_]+)">`)

// A run that does not fit keeps every task that is not right, then right ones
// in order, and says at the top and at the list what is not there.
func TestHTML_LeavesOutRightTasksFirst(t *testing.T) {
	t.Parallel()
	const n = 400
	r := newReport(t, n)
	whole := htmlOf(t, r, tasksOf(n, nil), 0)
	if got := len(shownTask.FindAllString(whole, -1)); got != n || strings.Contains(whole, "not in this file") {
		t.Fatalf("the whole report holds %d tasks of %d", got, n)
	}
	for _, tt := range []struct {
		name         string
		budget       int
		allWrong     bool
		wants, lacks string
	}{
		{name: "half", budget: len(whole) / 2, allWrong: true, wants: "right tasks are not in this file"},
		{name: "an eighth", budget: len(whole) / 8, wants: "of them not right"},
		{name: "the summary alone", budget: 1, wants: "400 tasks are not in this file because of its size, 120 of them not right."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := htmlOf(t, r, tasksOf(n, nil), int64(tt.budget))
			if len(got) > max(tt.budget, 20_000) || strings.Count(got, tt.wants) != 2 {
				t.Errorf("%d bytes of %d, %q stands there %d times", len(got), tt.budget, tt.wants, strings.Count(got, tt.wants))
			}
			shown := shownTask.FindAllStringSubmatch(got, -1)
			wrong := 0
			for _, m := range shown {
				if m[2] != "right" {
					wrong++
				}
			}
			if tt.allWrong != (wrong == 120) {
				t.Errorf("%d of 120 tasks that are not right are there, with %d in all", wrong, len(shown))
			}
			if !tt.allWrong && wrong != len(shown) {
				t.Errorf("right tasks took the place of others: %d of %d", wrong, len(shown))
			}
		})
	}
}

func TestHTML_Sizes(t *testing.T) {
	t.Parallel()
	if shell := len(htmlOf(t, newReport(t, 20), tasksOf(0, nil), 0)); shell > report.MaxShell/4 {
		t.Errorf("the page alone has %d bytes", shell)
	}
	// One long answer takes no more than its share, and the page says so.
	long := strings.Repeat("wörter ", 50_000)
	got := htmlOf(t, newReport(t, 20), tasksOf(20, func(x *report.Task) {
		if x.Index == 3 {
			x.Answer, x.Span = &long, nil
		}
	}), 0)
	if len(got) > 80_000 || !strings.Contains(got, "334,000 more characters are in the evidence bundle") {
		t.Errorf("%d bytes with one long answer", len(got))
	}
	// No list of a service makes the summary too large.
	e := export(20)
	for range 20_000 {
		e.Result.Warnings = append(e.Result.Warnings, strings.Repeat("&", 400))
	}
	r, err := report.From(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := htmlOf(t, r, tasksOf(0, nil), 0); len(got) > report.MaxShell || !strings.Contains(got, "And 19,976 more warnings") {
		t.Errorf("%d bytes with many warnings", len(got))
	}
}

// The span marks what was graded, and nothing where it is of another text.
func TestHTML_MarksWhatWasGraded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer, extracted string
		span                    *[2]int
		want                    string
	}{
		{"letters of more bytes", "äöü 42!", "42", &[2]int{4, 6}, "<pre>äöü <mark>42</mark>!</pre>"},
		{"at the end", "is 42", "42", &[2]int{3, 5}, "<pre>is <mark>42</mark></pre>"},
		{"of another text", "is 43", "42", &[2]int{3, 5}, "<pre>is 43</pre>"},
		{"beyond the text", "is 42", "42", &[2]int{9, 11}, "<pre>is 42</pre>"},
		{"reversed", "is 42", "42", &[2]int{5, 3}, "<pre>is 42</pre>"},
		{"no span", "is 42", "42", nil, "<pre>is 42</pre>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := htmlOf(t, newReport(t, 20), tasksOf(1, func(x *report.Task) { x.Answer, x.Extracted, x.Span = &tt.answer, tt.extracted, tt.span }), 0)
			if !strings.Contains(got, tt.want) {
				t.Errorf("the page lacks %q", tt.want)
			}
		})
	}
}

// A report of very many tasks is cut to its budget, and only so many of them
// are ever rendered.
func TestHTML_ManyTasks(t *testing.T) {
	t.Parallel()
	const n, budget = 100_000, 200_000
	r := newReport(t, n)
	seen := 0
	got := htmlOf(t, r, tasksOf(n, func(*report.Task) { seen++ }), budget)
	held := len(shownTask.FindAllString(got, -1))
	if len(got) > budget || len(got) < budget*9/10 || held < 100 {
		t.Errorf("%d bytes of %d with %d tasks", len(got), budget, held)
	}
	if want := report.Count(held) + " of 100,000 planned tasks, in the order of the run."; !strings.Contains(got, want) {
		t.Errorf("the page does not say %q", want)
	}
	if seen > 5_000 {
		t.Errorf("%d tasks were read for a file that holds %d", seen, held)
	}
}
