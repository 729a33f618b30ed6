package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/lmeval/group"
	lmmetric "github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// scoring measures the graders on one core, in CPU time of this process, on
// the published answers of four models to GSM8K. Figures of the Python
// originals are those of the performance notes, measured once on this corpus'
// kind; where a line of Python is the whole original, it runs here as well.
func scoring(shared string) error {
	corpus, err := readCorpus(filepath.Join(shared, "data", "gsm8k"))
	if err != nil {
		return fmt.Errorf("read corpus: %w", err)
	}
	runtime.GOMAXPROCS(1)
	chars := 0
	for _, c := range corpus {
		chars += len(c.text)
	}
	fmt.Printf("corpus: %d answers of %d bytes on average; one core, CPU time\n", len(corpus), chars/len(corpus))
	includes := 0.0
	for _, k := range graderKinds() {
		rate, err := gradeRate(k, corpus)
		if err != nil {
			return err
		}
		if k.kind == "inspect/includes" {
			includes = rate
		}
	}
	if err := pythonIncludes(corpus, includes); err != nil {
		fmt.Println("live Python includes: not measured:", err)
	}
	if err := sobRate(filepath.Join(shared, "data", "sob", "gpt-5.5", "responses.jsonl")); err != nil {
		return err
	}
	if err := bootstrapRate(); err != nil {
		return err
	}
	return aggregate(1_000_000)
}

type graded struct{ text, gold, number string }

// readCorpus is every published answer with its gold.
func readCorpus(dir string) ([]graded, error) {
	f, err := os.Open(filepath.Join(dir, "example_model_solutions.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []graded
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			return nil, err
		}
		var truth string
		if err := json.Unmarshal(row["ground_truth"], &truth); err != nil {
			return nil, err
		}
		truth = strings.ReplaceAll(truth, "\nA: ", "\n#### ") // as the data set itself has it
		_, number, _ := strings.Cut(truth, "#### ")
		for _, model := range []string{"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"} {
			var s struct{ Solution string }
			if err := json.Unmarshal(row[model], &s); err != nil {
				return nil, err
			}
			out = append(out, graded{s.Solution, truth, strings.TrimSpace(number)})
		}
	}
	return out, in.Err()
}

type graderKind struct {
	name, kind, options string
	whole               bool    // the target is the worked answer
	python              float64 // grades/s of the original, 0 = not measured
}

func graderKinds() []graderKind {
	const exact = `{"ignore_case":true,"regexes_to_ignore":[",","\\$","(?s).*#### ","\\.$"]}`
	return []graderKind{
		{"exact_match", "exact_match", `{"answer_pattern":"A: (.*)"}`, false, 0},
		{"regex_match", "regex_match", `{"pattern":"A: (.*)"}`, false, 0},
		{"numeric", "numeric", ``, false, 0},
		{"inspect match(numeric)", "inspect/match", `{"numeric":true}`, false, 66_000},
		{"inspect match", "inspect/match", ``, false, 0},
		{"inspect includes", "inspect/includes", ``, false, 0},
		{"inspect pattern", "inspect/pattern", `{"pattern":"A: (\\d+)"}`, false, 0},
		{"inspect exact", "inspect/exact", ``, false, 0},
		{"inspect f1", "inspect/f1", ``, false, 0},
		{"lm-eval strict-match", "lmeval/generate_until", `{"filter":[{"function":"regex","regex_pattern":"#### (\\-?[0-9\\.\\,]+)"},{"function":"take_first"}],"exact_match":` + exact + `}`, true, 0},
		{"lm-eval flexible-extract", "lmeval/generate_until", `{"filter":[{"function":"regex","group_select":-1,"regex_pattern":"(-?[$0-9.,]{2,})|(-?[0-9]+)"},{"function":"take_first"}],"exact_match":` + exact + `}`, true, 22_200},
	}
}

