package export

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
	lmexport "github.com/evalrouter/evalrouter/bundle/lmeval/export"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// answered is a task that was opened, with what was asked and answered.
type answered struct {
	Row
	pos    int // in the benchmark
	task   bundle.Task
	answer Answer
}

func (a answered) text() string {
	if a.answer.Text == nil {
		return ""
	}
	return *a.answer.Text
}

// ended says whether a task came to an end of its own. One that never ran is
// told of by the planned count alone.
func (r Row) ended() bool { return r.Score != nil || r.Code != "" }

func (d *Reader) open(ctx context.Context, row Row) (out answered, err error) {
	out = answered{Row: row, pos: d.order.At(row.Idx)}
	if out.task, err = d.Task(ctx, row.Idx); err == nil {
		out.answer, err = d.Answer(ctx, row)
	}
	return out, err
}

// opened yields the tasks that came to an end, with their content. Each range
// over it reads the run again, so nothing is held.
func (s Source) opened(ctx context.Context, r Run) iter.Seq2[answered, error] {
	return func(yield func(answered, error) bool) {
		reader := s.Reader(r)
		for row, err := range s.Rows(ctx, r, 0) {
			var out answered
			if err == nil && !row.ended() {
				continue
			}
			if err == nil {
				out, err = reader.open(ctx, row)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// InspectLog writes a run as a log of Inspect: an .eval archive, or a JSON
// document. Reading it back gives the same log from both, with the recorded
// scores. Samples stand in the order in which Inspect reads them, and the run is
// read once for each part of the log.
func (s Source) InspectLog(ctx context.Context, r Run, archive bool, out io.Writer) error {
	run := inspectRun(r)
	g, err := grader(r)
	if err != nil {
		return err
	}
	tasks, err := s.sorted(ctx, r, byID)
	if err != nil {
		return err
	}
	samples := func(yield func(evallog.RunSample, error) bool) {
		for a, err := range tasks {
			var one evallog.RunSample
			if err == nil {
				one = inspectSample(g, a)
			}
			if !yield(one, err) {
				return
			}
		}
	}
	// Usage stands in the head, before any sample.
	for a, err := range s.opened(ctx, r) {
		if err != nil {
			return err
		}
		u := usage(a.answer)
		run.Usage.Input, run.Usage.Output = run.Usage.Input+u.Input, run.Usage.Output+u.Output
	}
	if archive {
		return run.StreamArchive(out, samples)
	}
	return run.StreamJSON(out, samples)
}

func inspectRun(r Run) evallog.Run {
	p := r.Quote.Profile
	run := evallog.Run{
		Eval: evallog.Eval{
			RunID: string(r.ID), TaskID: string(p.ID), Task: p.Slug, TaskVersion: p.Version, Model: r.Quote.Target.Name(), Created: stamp(r.CreatedAt),
			Dataset: p.Slug, Epochs: 1, Config: value.DictOf("limit", int64(r.Planned)),
		},
		Status: inspectStatus(r.State), Started: stamp(r.StartedAt), Ended: stamp(r.EndedAt), Total: r.Planned,
		Plan: metric.Plan{Scorer: scorerName(p.Grader.ID), Metrics: []metric.Metric{metric.Accuracy{}, metric.Stderr{}}},
	}
	if r.State != core.Completed {
		run.Error = strings.TrimSpace(string(r.Reason) + " " + r.Detail)
	}
	return run
}

// inspectStatus is the nearest of Inspect's words; the log's error has ours.
func inspectStatus(s core.State) string {
	switch s {
	case core.Completed:
		return "success"
	case core.Failed:
		return "error"
	case core.Partial, core.Cancelled:
		return "cancelled"
	}
	return "started"
}

// scorerName is Inspect's own name for its scorers, and the grader's id for
// others.
func scorerName(id string) string {
	if name, ok := strings.CutPrefix(id, "inspect/"); ok {
		return name
	}
	return id
}

func inspectSample(g bundle.Grader, a answered) evallog.RunSample {
	out := evallog.RunSample{
		ID: a.TaskID, Epoch: 1, Task: a.task, Answer: bundle.Answer{Text: a.text(), Finish: bundle.Finish(a.answer.Finish)}, Usage: usage(a.answer),
		Metadata: value.DictOf("index", int64(a.Idx), "attempt", int64(a.Attempt), "charge_microusd", a.Charge.Wire()),
	}
	if a.answer.Expired {
		_ = out.Metadata.Set("answer_withheld", "expired") // text is a key
	}
	if a.Score == nil {
		out.Error = a.Code
		return out
	}
	score := evallog.FromVerdict(bundle.Verdict{Outcome: a.Outcome, Score: *a.Score, Extracted: extracted(g, a), Rule: a.Rule})
	_ = score.Metadata.Set("grader", a.Grader)
	_ = score.Metadata.Set("grader_compat", a.Compat)
	out.Score = &score
	return out
}

func usage(a Answer) evallog.Usage {
	if a.Usage == nil {
		return evallog.Usage{}
	}
	return evallog.Usage{Input: a.Usage.InputTokens(), Output: a.Usage.OutputTokens()}
}

func stamp(t core.Micros) string {
	if t == 0 {
		return ""
	}
	return time.UnixMicro(int64(t)).UTC().Format(time.RFC3339Nano)
}

// LMEval writes a run as lm-eval's results and samples files, in a ZIP archive
// with the folder that lm-eval would make, samples in the order of their
// documents. Tasks without a score are left out
// of the samples and told in the counts.
func (s Source) LMEval(ctx context.Context, r Run, out io.Writer) error {
	p := r.Quote.Profile
	res := lmexport.Results{
		Task: p.Slug, Alias: p.Name, Version: p.Version, Model: r.Quote.Target.Name(), ModelSource: "evalrouter", Filter: p.Grader.ID, Metric: "score",
		Started: time.UnixMicro(int64(r.StartedAt)), Ended: time.UnixMicro(int64(r.EndedAt)), Original: p.TaskCount,
		Config: value.DictOf("task", p.Slug, "output_type", "generate_until", "metadata", value.DictOf("version", p.Version, "grader", p.Grader.ID+"@"+p.Grader.Version,
			"grader_compat", p.Grader.Compat, "run_id", string(r.ID), "state", string(r.State), "planned", int64(r.Planned), "graded", int64(r.Tallies.Graded()))),
	}
	if err := nameFigures(r, &res); err != nil {
		return err
	}
	if r.Planned < p.TaskCount {
		res.Limit = r.Planned
	}
	resultsName, samplesName := res.Names()
	z := zip.NewWriter(out)
	file, err := s.lmSamples(ctx, r, res, z, samplesName)
	if err == nil {
		var w io.Writer
		if w, err = z.Create(resultsName); err == nil {
			err = res.Write(w, file)
		}
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("write lm-eval files: %w", err)
	}
	return nil
}

// nameFigures says by which filter and metric a run is scored: lm-eval's own
// names for its graders, and the grader's id as the filter of any other.
func nameFigures(r Run, res *lmexport.Results) error {
	g, err := likely(r)
	if err != nil {
		return err
	}
	if g != nil {
		res.Metric, res.Filter = g.Metric(), lmeval.NoFilter
		_ = res.Config.Set("output_type", "multiple_choice") // text is a key
		return nil
	}
	if res.Filter != lmeval.GenerateUntil {
		return nil
	}
	var cfg bundle.GraderConfig
	if err := json.Unmarshal(r.Quote.Profile.GraderConfig, &cfg); err != nil {
		return fmt.Errorf("read grader: %w", err)
	}
	own, err := lmeval.New(cfg)
	if err != nil {
		return fmt.Errorf("make grader: %w", err)
	}
	res.Metric, res.Filter = "exact_match", own.Filter()
	return nil
}

func (s Source) lmSamples(ctx context.Context, r Run, res lmexport.Results, z *zip.Writer, name string) (*lmexport.SampleFile, error) {
	w, err := z.Create(name)
	if err != nil {
		return nil, err
	}
	g, err := grader(r)
	if err != nil {
		return nil, err
	}
	tasks, err := s.sorted(ctx, r, byDocument)
	if err != nil {
		return nil, err
	}
	file := lmexport.NewSampleFile(w)
	for a, err := range tasks {
		if err != nil {
			return nil, err
		}
		if a.Score == nil {
			continue
		}
		one := lmexport.Sample{
			DocID: a.pos, Task: a.task, Answer: a.text(), Filtered: extracted(g, a), Filter: res.Filter, Metric: res.Metric, Value: *a.Score,
			GenArgs: value.DictOf("max_gen_toks", int64(r.Quote.OutputBound())),
		}
		for _, l := range a.answer.Likely {
			one.Likely = append(one.Likely, lmexport.Likelihood{Ask: l.Ask, LogProb: l.LogProb})
		}
		if err := file.Add(one); err != nil {
			return nil, err
		}
	}
	return file, nil
}
