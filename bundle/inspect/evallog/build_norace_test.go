//go:build !race

package evallog_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"pgregory.net/rapid"
)

func sample(id string, epoch int, answer string, val any) evallog.RunSample {
	s := evallog.RunSample{
		ID: id, Epoch: epoch,
		Task:   bundle.Task{ID: id, Input: []bundle.Message{{Role: bundle.User, Text: "q" + id}}, Target: []string{"a"}},
		Answer: bundle.Answer{Text: answer, Finish: bundle.FinishStop},
		Usage:  evallog.Usage{Input: 3, Output: 2},
	}
	if val != nil {
		s.Score = &score.Score{Value: val, Answer: &answer}
	}
	return s
}

func run(samples ...evallog.RunSample) evallog.Run {
	return evallog.Run{
		Eval:    evallog.Eval{RunID: "r", TaskID: "t", Task: "sums", Model: "m", Created: "2026-01-02T03:04:05Z", Dataset: "sums", Epochs: 2},
		Status:  "success",
		Started: "2026-01-02T03:04:05Z", Ended: "2026-01-02T03:05:05Z",
		Plan:  metric.Plan{Scorer: "match", Metrics: []metric.Metric{metric.Accuracy{}, metric.Stderr{}}},
		Total: len(samples), Samples: samples,
	}
}

func same(t interface{ Errorf(string, ...any) }, what string, got, want *evallog.Log) {
	show := func(l *evallog.Log) string {
		s := value.Repr(l.Head)
		for _, d := range l.Samples {
			s += "\n" + value.Repr(d)
		}
		return s + "\n" + value.Repr(l.Reductions)
	}
	if show(got) != show(want) {
		t.Errorf("%s differs:\n%s\nwant\n%s", what, show(got), show(want))
	}
}

// roundTrip writes a log in both formats and reads it back.
func roundTrip(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, l *evallog.Log) {
	for _, f := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"document", func(b *bytes.Buffer) error { return l.WriteJSON(b) }},
		{"archive", func(b *bytes.Buffer) error { return l.WriteArchive(b) }},
	} {
		var b, again bytes.Buffer
		if err := f.write(&b); err != nil {
			t.Fatalf("write %s: %v", f.name, err)
		}
		got, err := evallog.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatalf("read %s: %v", f.name, err)
		}
		same(t, f.name, got, l)
		if err := f.write(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("writing the %s again gives other bytes (%v)", f.name, err)
		}
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	failed := sample("3", 1, "", nil)
	failed.Error = "provider did not answer"
	cut := sample("10", 1, "a", "C")
	cut.Answer.Finish = bundle.FinishLength
	cut.Task.Choices, cut.Task.Target = []string{"x", "y"}, []string{"A", "B"}
	cut.Metadata = value.DictOf("level", 2.0)
	l, err := run(sample("2", 2, "b", "I"), sample("2", 1, "a", "C"), cut, failed).Log()
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, l)
	got := l.Results()
	if len(got) != 1 || got[0].Scored != 2 || got[0].Figures[0].Value != 0.75 || got[0].Figures[1].Value != 0.25 {
		t.Errorf("results = %+v, want an accuracy of 0.75 with an error of 0.25 over 2", got)
	}
	var order []string
	for _, d := range l.Samples {
		s, err := evallog.View(d)
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, fmt.Sprint(s.ID, "/", s.Epoch, " ", s.Completion, " ", s.Finish, " ", s.Error))
	}
	want := "[2/1 a stop  3/1   provider did not answer 10/1 a length  2/2 b stop ]"
	if s := fmt.Sprint(order); s != want {
		t.Errorf("samples %s, want %s", s, want)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  evallog.Run
	}{
		{"a score that is not finite", run(sample("1", 1, "a", math.Inf(1)))},
		{"an unscored score", run(sample("1", 1, "a", math.NaN()))},
		{"an id that is a path", run(sample("../1", 1, "a", "C"))},
		{"no id", run(sample("", 1, "a", "C"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.run.Log(); err == nil {
				t.Error("no error")
			}
		})
	}
	l, err := run(sample("1", 1, "a", "C"), sample("1", 1, "b", "I")).Log()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.WriteArchive(new(bytes.Buffer)); err == nil {
		t.Error("two samples of one id and epoch are written to one file")
	}
}

