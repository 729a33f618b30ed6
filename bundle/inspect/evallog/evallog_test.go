package evallog_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func read(t testing.TB, data []byte) *evallog.Log {
	t.Helper()
	l, err := evallog.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func file(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every fixture of the reference reads, and what match decided for its samples
// comes out again: value, answer, reductions and figures.
func TestRescore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		samples, scored int
	}{
		{"2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval", 10, 0},
		{"2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval", 10, 10},
		{"log_formats.eval", 1, 1},
		{"log_formats.json", 1, 1},
		{"log_read_sample.eval", 1, 1},
		{"log_read_sample.json", 1, 1},
		{"log_streaming.eval", 4, 4},
		{"log_message_deduplication.eval", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := read(t, file(t, vt.Shared(t, filepath.Join("data", "inspect", "logs"), c.name)))
			if len(l.Samples) != c.samples || l.Status() != "success" {
				t.Fatalf("%d samples, status %s; want %d, success", len(l.Samples), l.Status(), c.samples)
			}
			var scores []metric.Sample
			for _, d := range l.Samples {
				if s := rescore(t, d); s != nil {
					scores = append(scores, *s)
				}
			}
			t.Logf("figure d: %s: %d samples read, %d re-scored to the recorded values", c.name, len(l.Samples), len(scores))
			if len(scores) != c.scored {
				t.Errorf("%d samples were scored by match, want %d", len(scores), c.scored)
			}
			if c.scored > 0 {
				sameFigures(t, l, scores)
			}
		})
	}
}

// rescore scores one sample with match and compares; nil if match did not score it.
func rescore(t *testing.T, d *value.Dict) *metric.Sample {
	t.Helper()
	resolved, err := evallog.Resolve(d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := evallog.View(resolved)
	if err != nil {
		t.Fatal(err)
	}
	for _, logged := range s.Scores {
		if logged.Scorer != "match" {
			continue
		}
		got, err := score.Match{Location: score.End}.Score(s.Completion, s.Target)
		if err != nil {
			t.Fatal(err)
		}
		if !vt.Same(got.Value, logged.Score.Value) || *got.Answer != *logged.Score.Answer {
			t.Errorf("sample %v of epoch %d scores %v, %q; the log has %v, %q", s.ID, s.Epoch, got.Value, *got.Answer, logged.Score.Value, *logged.Score.Answer)
		}
		got.Explanation = logged.Score.Explanation // the first releases wrote none for a wrong answer
		return &metric.Sample{ID: s.ID, Score: got}
	}
	return nil
}

func sameFigures(t *testing.T, l *evallog.Log, scores []metric.Sample) {
	t.Helper()
	got, reductions, err := metric.Plan{Scorer: "match", Metrics: []metric.Metric{metric.Accuracy{}, metric.Stderr{}}}.Results(scores)
	if err != nil {
		t.Fatal(err)
	}
	want := l.Results()
	if len(want) != 1 {
		t.Fatalf("the log has %d results, want 1", len(want))
	}
	if d := cmp.Diff(want[0].Figures, got[0].Figures); d != "" {
		t.Error(d)
	}
	if l.Reductions == nil {
		return
	}
	logged := vt.List(vt.Dict(vt.Wrap(l.Reductions[0]), "expected"), "samples")
	if len(logged) != len(reductions[0].Samples) {
		t.Fatalf("%d samples reduced, the log has %d", len(reductions[0].Samples), len(logged))
	}
	byID := map[any]metric.Sample{}
	for _, s := range reductions[0].Samples {
		byID[s.ID] = s
	}
	for _, item := range logged {
		d := vt.Dict(vt.Wrap(item), "expected")
		id, _ := d.Get("sample_id")
		v, _ := d.Get("value")
		s := byID[id]
		answer, _ := d.Get("answer")
		var ours any
		if s.Score.Answer != nil {
			ours = *s.Score.Answer
		}
		if !vt.Same(s.Score.Value, v) || !vt.Same(ours, answer) {
			t.Errorf("sample %v reduces to %v, %v; the log has %v, %v", id, s.Score.Value, ours, v, answer)
		}
	}
}

// The two formats of one log hold the same samples.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("data", "inspect", "logs")
	a := read(t, file(t, vt.Shared(t, dir, "log_formats.eval")))
	b := read(t, file(t, vt.Shared(t, dir, "log_formats.json")))
	for _, key := range []string{"id", "epoch", "input", "target", "messages", "output", "scores", "metadata"} {
		x, _ := a.Samples[0].Get(key)
		y, _ := b.Samples[0].Get(key)
		if !value.Equal(x, y) {
			t.Errorf("%s differs: %s and %s", key, value.Repr(x), value.Repr(y))
		}
	}
}

