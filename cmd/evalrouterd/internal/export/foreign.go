package export

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
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

// opened yields the tasks that came to an end, with their content. Each range
// over it reads the run again, so nothing is held.
func (s Source) opened(ctx context.Context, r Run) iter.Seq2[answered, error] {
	return func(yield func(answered, error) bool) {
		order := r.Quote.Order()
		for row, err := range s.Rows(ctx, r, 0) {
			out := answered{Row: row}
			if err == nil && row.Score == nil && row.Code == "" {
				continue // never run: the planned count tells of it
			}
			if err == nil {
				out.pos = order.At(row.Idx)
				out.task, err = s.Tasks.Task(ctx, r.Quote.Profile, out.pos)
			}
			if err == nil {
				out.answer, err = s.Answer(ctx, r, row)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// InspectLog writes a run as a log of Inspect: an .eval archive, or a JSON
// document. Reading it back gives the recorded scores. The run is read once
// for each part of the log.
func (s Source) InspectLog(ctx context.Context, r Run, archive bool, out io.Writer) error {
	run := inspectRun(r)
	samples := func(yield func(evallog.RunSample, error) bool) {
		for a, err := range s.opened(ctx, r) {
			var one evallog.RunSample
			if err == nil {
				one = inspectSample(r, a)
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

func inspectSample(r Run, a answered) evallog.RunSample {
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
	score := evallog.FromVerdict(bundle.Verdict{Outcome: a.Outcome, Score: *a.Score, Extracted: a.Extracted, Rule: a.Rule})
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
// with the folder that lm-eval would make. Tasks without a score are left out
// of the samples and told in the counts.
func (s Source) LMEval(ctx context.Context, r Run, out io.Writer) error {
	p := r.Quote.Profile
	res := lmexport.Results{
		Task: p.Slug, Alias: p.Name, Version: p.Version, Model: r.Quote.Target.Name(), ModelSource: "evalrouter", Filter: "none", Metric: "score",
		Started: time.UnixMicro(int64(r.StartedAt)), Ended: time.UnixMicro(int64(r.EndedAt)), Original: p.TaskCount,
		Config: value.DictOf("task", p.Slug, "output_type", "generate_until", "metadata", value.DictOf("version", p.Version, "grader", p.Grader.ID+"@"+p.Grader.Version,
			"grader_compat", p.Grader.Compat, "run_id", string(r.ID), "state", string(r.State), "planned", int64(r.Planned), "graded", int64(r.Tallies.Graded()))),
	}
	g, err := likely(r)
	if err != nil {
		return err
	}
	switch {
	case g != nil:
		res.Metric = g.Metric()
		_ = res.Config.Set("output_type", "multiple_choice") // text is a key
	case strings.HasPrefix(p.Grader.ID, "lmeval/"):
		res.Metric = "exact_match"
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

func (s Source) lmSamples(ctx context.Context, r Run, res lmexport.Results, z *zip.Writer, name string) (*lmexport.SampleFile, error) {
	w, err := z.Create(name)
	if err != nil {
		return nil, err
	}
	file := lmexport.NewSampleFile(w)
	for a, err := range s.opened(ctx, r) {
		if err != nil {
			return nil, err
		}
		if a.Score == nil {
			continue
		}
		one := lmexport.Sample{
			DocID: a.pos, Task: a.task, Answer: a.text(), Filtered: a.Extracted, Filter: res.Filter, Metric: res.Metric, Value: *a.Score,
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
