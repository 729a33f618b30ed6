package export

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle/lmeval/group"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Results is one task's run for the results file.
type Results struct {
	Task, Alias, Version string
	Model, ModelSource   string
	Filter, Metric       string
	Started, Ended       time.Time
	// Original is how many documents the task has; those with a value are
	// counted by the samples file.
	Original int
	// Limit is how many were asked for, 0 for all.
	Limit  int
	Config *value.Dict // of the task; nil for none
}

// bootstrapIters is lm-eval's default. The mean has a closed form and draws
// nothing.
const bootstrapIters = 100_000

// stamp is how lm-eval writes a time in a file name.
func stamp(t time.Time) string {
	return strings.ReplaceAll(t.UTC().Format("2006-01-02T15:04:05.000000"), ":", "-")
}

// Names are the files of a run, in a folder that is named for the model.
func (r Results) Names() (results, samples string) {
	folder, when := ModelName(r.Model)+"/", stamp(r.Ended)
	return folder + "results_" + when + ".json", folder + "samples_" + TaskName(r.Task) + "_" + when + ".jsonl"
}

// Write writes the results file of a run whose samples f holds. A run without
// a value has no figures. The seeds are lm-eval's defaults: nothing of the run
// was drawn by them.
func (r Results) Write(w io.Writer, f *SampleFile) error {
	figures := value.DictOf()
	if len(f.Items) > 0 {
		var err error
		if figures, err = group.Aggregate([]group.Series{{Metric: r.Metric, Filter: r.Filter, Items: f.Items}}, bootstrapIters); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	task := value.DictOf("name", r.Task, "alias", r.Alias, "sample_len", int64(len(f.Items)))
	for key, v := range figures.All() {
		set(task, key, v)
	}
	of := func(v any) *value.Dict { return value.DictOf(r.Task, v) }
	config := r.Config
	if config == nil {
		config = value.DictOf()
	}
	var limit any
	if r.Limit > 0 {
		limit = float64(r.Limit)
	}
	doc := value.DictOf(
		"results", of(task), "group_subtasks", of([]any{}), "configs", of(config), "versions", of(r.Version), "n-shot", of(int64(0)),
		"higher_is_better", of(value.DictOf(r.Metric, true)),
		"n-samples", of(value.DictOf("original", int64(r.Original), "effective", int64(len(f.Items)))),
		"config", value.DictOf("model", r.ModelSource, "model_args", value.DictOf("model", r.Model), "batch_size", int64(1), "device", nil,
			"use_cache", nil, "limit", limit, "bootstrap_iters", int64(bootstrapIters), "gen_kwargs", nil,
			"random_seed", int64(0), "numpy_seed", int64(1234), "torch_seed", int64(1234), "fewshot_seed", int64(1234)),
		"git_hash", nil, "date", float64(r.Started.UnixMicro())/1e6,
		"task_hashes", of(f.TaskHash()), "model_source", r.ModelSource, "model_name", r.Model, "model_name_sanitized", ModelName(r.Model),
		"system_instruction", nil, "system_instruction_sha", nil, "fewshot_as_multiturn", false, "chat_template", nil, "chat_template_sha", nil,
		"start_time", float64(r.Started.UnixMicro())/1e6, "end_time", float64(r.Ended.UnixMicro())/1e6,
		"total_evaluation_time_seconds", fmt.Sprint(r.Ended.Sub(r.Started).Seconds()),
	)
	text, err := value.Dump{Indent: 2, Unicode: true}.Dumps(doc)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