// A run without any score has no figures and is still strict JSON.
func TestBuildWithoutScores(t *testing.T) {
	t.Parallel()
	s := sample("1", 1, "", nil)
	s.Error = "cancelled"
	l, err := run(s).Log()
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, l)
	if got := l.Results(); len(got[0].Figures) != 0 {
		t.Errorf("figures = %v, want none", got[0].Figures)
	}
}

// Public fault C44: the reason why an answer ended survives a log.
func TestFinishRoundTrip(t *testing.T) {
	t.Parallel()
	for _, f := range []bundle.Finish{bundle.FinishStop, bundle.FinishLength, bundle.FinishFilter, bundle.FinishUnknown, "other:tool_calls"} {
		s := sample("1", 1, "a", "C")
		s.Answer.Finish = f
		l, err := run(s).Log()
		if err != nil {
			t.Fatal(err)
		}
		v, err := evallog.View(l.Samples[0])
		if err != nil || v.Finish != f {
			t.Errorf("%q comes back as %q, %v", f, v.Finish, err)
		}
	}
}

func TestFromVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		verdict bundle.Verdict
		want    any
	}{
		{"right", bundle.Verdict{Outcome: bundle.Right, Score: 1}, "C"},
		{"wrong", bundle.Verdict{Outcome: bundle.Wrong}, "I"},
		{"in part", bundle.Verdict{Outcome: bundle.Wrong, Score: 0.57}, 0.57},
	} {
		s := evallog.FromVerdict(c.verdict)
		outcome, _ := s.Metadata.Get("outcome")
		if s.Value != c.want || outcome != string(c.verdict.Outcome) {
			t.Errorf("%s: %v, %v; want %v", c.name, s.Value, outcome, c.want)
		}
	}
}

// Whatever is built is read back identically, whatever the texts are.
func TestBuildRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var samples []evallog.RunSample
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z0-9_.:@+-]{1,12}`), 0, 6, rapid.ID[string]).Draw(t, "ids")
		for _, id := range ids {
			for epoch := range rapid.IntRange(1, 3).Draw(t, "epochs") {
				s := sample(id, epoch+1, rapid.String().Draw(t, "answer"), rapid.SampledFrom([]any{nil, "C", "I", "P", 0.25, int64(3), true}).Draw(t, "value"))
				s.Task.Target = rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "target")
				s.Task.Input = append(s.Task.Input, bundle.Message{Role: bundle.Assistant, Text: rapid.String().Draw(t, "turn")})
				samples = append(samples, s)
			}
		}
		l, err := run(samples...).Log()
		if err != nil {
			t.Fatalf("build: %v", err)
		}
		roundTrip(t, l)
	})
}

func FuzzRead(f *testing.F) {
	l, err := run(sample("1", 1, "a", "C"), sample("2", 1, "b", "I")).Log()
	if err != nil {
		f.Fatal(err)
	}
	var doc, archive bytes.Buffer
	if err := l.WriteJSON(&doc); err != nil {
		f.Fatal(err)
	}
	if err := l.WriteArchive(&archive); err != nil {
		f.Fatal(err)
	}
	f.Add(doc.Bytes())
	f.Add(archive.Bytes())
	f.Add([]byte(`{"samples": [{"id": 1, "epoch": 1, "input": [], "output": {"choices": [{}]}, "scores": {"s": {"value": NaN}}, "events": [{"event": "model", "input_refs": [[0, 1]]}], "message_pool": [1]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := evallog.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		l.Results()
		for _, s := range l.Samples {
			if r, err := evallog.Resolve(s); err == nil {
				_, _ = evallog.View(r)
			}
		}
		var b bytes.Buffer
		if err := l.WriteJSON(&b); err != nil {
			return
		}
		again, err := evallog.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatalf("what was written does not read: %v", err)
		}
		same(t, "the log", again, l)
	})
}

// Inspect names a sample's file by its id and escapes nothing, so HumanEval/0
// stands in a folder. It is read like any other, from an archive that is
// streamed too.
func TestIDWithASlash(t *testing.T) {
	t.Parallel()
	samples := []evallog.RunSample{sample("HumanEval/0", 1, "a", "C"), sample("HumanEval/1", 1, "b", "I")}
	l, err := run(samples...).Log()
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, l)
	var out bytes.Buffer
	err = run().StreamArchive(&out, func(yield func(evallog.RunSample, error) bool) {
		for _, s := range samples {
			if !yield(s, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, out.Bytes()); len(got.Samples) != len(samples) {
		t.Errorf("%d of %d samples are read", len(got.Samples), len(samples))
	}
}
