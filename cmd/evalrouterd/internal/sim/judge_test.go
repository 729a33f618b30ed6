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
)

// judges are the routes that grade in a history.
func judges() []core.Target {
	a := target
	a.RouteID, a.ModelID, a.JudgeOnly, a.Ceiling = "practice.sim-judge-a", "sim-judge-a", true, 32
	b := a
	b.RouteID, b.ModelID = "practice.sim-judge-b", "sim-judge-b"
	return []core.Target{a, b}
}

// judgeEdges are the states of a judged task in which some history must have
// died, and the ways in which such tasks must have ended.
var judgeEdges = []string{
	"died answered, no judge asked", "died with a judge's call as intent", "died with a judge's call as sent", "died between two judges", "died with a reply in the spool only",
	"ended judge_invalid", "ended judge_refused", "ended judge_rejected", "ended judge_outcome_unknown", "ended judge_answer_too_long",
	"ended unjudged", "before leave unjudged", "lost commit, taken true", "lost commit, taken false",
}

// addJudged admits a benchmark of 40 tasks that n judges grade. No two of a
// history share a prompt.
func (w *world) addJudged(ctx context.Context, n int) (core.Profile, error) {
	var data bytes.Buffer
	slug := fmt.Sprintf("judged-%d", len(w.runs))
	for i := range 40 {
		fmt.Fprintf(&data, "{\"q\":\"%s task %d: name it\",\"a\":\"the name %d\"}\n", slug, i, i)
	}
	var routes []string
	for _, j := range judges()[:n] {
		routes = append(routes, string(j.RouteID))
	}
	options, err := json.Marshal(map[string]any{"judges": routes, "max_output_tokens": 60})
	if err != nil {
		return core.Profile{}, err
	}
	sum := sha256.Sum256(data.Bytes())
	m := bundle.Manifest{
		Schema: bundle.ManifestSchema, Slug: slug, Version: "1", Name: slug, Family: "inspect",
		Data:   bundle.Data{File: "tasks.jsonl", Format: "jsonl", SHA256: hex.EncodeToString(sum[:])},
		Source: bundle.Source{URL: "https://example.org/tasks"}, License: bundle.License{Data: "CC0-1.0"},
		Columns: bundle.Columns{Input: []string{"q"}, Target: "a", TargetFormat: "text"}, Prompt: bundle.Prompt{Template: "{{q}}"},
		Grader: bundle.GraderConfig{Kind: "inspect/model_graded_qa", Options: options}, MaxOutputTokens: 60, Metrics: []string{"accuracy"},
	}
	added, err := w.catalog.Add(ctx, m, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	return added.Profile, err
}

func (w *world) nonce() string { return fmt.Sprintf("%016x", w.s.random.Uint64()) }

// noteJudging notes in which states of judging the machine has died.
func (w *world) noteJudging() {
	ctx := context.Background()
	kept := map[string]bool{}
	for _, r := range w.spool.open {
		if r.Later() {
			kept[fmt.Sprint(r.Run, r.Idx)] = true
		}
	}
	for _, id := range w.runs {
		replies, parts := map[int][]core.Reply{}, map[int][]core.Reply{}
		all, err := w.store.Replies(ctx, scope, id, 0, 1<<20)
		w.check(err)
		asked, err := w.store.Parts(ctx, scope, id, 0, 1<<20)
		w.check(err)
		for _, p := range asked {
			parts[p.Idx] = append(parts[p.Idx], p)
		}
		for _, p := range all {
			replies[p.Idx] = append(replies[p.Idx], p)
		}
		for s, err := range w.store.Samples(ctx, scope, id, 0) {
			w.check(err)
			if w.likely[id] {
				w.noteParts(s.Sample, parts[s.Idx], kept[fmt.Sprint(id, s.Idx)])
			} else {
				w.noteTask(s.Sample, replies[s.Idx], kept[fmt.Sprint(id, s.Idx)])
			}
		}
	}
}

func (w *world) noteTask(s core.Sample, replies []core.Reply, kept bool) {
	switch {
	case strings.HasPrefix(s.Code, "judge_"):
		w.seen["ended "+s.Code]++
	case (s.State == core.SamplePending || s.State == core.SampleCancelled) && s.Charge > 0:
		w.seen["ended unjudged"]++
	case s.State != core.SampleJudging:
	case len(replies) == 0:
		w.seen["died answered, no judge asked"]++
	default:
		last := replies[len(replies)-1]
		switch last.State {
		case core.CallResponded:
			w.seen["died between two judges"]++
		case core.CallIntent, core.CallSent:
			w.seen["died with a judge's call as "+string(last.State)]++
		}
		if kept && last.State == core.CallSent {
			w.seen["died with a reply in the spool only"]++
		}
	}
}
