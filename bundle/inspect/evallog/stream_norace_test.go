//go:build !race

package evallog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// over yields samples, and then an error if there is one.
func over(samples []evallog.RunSample, err error) evallog.RunSamples {
	return func(yield func(evallog.RunSample, error) bool) {
		for _, s := range samples {
			if !yield(s, nil) {
				return
			}
		}
		if err != nil {
			yield(evallog.RunSample{}, err)
		}
	}
}

// What is streamed reads back as the log that is built of the same samples,
// whatever the samples are, in both formats.
func TestStream_ReadsBackAsBuilt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var samples []evallog.RunSample
		for _, id := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z0-9_.:@+-]{1,12}`), 0, 6, rapid.ID[string]).Draw(t, "ids") {
			s := sample(id, 1, rapid.String().Draw(t, "answer"), rapid.SampledFrom([]any{nil, "C", "I", 0.25}).Draw(t, "value"))
			s.Error = rapid.SampledFrom([]string{"", "", "no answer"}).Draw(t, "error")
			s.Task.Choices = rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "choices")
			samples = append(samples, s)
		}
		r := run(samples...)
		r.Error = rapid.SampledFrom([]string{"", "stopped"}).Draw(t, "run error")
		if rapid.Bool().Draw(t, "named reducer") {
			r.Plan.Reducers = []metric.Reducer{metric.MeanReducer()}
		}
		want, err := r.Log()
		if err != nil {
			t.Fatal(err)
		}
		r.Samples = nil
		for name, write := range map[string]func(io.Writer, evallog.RunSamples) error{"document": r.StreamJSON, "archive": r.StreamArchive} {
			var b, again bytes.Buffer
			if err := errors.Join(write(&b, over(samples, nil)), write(&again, over(samples, nil))); err != nil {
				t.Fatalf("write %s: %v", name, err)
			}
			if !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Errorf("writing the %s again gives other bytes", name)
			}
			got, err := evallog.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatalf("read %s: %v\n%s", name, err, b.String())
			}
			slices.SortFunc(got.Samples, func(a, b *value.Dict) int { return place(want, a) - place(want, b) })
			same(t, name, got, want)
		}
	})
}

// place is where a log has the sample of an id: a stream keeps the order of its
// samples.
func place(l *evallog.Log, s *value.Dict) int {
	id, _ := s.Get("id")
	return slices.IndexFunc(l.Samples, func(d *value.Dict) bool {
		other, _ := d.Get("id")
		return other == id
	})
}

func TestStream_Refuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk is gone")
	second := sample("1", 2, "a", "C")
	nan := sample("1", 1, "a", math.NaN())
	path := sample("../b", 1, "a", "C")
	for _, c := range []struct {
		name    string
		samples []evallog.RunSample
		err     error
		want    string
	}{
		{"two samples of one id", []evallog.RunSample{sample("1", 1, "a", "C"), sample("1", 1, "b", "C")}, nil, "two samples are called 1"},
		{"a second epoch", []evallog.RunSample{second}, nil, "holds one epoch"},
		{"a score that is not finite", []evallog.RunSample{nan}, nil, "not finite"},
		{"an id that is a path", []evallog.RunSample{path}, nil, "cannot name a file"},
		{"samples that cannot be read", []evallog.RunSample{sample("1", 1, "a", "C")}, broken, "disk is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run()
			for _, write := range []func(io.Writer, evallog.RunSamples) error{r.StreamJSON, r.StreamArchive} {
				if err := write(io.Discard, over(c.samples, c.err)); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error = %v, want %q in it", err, c.want)
				}
			}
		})
	}
}

// full fails after some bytes, as a disk does.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space")
	}
	return len(b), nil
}

// A fault while writing is told, wherever it happens.
func TestStream_WriteFails(t *testing.T) {
	t.Parallel()
	var samples []evallog.RunSample
	for i := range 40 {
		samples = append(samples, sample(fmt.Sprint(i), 1, strings.Repeat("x", 5000), "C"))
	}
	r := run()
	for left := 0; left < 100_000; left += 20_000 {
		if err := r.StreamJSON(&full{left}, over(samples, nil)); err == nil {
			t.Errorf("no error after %d bytes of a document", left)
		}
	}
	for left := 0; left < 10_000; left += 2_000 {
		if err := r.StreamArchive(&full{left}, over(samples, nil)); err == nil {
			t.Errorf("no error after %d bytes of an archive", left)
		}
	}
}
