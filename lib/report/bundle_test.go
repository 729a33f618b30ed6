package report_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
)

// newBundle is the bundle of the fixture.
func newBundle(n int) report.Bundle {
	e := export(n)
	return report.Bundle{
		Run: e, Grader: []byte(`{"kind":"numeric"}`), Tasks: tasksOf(n, nil), Prices: evidence.Prices{Target: evidence.PriceBook{Name: "example.large", Priced: true}},
		Evidence: func(yield func(evidence.Task, error) bool) {
			for i := range n {
				x := task(i)
				if !yield(evidence.Task{Index: i, Sample: x.ExportSample, Rule: x.Rule, Key: evidence.Key{Target: x.Target}, Calls: []evidence.BilledCall{}}, nil) {
					return
				}
			}
		},
		More: []evidence.File{{Name: "samples.csv", Write: func(w io.Writer) error { _, err := io.WriteString(w, "a,b\n"); return err }}},
	}
}

// A bundle is the same bytes each time, its files have the sums that it says,
// and the run and every task can be read back.
func TestBundle(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	if err := errors.Join(newBundle(20).Write(&a), newBundle(20).Write(&b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("the same run gave other bytes (%v)", err)
	}
	z, err := zip.NewReader(bytes.NewReader(a.Bytes()), int64(a.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files, sums := map[string][]byte{}, ""
	var names []string
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		if f.Name != evidence.SumsFile {
			sum := sha256.Sum256(files[f.Name])
			sums += hex.EncodeToString(sum[:]) + "  " + f.Name + "\n"
		}
	}
	want := []string{"README.txt", "run.json", "grader.json", "prices.json", "samples.jsonl.gz", "report.html", "report.md", "junit.xml", "samples.csv", "SHA256SUMS"}
	if !slices.Equal(names, want) || string(files[evidence.SumsFile]) != sums {
		t.Errorf("files %v with the sums\n%s, want\n%s", names, files[evidence.SumsFile], sums)
	}
	if got := htmlOf(t, newReport(t, 20), tasksOf(20, nil), 0); got != string(files["report.html"]) {
		t.Error("the report in the bundle is not the report")
	}
	g, err := gzip.NewReader(bytes.NewReader(files[evidence.SamplesFile]))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for d := json.NewDecoder(g); d.More(); n++ {
		var e evidence.Task
		if err := d.Decode(&e); err != nil || e.Sample.TaskID != task(n).TaskID {
			t.Fatalf("task %d: %+v, %v", n, e, err)
		}
	}
	if n != 20 {
		t.Errorf("%d tasks", n)
	}
}

var errTorn = errors.New("torn")

// A task that cannot be read fails every format; none ends as if it were whole.
func TestFailures(t *testing.T) {
	t.Parallel()
	torn := func(yield func(report.Task, error) bool) {
		_ = yield(task(0), nil) && yield(task(3), nil) && yield(report.Task{}, errTorn)
	}
	r := newReport(t, 20)
	b := newBundle(20)
	b.Evidence = func(yield func(evidence.Task, error) bool) { yield(evidence.Task{}, errTorn) }
	for name, err := range map[string]error{
		"html": report.HTML(io.Discard, r, torn, 0), "md": report.Markdown(io.Discard, r, torn), "github": report.GitHubSummary(io.Discard, r, torn),
		"junit": report.JUnit(io.Discard, r, torn), "bundle": b.Write(io.Discard),
	} {
		if !errors.Is(err, errTorn) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]write{"md": report.Markdown, "junit": report.JUnit, "html": func(w io.Writer, r report.Report, x report.Tasks) error { return report.HTML(w, r, x, 0) }} {
		if err := f(full{}, r, tasksOf(20, nil)); err == nil || !strings.Contains(err.Error(), "no space") {
			t.Errorf("%s on a full disk: %v", name, err)
		}
	}
}

// full is a writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }
