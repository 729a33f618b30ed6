package sim_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// partEdges are the states of a task that is asked in parts in which some
// history must have died, and the ways in which such tasks must have ended.
var partEdges = []string{
	"died between two parts", "died with a later part as intent", "died with a later part as sent", "died with a later part in the spool only",
	"ended in part unresolved", "ended in part failed", "ended in part not run", "ended whole",
}

// addLikely admits a benchmark of 40 tasks with three choices each, which are
// asked one by one. No two of a history share a prompt.
func (w *world) addLikely(ctx context.Context) (core.Profile, error) {
	var data bytes.Buffer
	slug := fmt.Sprintf("likely-%d", len(w.runs))
	for i := range 40 {
		fmt.Fprintf(&data, "{\"q\":\"%s task %d:\",\"of\":[\"red\",\"green\",\"blue\"],\"a\":%q}\n", slug, i, bundle.Letter(i%3))
	}
	sum := sha256.Sum256(data.Bytes())
	m := bundle.Manifest{
		Schema: bundle.ManifestSchema, Slug: slug, Version: "1", Name: slug, Family: "lm-eval",
		Data:   bundle.Data{File: "tasks.jsonl", Format: "jsonl", SHA256: hex.EncodeToString(sum[:])},
		Source: bundle.Source{URL: "https://example.org/tasks"}, License: bundle.License{Data: "CC0-1.0"},
		Columns: bundle.Columns{Input: []string{"q"}, Target: "a", TargetFormat: "letter", Choices: []string{"of"}}, Prompt: bundle.Prompt{Template: "{{q}}"},
		Grader: bundle.GraderConfig{Kind: bundle.LikelyChoices}, MaxOutputTokens: 60, Metrics: []string{"accuracy"},
	}
	added, err := w.catalog.Add(ctx, m, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	return added.Profile, err
}

// echo is a response that says how likely the choice of a prompt is: the right
// one is the likeliest, or where the model errs the least likely.
func echo(r provider.Request, right bool) string {
	context := r.Gold.Input[0].Text
	last := strings.TrimPrefix(r.Messages[0].Text, context)
	at := int(r.Gold.Target[0][0] - 'A')
	value := -4.5
	if (" "+r.Gold.Choices[at] == last) == right {
		value = -1.5
	}
	best := []any{nil, map[string]any{last: value}, map[string]any{"z": -1}}
	doc, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"logprobs": map[string]any{
		"tokens": []string{context, last, "z"}, "token_logprobs": []any{nil, value, -1}, "top_logprobs": best,
	}}}})
	if err != nil {
		panic(err)
	}
	return string(doc)
}

// noteParts notes in which states of a task asked in parts the machine has
// died, and how such tasks ended.
func (w *world) noteParts(s core.Sample, parts []core.Reply, kept bool) {
	last := core.Reply{}
	if len(parts) > 0 {
		last = parts[len(parts)-1]
	}
	switch {
	case s.State == core.SampleGraded:
		w.seen["ended whole"]++
		if len(parts) != 3 {
			w.t.Errorf("task %d was graded with %d parts", s.Idx, len(parts))
		}
	case len(parts) > 1 && (s.State == core.SampleUnresolved || s.State == core.SampleFailed):
		w.seen["ended in part "+string(s.State)]++
	case (s.State == core.SamplePending || s.State == core.SampleCancelled) && s.Charge > 0:
		w.seen["ended in part not run"]++
	case s.State != core.SampleJudging:
	case last.State == core.CallResponded:
		w.seen["died between two parts"]++
	case last.State == core.CallIntent, last.State == core.CallSent:
		w.seen["died with a later part as "+string(last.State)]++
		if kept && last.State == core.CallSent {
			w.seen["died with a later part in the spool only"]++
		}
	}
}