// NaN reads as the float it is, and is never written.
func TestNaN(t *testing.T) {
	t.Parallel()
	l := read(t, file(t, vt.Shared(t, filepath.Join("data", "inspect", "logs"), "log_with_nan.txt")))
	checkNaN(t, l)
	if l.Version() != 1 {
		t.Errorf("version %d, want 1", l.Version())
	}
}

func TestNaNCommitted(t *testing.T) {
	t.Parallel()
	checkNaN(t, read(t, []byte(`{"version": 1, "status": "success", "results": {"scorer": {"name": "s"}, "metrics": {"accuracy": {"name": "accuracy", "value": NaN}}}}`)))
}

func checkNaN(t *testing.T, l *evallog.Log) {
	t.Helper()
	got := l.Results()
	if len(got) != 1 || got[0].Figures[0].Key != "accuracy" || got[0].Figures[0].Value == got[0].Figures[0].Value {
		t.Errorf("results = %+v, want an accuracy of NaN", got)
	}
	var b bytes.Buffer
	if err := l.WriteJSON(&b); !errors.Is(err, evallog.ErrNotFinite) {
		t.Errorf("public fault B34: writing gives %v, want ErrNotFinite", err)
	}
	if err := l.WriteArchive(&b); !errors.Is(err, evallog.ErrNotFinite) {
		t.Errorf("public fault B34: writing an archive gives %v, want ErrNotFinite", err)
	}
}

// Attachments and pooled messages come back into the events.
func TestResolve(t *testing.T) {
	t.Parallel()
	l := read(t, file(t, vt.Shared(t, filepath.Join("data", "inspect", "logs"), "log_message_deduplication.eval")))
	s, err := evallog.Resolve(l.Samples[0])
	if err != nil {
		t.Fatal(err)
	}
	pool := vt.List(l.Samples[0], "message_pool")
	var counts []int
	for _, e := range vt.List(s, "events") {
		event := vt.Dict(vt.Wrap(e), "expected")
		if vt.Str(event, "event") != "model" {
			continue
		}
		in := vt.List(event, "input")
		counts = append(counts, len(in))
		if !value.Equal(in[len(in)-1], pool[len(in)-1]) {
			t.Errorf("the last message of an event with %d is not that of the pool", len(in))
		}
		tool := vt.Dict(vt.Wrap(vt.List(event, "tools")[1]), "expected")
		if !strings.HasPrefix(vt.Str(tool, "description"), "Use the python function") {
			t.Errorf("description is %q", vt.Str(tool, "description"))
		}
	}
	if d := cmp.Diff([]int{1, 3, 5, 7, 9, 11}, counts); d != "" {
		t.Errorf("messages of the model events: %s", d)
	}
	if raw, _ := l.Samples[0].Get("message_pool"); raw == nil {
		t.Error("Resolve changed its argument")
	}
}

