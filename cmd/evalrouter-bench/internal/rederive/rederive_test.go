package rederive_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/rederive"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// The bundles of testdata were written by the service: of a run that its cap
// ended, of one that a judge graded, and of one about log probabilities.
func stored(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func verify(b []byte) (rederive.Result, error) {
	return rederive.Verify(bytes.NewReader(b), int64(len(b)), families.Grader)
}

func TestVerify_Untouched(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                   string
		tasks, graded, charges int
		figure                 string
	}{
		{"capped", 40, 7, 7, "Accuracy 85.7 %, 95 % interval 48.7 to 97.4"},
		{"judged", 30, 30, 60, "Accuracy 66.7 %, 95 % interval 48.8 to 80.8"},
		{"likely", 2, 2, 4, "Accuracy 50.0 %, 95 % interval 9.5 to 90.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := verify(stored(t, tt.name))
			if err != nil || !r.Holds() || r.Tasks != tt.tasks || r.Graded != tt.graded || r.Charges != tt.charges || !slices.Equal(r.Figures, []string{tt.figure}) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// Each of 1,000 bytes that chance picks and changes makes the bundle fail.
func TestVerify_FlippedBytes(t *testing.T) {
	t.Parallel()
	b := stored(t, "capped")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		at, by := r.IntN(len(b)), byte(1+r.IntN(255))
		changed := slices.Clone(b)
		changed[at] ^= by
		if got, err := verify(changed); err == nil && got.Holds() {
			t.Errorf("flip %d: byte %d changed by %#x, and the bundle holds", i, at, by)
		}
	}
	for _, n := range []int{0, 1, len(b) / 2, len(b) - 1} {
		if got, err := verify(b[:n]); err == nil && got.Holds() {
			t.Errorf("the first %d bytes hold", n)
		}
	}
	for _, more := range []string{"\x00", "PK\x05\x06"} {
		if got, err := verify(append(slices.Clone(b), more...)); err == nil && got.Holds() {
			t.Errorf("%q at the end is not noticed", more)
		}
	}
}

// forged is a bundle whose contents were changed and whose hashes were made
// again, so that only its figures can give it away.
type forged struct {
	run     api.Export
	prices  evidence.Prices
	grader  []byte
	samples []evidence.Task
	files   map[string][]byte
	order   []string
}

func open(t *testing.T, b []byte) *forged {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	f := &forged{files: map[string][]byte{}}
	for _, x := range z.File {
		in, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		if f.files[x.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		f.order = append(f.order, x.Name)
	}
	f.grader = f.files[evidence.GraderFile]
	g, err := gzip.NewReader(bytes.NewReader(f.files[evidence.SamplesFile]))
	if err = errors.Join(err, json.Unmarshal(f.files[evidence.RunFile], &f.run), json.Unmarshal(f.files[evidence.PricesFile], &f.prices)); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(g); d.More(); {
		var e evidence.Task
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		f.samples = append(f.samples, e)
	}
	return f
}

func (f *forged) bytes(t *testing.T) []byte {
	t.Helper()
	var lines, out bytes.Buffer
	z := gzip.NewWriter(&lines)
	enc := json.NewEncoder(z)
	for _, s := range f.samples {
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	run, err := json.Marshal(f.run)
	prices, err2 := json.Marshal(f.prices)
	if err := errors.Join(err, err2, z.Close()); err != nil {
		t.Fatal(err)
	}
	f.files[evidence.RunFile], f.files[evidence.PricesFile], f.files[evidence.GraderFile], f.files[evidence.SamplesFile] = run, prices, f.grader, lines.Bytes()
	a := evidence.NewArchive(&out)
	for _, name := range f.order[:len(f.order)-1] {
		if err := a.Add(evidence.File{Name: name, Write: func(w io.Writer) error { _, err := w.Write(f.files[name]); return err }}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// task is the first task that was graded.
func (f *forged) task() *evidence.Task {
	i := slices.IndexFunc(f.samples, func(e evidence.Task) bool { return e.Sample.Status == "graded" })
	return &f.samples[i]
}

func (f *forged) metrics(change func(*api.MetricRecord)) {
	change(&f.run.Profiles[0].Metrics[0])
	change(&f.run.Result.Profiles[0].Metrics[0])
}

func TestVerify_Forged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*forged)
		want   string // in a problem; "" for a bundle that holds
	}{
		{"nothing", func(*forged) {}, ""},
		{"a score", func(f *forged) { f.task().Sample.Scores["accuracy"] = 0.5 }, "its answer comes to"},
		{"an outcome", func(f *forged) { f.task().Sample.Outcome = "empty" }, "its answer comes to"},
		{"a score that was lost", func(f *forged) { f.task().Sample.Scores = nil }, "has no score"},
		{"a score too many", func(f *forged) { f.samples[39].Sample.Scores = map[string]float64{"accuracy": 1} }, "was not graded"},
		{"an answer", func(f *forged) { *f.task().Sample.Answer += " 7" }, "not the one of its hash"},
		{"an answer with its hash", func(f *forged) {
			s := &f.task().Sample
			*s.Answer += " 7"
			sum := sha256.Sum256([]byte(*s.Answer))
			*s.AnswerSHA256 = hex.EncodeToString(sum[:])
		}, ""}, // the first task is wrong, and stays so: nothing that is claimed changes
		{"what is right", func(f *forged) { f.task().Key.Target = []string{"488"} }, "its answer comes to"},
		{"a charge", func(f *forged) { f.task().Calls[0].Charged++; f.task().Sample.ChargeMicrousd++ }, "its usage comes to"},
		{"a charge of the task", func(f *forged) { f.task().Sample.ChargeMicrousd++ }, "and its calls"},
		{"a call that is gone", func(f *forged) { f.task().Calls = nil }, "and its calls"},
		{"usage", func(f *forged) { f.task().Calls[0].Usage.Output += 100 }, "its usage comes to"},
		{"a price", func(f *forged) { f.prices.Target.Rates.Output *= 2 }, "its usage comes to"},
		{"what was spent", func(f *forged) { f.run.BillingSnapshot.SpendMicrousd-- }, "the run spent"},
		{"the cap", func(f *forged) { f.run.BillingSnapshot.CapMicrousd = usd.Micro(1) }, "under a cap of"},
		{"the value", func(f *forged) { f.metrics(func(m *api.MetricRecord) { m.Value = 0.9 }) }, "figure accuracy is"},
		{"an interval", func(f *forged) { f.metrics(func(m *api.MetricRecord) { m.Uncertainty.Interval.Lower += 0.001 }) }, "has the interval"},
		{"no interval", func(f *forged) { f.metrics(func(m *api.MetricRecord) { m.Uncertainty.Interval = nil }) }, "in one of the run"},
		{"a figure of another kind", func(f *forged) { f.metrics(func(m *api.MetricRecord) { m.Key = "luck" }) }, "cannot derive"},
		{"the headline", func(f *forged) { *f.run.Profiles[0].Headline.Value = 0.99 }, "the headline is not"},
		{"a count", func(f *forged) { f.run.Summary.Outcomes["right"]++ }, "tasks that are right"},
		{"the plan", func(f *forged) { f.run.Summary.Coverage.Planned++ }, "planned tasks"},
		{"a task that is gone", func(f *forged) { f.samples = f.samples[:39] }, "planned tasks"},
		{"the grader", func(f *forged) { f.grader = bytes.Replace(f.grader, []byte("{"), []byte("{ "), 1) }, "is not the one of the run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := open(t, stored(t, "capped"))
			tt.change(f)
			r, err := verify(f.bytes(t))
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(r.Problems, func(s string) bool { return strings.Contains(s, tt.want) })
			if tt.want == "" && !r.Holds() || tt.want != "" && (r.Holds() || !found) {
				t.Errorf("want %q, found %q", tt.want, r.Problems)
			}
		})
	}
}

// Answers that are not there cannot be graded again, and the bundle does not
// hold; one in which the tasks are in another order is broken.
func TestVerify_MissingAndMoved(t *testing.T) {
	t.Parallel()
	f := open(t, stored(t, "judged"))
	for i := range f.samples {
		f.samples[i].Sample.Answer = nil
	}
	if r, err := verify(f.bytes(t)); err != nil || r.Holds() || r.Missing != 30 || r.Found != 0 {
		t.Errorf("without answers: %+v, %v", r, err)
	}
	f = open(t, stored(t, "judged"))
	withheld := "expired"
	f.samples[0].Sample.Judges[0].Reply, f.samples[0].Sample.Judges[0].ReplyWithheld = nil, &withheld
	if r, err := verify(f.bytes(t)); err != nil || r.Holds() || r.Missing != 1 {
		t.Errorf("without a reply: %+v, %v", r, err)
	}
	f = open(t, stored(t, "judged"))
	f.samples[0], f.samples[1] = f.samples[1], f.samples[0]
	if _, err := verify(f.bytes(t)); !errors.Is(err, rederive.ErrBroken) {
		t.Errorf("in another order: %v", err)
	}
}
