package evallog

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// RunSamples yields the samples of a run from the first on, the same ones each
// time it is ranged over.
type RunSamples = iter.Seq2[RunSample, error]

// StreamJSON writes the log that Log builds as one document, and StreamArchive
// as an .eval archive, without holding the samples: they are read once for the
// results and once for each part of the log that lists them. Of each sample its
// id and its score's value are kept, no text. Samples of r itself are not
// looked at, and all must be of epoch 1. Reading what was written gives the log that Log builds of the same
// samples, in a document in the order in which they came.
func (r Run) StreamJSON(w io.Writer, samples RunSamples) error {
	head, err := r.headOf(samples)
	if err != nil {
		return err
	}
	out := &errWriter{w: bufio.NewWriterSize(w, 64<<10)}
	out.value(head)
	out.cutBrace()
	out.text(",\n  \"samples\": ")
	out.array(r.samples(samples))
	out.text(",\n  \"reductions\": [\n")
	r.streamReductions(out, samples)
	out.text("]\n}\n")
	return out.close("write log")
}

// StreamArchive is StreamJSON for an .eval archive, with deflate. The bytes
// depend on the run and its samples alone.
func (r Run) StreamArchive(w io.Writer, samples RunSamples) error {
	head, err := r.headOf(samples)
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	member := func(name string, write func(*errWriter)) {
		if err != nil {
			return
		}
		var f io.Writer
		if f, err = z.Create(name); err == nil {
			out := &errWriter{w: bufio.NewWriterSize(f, 64<<10)}
			write(out)
			err = out.close(name)
		}
	}
	member("_journal/start.json", func(out *errWriter) { out.value(startOf(head)) })
	for s, e := range samples {
		d, name, e := r.named(s, e)
		if err == nil && e != nil {
			err = e
		}
		if err != nil {
			break
		}
		member(name, func(out *errWriter) { out.value(d) })
	}
	member("summaries.json", func(out *errWriter) {
		out.array(func(yield func(*value.Dict, error) bool) {
			for d, err := range r.samples(samples) {
				if err == nil {
					d = summary(d)
				}
				if !yield(d, err) {
					return
				}
			}
		})
	})
	member("reductions.json", func(out *errWriter) {
		out.text("[\n")
		r.streamReductions(out, samples)
		out.text("]\n")
	})
	member("header.json", func(out *errWriter) { out.value(head) })
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("write log archive: %w", err)
	}
	return nil
}

func (r Run) named(s RunSample, err error) (*value.Dict, string, error) {
	if err != nil {
		return nil, "", err
	}
	d, err := s.dict(r.Eval.Model, r.Plan.Scorer)
	if err != nil {
		return nil, "", fmt.Errorf("build sample %s of epoch %d: %w", s.ID, s.Epoch, err)
	}
	name, err := sampleName(d)
	return d, name, err
}

// samples is the documents of the samples.
func (r Run) samples(samples RunSamples) iter.Seq2[*value.Dict, error] {
	return func(yield func(*value.Dict, error) bool) {
		for s, err := range samples {
			d, _, err := r.named(s, err)
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// headOf reads the samples once and builds the head.
func (r Run) headOf(samples RunSamples) (*value.Dict, error) {
	t := tally{seen: map[string]bool{}}
	for s, err := range samples {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read samples: %w", err)
		case s.Epoch != 1:
			return nil, fmt.Errorf("sample %s is of epoch %d, and a stream holds one epoch", s.ID, s.Epoch)
		case t.seen[s.ID]:
			return nil, fmt.Errorf("two samples are called %s", s.ID)
		}
		t.add(s)
	}
	head, _, err := r.head(t)
	return head, err
}

// tally is what the head says about the samples.
type tally struct {
	ids       []any // in the order of their first sample
	seen      map[string]bool
	completed int
	scores    []metric.Sample
}

func (t *tally) add(s RunSample) {
	if !t.seen[s.ID] {
		t.seen[s.ID] = true
		t.ids = append(t.ids, s.ID)
	}
	if s.Error == "" {
		t.completed++
	}
	if s.Score != nil {
		t.scores = append(t.scores, metric.Sample{ID: s.ID, Score: score.Score{Value: s.Score.Value}})
	}
}

// streamReductions writes the reductions of a run of one epoch, in which a
// sample reduces to its own score as a number.
func (r Run) streamReductions(out *errWriter, samples RunSamples) {
	name := ""
	if names := r.reducerNames(); len(names) > 0 {
		name = value.Str(names[0])
	}
	out.text("{\"scorer\": ")
	out.value(r.Plan.Scorer)
	if name != "" {
		out.text(", \"reducer\": ")
		out.value(name)
	}
	out.text(", \"samples\": ")
	out.array(func(yield func(*value.Dict, error) bool) {
		for s, err := range samples {
			d, err := r.reduced(s, err)
			if d == nil && err == nil {
				continue
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	})
	out.text("}")
}

// reduced is the reduction of one sample alone, nil for one without a score.
func (r Run) reduced(s RunSample, err error) (*value.Dict, error) {
	if err != nil || s.Score == nil {
		return nil, err
	}
	plan := metric.Plan{Scorer: r.Plan.Scorer, Reducers: r.Plan.Reducers}
	_, reductions, err := plan.Results([]metric.Sample{{ID: s.ID, Score: *s.Score, Metadata: s.Metadata}})
	if err != nil || len(reductions) == 0 || len(reductions[0].Samples) == 0 || score.IsUnscored(reductions[0].Samples[0].Score.Value) {
		return nil, err
	}
	one := scoreDict(reductions[0].Samples[0].Score)
	put(one, "sample_id", s.ID)
	return one, nil
}

// errWriter remembers the first error, so that a document is written straight
// down.
type errWriter struct {
	w    *bufio.Writer
	held string // written with the next text
	err  error
}

func (o *errWriter) text(s string) {
	if o.err == nil && o.held != "" {
		_, o.err = o.w.WriteString(o.held)
		o.held = ""
	}
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

func (o *errWriter) value(v any) {
	if o.err != nil {
		return
	}
	if o.err = finite(v); o.err != nil {
		return
	}
	s, err := dump.Dumps(v)
	if err != nil {
		o.err = err
		return
	}
	if o.held != "" {
		o.text("")
	}
	o.held = s
}

// cutBrace takes the end off the object just written, so that it can go on.
func (o *errWriter) cutBrace() {
	if o.err == nil {
		o.held = o.held[:len(o.held)-len("\n}")]
	}
}

func (o *errWriter) array(items iter.Seq2[*value.Dict, error]) {
	sep := "[\n"
	for d, err := range items {
		if err != nil {
			o.err = errors.Join(o.err, err)
			return
		}
		o.text(sep)
		o.value(d)
		sep = ",\n"
		if o.err != nil {
			return
		}
	}
	if sep == "[\n" {
		o.text("[")
	}
	o.text("]")
}

func (o *errWriter) close(what string) error {
	o.text("")
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if o.err != nil {
		return fmt.Errorf("%s: %w", what, o.err)
	}
	return nil
}