func TestResolveText(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0a", 16)
	for _, c := range []struct{ name, text, want string }{
		{"whole", "attachment://" + hash, "long"},
		{"older scheme", "tc://" + hash, "long"},
		{"inside", "<attachment://" + hash + "> tc://" + hash, "<long> long"},
		{"unknown hash", "attachment://" + strings.Repeat("f", 32), "attachment://" + strings.Repeat("f", 32)},
		{"short hash", "attachment://0a", "attachment://0a"},
		{"another scheme", "https://" + hash, "https://" + hash},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := evallog.Resolve(value.DictOf("x", c.text, "attachments", value.DictOf(hash, "long")))
			if err != nil || vt.Str(s, "x") != c.want {
				t.Errorf("resolved = %q, %v; want %q", vt.Str(s, "x"), err, c.want)
			}
		})
	}
}

// References cannot make a small log large.
func TestResolveIsBounded(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0a", 16)
	texts := make([]any, 300)
	ranges := make([]any, 3000)
	for i := range texts {
		texts[i] = "attachment://" + hash
	}
	for i := range ranges {
		ranges[i] = []any{int64(0), int64(1000)}
	}
	event := value.DictOf("event", "model", "input_refs", ranges)
	for name, s := range map[string]*value.Dict{
		"attachments":        value.DictOf("x", texts, "attachments", value.DictOf(hash, strings.Repeat("x", 1<<20))),
		"pool":               value.DictOf("message_pool", make([]any, 1000), "events", []any{event}),
		"outside of a pool":  value.DictOf("message_pool", []any{}, "events", []any{event}),
		"references no list": value.DictOf("events", []any{value.DictOf("event", "model", "input_refs", "x")}),
	} {
		if _, err := evallog.Resolve(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Zstandard is what the current writer compresses with, in one frame or more.
func TestZstandard(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	frame := func(s string) []byte {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll([]byte(s), nil)
	}
	// Two frames, one after the other.
	doc := `{"version": 2, "status": "success", "eval": {}}`
	raw, err := z.CreateRaw(&zip.FileHeader{Name: "header.json", Method: 93, CompressedSize64: uint64(len(frame(doc[:20])) + len(frame(doc[20:]))), UncompressedSize64: uint64(len(doc)), CRC32: crc(doc)})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{doc[:20], doc[20:]} {
		if _, err := raw.Write(frame(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if l := read(t, b.Bytes()); l.Version() != 2 || l.Status() != "success" {
		t.Errorf("head = %s", value.Repr(l.Head))
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	archive := func(name, content string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "read log"},
		{"no JSON", []byte("hello"), "read log"},
		{"an array", []byte("[]"), "not an object"},
		{"not UTF-8", []byte("{\"a\": \"\xe9\"}"), "not UTF-8"},
		{"an archive of something else", archive("a.txt", "x"), "no Inspect log"},
		{"a broken archive", []byte("PK\x03\x04xxxx"), "open log archive"},
		{"a header that is a list", archive("header.json", "[]"), "not an object"},
		{"a bomb", archive("header.json", strings.Repeat(" ", 1<<20+1)), "too large"},
		{"a large document", []byte("{" + strings.Repeat(" ", 1<<20) + "}"), "too large"},
		{"a deep document", []byte(strings.Repeat("[", 1<<19)), "read log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := evallog.ReadWithin(bytes.NewReader(c.data), int64(len(c.data)), evallog.Limits{Member: 1 << 20, Total: 1 << 21, Members: 10})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q in it", err, c.want)
			}
		})
	}
}

// A log that was never finished has only the start of its journal.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string]string{"_journal/start.json": `{"version": 2, "eval": {}, "plan": {}}`, "samples/a_epoch_1.json": `{"id": "a", "epoch": 1, "target": "x"}`} {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	l := read(t, b.Bytes())
	if l.Status() != "started" || len(l.Samples) != 1 || l.Reductions != nil {
		t.Errorf("status %q, %d samples", l.Status(), len(l.Samples))
	}
}

func crc(s string) uint32 { return crc32.ChecksumIEEE([]byte(s)) }