// gradeRate grades the corpus again and again for a second of CPU.
func gradeRate(k graderKind, corpus []graded) (float64, error) {
	g, err := families.Grader(bundle.GraderConfig{Kind: k.kind, Options: json.RawMessage(k.options)})
	if err != nil {
		return 0, fmt.Errorf("build %s: %w", k.name, err)
	}
	tasks := make([]bundle.Task, len(corpus))
	for i, c := range corpus {
		tasks[i] = bundle.Task{ID: "t", Target: []string{c.number}}
		if k.whole {
			tasks[i].Target[0] = c.gold
		}
	}
	n, right := 0, 0
	spent, err := forCPU(time.Second, func() error {
		for i, c := range corpus {
			v, err := g.Grade(tasks[i], bundle.Answer{Text: c.text, Finish: bundle.FinishStop})
			if err != nil {
				return fmt.Errorf("grade with %s: %w", k.name, err)
			}
			n++
			right += int(v.Score)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	rate := float64(n) / spent.Seconds()
	show(k.name, rate, "grades/s", k.python, fmt.Sprintf("%.1f %% right", 100*float64(right)/float64(n)))
	return rate, nil
}

func show(name string, rate float64, unit string, python float64, note string) {
	beside := ""
	if python > 0 {
		beside = fmt.Sprintf("  %6.1fx the Python original (%.0f/s)", rate/python, python)
	}
	fmt.Printf("%-26s %12.0f %s%s  %s\n", name, rate, unit, beside, note)
}

// forCPU repeats work until it has taken a while of CPU, and gives how long.
func forCPU(least time.Duration, work func() error) (time.Duration, error) {
	began, err := cpu()
	if err != nil {
		return 0, err
	}
	for {
		if err := work(); err != nil {
			return 0, err
		}
		now, err := cpu()
		if err != nil || now-began >= least {
			return now - began, err
		}
	}
}

// pythonIncludes runs the reference's includes, which is one expression, on
// the same texts.
func pythonIncludes(corpus []graded, ours float64) error {
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, c := range corpus {
		if err := enc.Encode([]string{c.text, c.number}); err != nil {
			return err
		}
	}
	const program = `
import json, sys, time
rows = [json.loads(l) for l in sys.stdin]
n = right = 0
began = time.process_time()
while time.process_time() - began < 1:
    for text, target in rows:
        right += target.casefold() in text.casefold()
    n += len(rows)
print(n / (time.process_time() - began))`
	cmd := exec.Command("python3", "-c", program)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var rate float64
	if _, err := fmt.Sscan(string(out), &rate); err != nil {
		return err
	}
	fmt.Printf("%-26s %12.0f grades/s  live, the expression alone, on the same corpus; ours is %.2fx\n", "Python includes", rate, ours/rate)
	return nil
}

func sobRate(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n := 0
	spent, err := forCPU(time.Second, func() error {
		for _, err := range sob.EvaluateLines(bytes.NewReader(text), sob.Image) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("evaluate SOB records: %w", err)
	}
	show("SOB records", float64(n)/spent.Seconds(), "records/s", 0, "parsed, schema checked and compiled, all metrics")
	return nil
}

// bootstrapRate is lm-eval's own bootstrap, with its generator.
func bootstrapRate() error {
	items := make([]any, 1000)
	for i := range items {
		items[i] = float64(i % 2)
	}
	a, ok := lmmetric.Lookup("median")
	if !ok {
		return errors.New("no median")
	}
	draws := 0
	spent, err := forCPU(time.Second, func() error {
		draws += 10_000 * len(items)
		_, _, err := a.Stderr(items, 10_000)
		return err
	})
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	show("lm-eval bootstrap", float64(draws)/spent.Seconds(), "draws/s", 22_600_000, "of the median, with Python's generator")
	return nil
}

// aggregate sums up n grades as each family does.
func aggregate(n int) error {
	samples := make([]metric.Sample, n)
	items := make([]any, n)
	for i := range samples {
		v := any(score.Correct)
		if i%3 == 0 {
			v = score.Incorrect
		}
		samples[i] = metric.Sample{ID: fmt.Sprint(i), Score: score.Score{Value: v}}
		items[i] = float64(i % 2)
	}
	for _, a := range []struct {
		name string
		work func() error
	}{
		{"Inspect accuracy, stderr", func() error {
			_, _, err := metric.Plan{Scorer: "s", Metrics: []metric.Metric{metric.Accuracy{}, metric.Stderr{}}}.Results(samples)
			return err
		}},
		{"lm-eval mean, stderr", func() error {
			_, err := group.Aggregate([]group.Series{{Metric: "exact_match", Filter: "none", Items: items}}, 100_000)
			return err
		}},
	} {
		spent, err := forCPU(0, a.work)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Printf("%-26s %12.2f s for %d grades\n", a.name, spent.Seconds(), n)
	}
	return nil
}
