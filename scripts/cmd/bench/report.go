package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// reports measures the files of a finished run: those of a real run as its
// service exports them, and a report of very many tasks as it is written. Both
// reports are then opened in a browser.
func reports(args []string) error {
	flags := flag.NewFlagSet("scripts/bench report", flag.ContinueOnError)
	n := flags.Int("n", 1_000_000, "tasks of the report that is only written")
	ran := flags.Int("run", 10_000, "tasks of the run that is run and exported")
	many := flags.Bool("many", false, "make a hundred times as many of the run and export its report once more; takes sqlite3, minutes and, by default, 2 GB")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 || *n < 1 || *ran < 1 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "evalrouter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var files []string
	for _, right := range []int{60, 90, 100} {
		file := filepath.Join(dir, fmt.Sprintf("written-%d.html", right))
		if err := writer(*n, right, file); err != nil {
			return err
		}
		files = append(files, file)
	}
	exported, err := exports(dir, *ran, *many)
	if err != nil {
		return err
	}
	return paint(dir, append(files, exported...))
}

// writerWord is the argument with which this program is the writer of a report.
const writerWord = "write-report"

// writer lets a process of its own write a report, so that its memory is that
// of the writing.
func writer(n, right int, file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, writerWord, strconv.Itoa(n), strconv.Itoa(right), file)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("write the report: %w\n%s", err, out)
	}
	held, size, err := holds(file)
	if err != nil {
		return err
	}
	fmt.Printf("written: %d tasks, %d %% right: %.1f MB with %d tasks in %.2f s, CPU %.2f s, peak RSS %.0f MB\n", n, right, float64(size)/1e6, held, time.Since(began).Seconds(), cpuOf(cmd.ProcessState), float64(peak(cmd.ProcessState))/1e6)
	return nil
}

// writeReport is the writer: n tasks that are made as they are read, of which so
// many in a hundred are right.
func writeReport(n, right, file string) error {
	tasks, err := strconv.Atoi(n)
	if err != nil {
		return errUsage
	}
	share, err := strconv.Atoi(right)
	if err != nil {
		return errUsage
	}
	r, err := report.From(finished(tasks, share), nil)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 64<<10)
	if err := report.HTML(w, r, made(tasks, share), 0); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// rightAt says of a task whether its answer is right.
func rightAt(i, share int) bool { return i*37%100 < share }

// finished is the result of a run of so many tasks.
func finished(n, share int) api.Export {
	right := 0
	for i := range n {
		if rightAt(i, share) {
			right++
		}
	}
	w := stat.Wilson(right, n, 0.95)
	spend := usd.Micro(120 * n)
	bill := api.BillingSnapshot{CapMicrousd: 2 * spend, SpendMicrousd: spend}
	summary := api.ResultSummary{
		RunID: "00000000-0000-4000-8000-000000000001", ResultVersion: 1, Status: api.StatusCompleted, Coverage: api.CoverageCounts{Planned: n, Graded: n}, BillingSnapshot: bill,
		Outcomes: map[string]int{"right": right, "wrong": n - right},
	}
	model := api.SelectedModel{Kind: "managed", ModelID: "bench", DisplayName: "Bench", Simulated: true}
	return api.Export{
		ExportSummary: api.ExportSummary{
			Schema: api.ExportSchema, RunID: summary.RunID, ResultVersion: 1, Model: model, Summary: summary, BillingSnapshot: bill,
			Identities: api.ExportIdentities{ProfileID: "bench@1", Slug: "bench", Version: "1", PopulationCount: n, SelectedCount: n}, ExportPolicy: api.ExportPolicy{Answers: "included"},
		},
		Result: api.ResultRecord{
			RunID: summary.RunID, Version: 1, Model: api.Model{Selected: &model}, Summary: summary,
			Profiles: []api.ProfileResult{{
				ProfileID: "bench@1", Name: "Bench", Planned: n, Graded: n, Selection: api.ProfileSelection{PopulationCount: n, SelectedCount: n},
				Metrics:     []api.MetricRecord{{Key: "accuracy", Name: "Accuracy", Value: float64(right) / float64(n), SampleCount: &n, Uncertainty: &api.Uncertainty{Interval: &api.Interval{Method: "wilson", Lower: w.Lower, Upper: w.Upper, Confidence: 0.95}}}},
				HeadlineKey: new("accuracy"),
			}},
			Costs: api.ResultCosts{Profiles: []api.ProfileCost{{ChargedMicrousd: spend, TotalCostMicrousd: &spend}}},
		},
	}
}

// made yields the tasks, with answers of the length that models give to word
// problems.
func made(n, share int) report.Tasks {
	return func(yield func(report.Task, error) bool) {
		for i := range n {
			gold := strconv.Itoa(i * 7)
			number, outcome, score := gold, "right", 1.0
			if !rightAt(i, share) {
				number, outcome, score = strconv.Itoa(i*7+1), "wrong", 0
			}
			text := fmt.Sprintf("There are %d boxes of 7 apples each. First I multiply the boxes by the apples in one of them, which is %d times 7. That makes %s apples. To check it I add the apples box by box, and I come to the same number of apples again.\n\nANSWER: %s", i, i, number, number)
			at := len(text) - len(number)
			t := report.Task{Index: i, Target: []string{gold}, Extracted: number, Span: &[2]int{at, len(text)}, Rule: "last number, equal", ExportSample: api.ExportSample{
				ProfileID: "bench@1", TaskID: fmt.Sprintf("%07d", i), Attempt: 1, Status: "graded", Outcome: outcome, ChargeMicrousd: 120, Answer: &text, FinishReason: new("stop"),
				Scores: map[string]float64{"accuracy": score}, Usage: &api.SampleUsage{InputTokens: 60, OutputTokens: 70}, AnswerSHA256: new(strings.Repeat("9c", 32)),
			}}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// exports runs a benchmark at a service and exports it in every format; the CPU
// time is the service's. It gives the pages.
func exports(dir string, n int, many bool) (pages []string, err error) {
	b, err := prepare(dir, scenario{n: n, inFlight: 256, alone: true, told: true})
	if err != nil {
		return nil, err
	}
	defer b.close()
	h := &home{dir: filepath.Join(dir, "home")}
	model, err := b.furnish(h)
	if err != nil {
		return nil, err
	}
	defer h.run("evalrouter", "local", "stop")
	_, out, err := h.run("evalrouter", "run", "sums", "--model", model, "--full", "--max-cost", "900", "--concurrency", "max", "--yes", "--json")
	var run struct{ ID string }
	if json.Unmarshal([]byte(out), &run) != nil || run.ID == "" {
		return nil, fmt.Errorf("run: %w\n%s", err, out)
	}
	for _, format := range []string{"json", "csv", "scores", "html", "md", "junit", "parquet", "bundle", "inspect", "lm-eval"} {
		if err := h.export(run.ID, format, filepath.Join(dir, "exported."+format), n); err != nil {
			return nil, err
		}
	}
	pages = []string{filepath.Join(dir, "exported.html")}
	if many {
		h.run("evalrouter", "local", "stop")
		cmd := exec.Command("sqlite3", filepath.Join(h.data(), "evalrouter.db"))
		cmd.Stdin = strings.NewReader(multiplied)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("multiply the run: %w\n%s", err, out)
		}
		pages = append(pages, filepath.Join(dir, "exported-many.html"))
		if err := h.export(run.ID, "html", pages[1], 100*n); err != nil {
			return nil, err
		}
	}
	for _, page := range pages {
		held, _, err := holds(page)
		if err != nil {
			return nil, err
		}
		fmt.Printf("exported: %s holds %d tasks\n", filepath.Base(page), held)
	}
	return pages, nil
}

//go:embed multiply.sql
var multiplied string

// export exports a run of n tasks from a process that has done nothing else: its
// peak is that of the export.
func (h *home) export(run, format, file string, n int) error {
	h.run("evalrouter", "local", "stop")
	if _, out, err := h.run("evalrouter", "local", "start"); err != nil {
		return fmt.Errorf("start the service: %w\n%s", err, out)
	}
	pid, err := h.pid()
	if err != nil {
		return err
	}
	before, rest, began := cpuNow(pid), peakNow(pid), time.Now()
	if _, out, err := h.run("evalrouter", "export", run, "--format", format, "--output", file, "--timeout", "1200"); err != nil {
		return fmt.Errorf("export as %s: %w\n%s", format, err, out)
	}
	took, used := time.Since(began), cpuNow(pid)-before
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("exported: %d tasks as %-7s %7.2f MB in %.2f s, CPU of the service %.2f s, %.0f MB/s of CPU, peak RSS %.0f MB (%.0f before)\n", n, format, float64(info.Size())/1e6, took.Seconds(), used,
		float64(info.Size())/1e6/max(used, 0.01), float64(peakNow(pid))/1e6, float64(rest)/1e6)
	return nil
}

// holds counts the tasks in a report.
func holds(file string) (tasks int, size int64, err error) {
	raw, err := os.ReadFile(file)
	return strings.Count(string(raw), "<details id=\"t"), int64(len(raw)), err
}

// painting is a page that opens a report and says when it was painted first, as
// soon as it was, and when all of it was there.
const painting = `<!doctype html><meta charset="utf-8"><body style="margin:0"><script>
const f = document.createElement("iframe");
f.style.cssText = "width:1280px;height:900px;border:0";
const firstPaint = () => Math.min(...f.contentWindow.performance.getEntriesByType("paint").map(e => e.startTime));
const say = body => fetch("/said", {method: "POST", body: JSON.stringify(body)});
const seen = setInterval(() => {
	if (!f.contentWindow.location.pathname.endsWith("report.html") || firstPaint() === Infinity) return;
	clearInterval(seen);
	say({paint: firstPaint()});
}, 20);
f.onload = () => requestAnimationFrame(() => setTimeout(() => {
	const n = f.contentWindow.performance.getEntriesByType("navigation")[0];
	say({paint: firstPaint(), parsed: n.domContentLoadedEventEnd, loaded: n.loadEventEnd, tasks: f.contentDocument.querySelectorAll("#list details").length});
}, 300));
f.src = "/report.html";
document.body.append(f);
</script>`

// paint opens each report in a Chromium that has just started.
func paint(dir string, files []string) error {
	browser := ""
	for _, name := range []string{os.Getenv("EVALROUTER_TEST_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && browser == "" {
			browser = p
		}
	}
	if browser == "" {
		fmt.Println("painted: not measured, there is no Chromium on the PATH")
		return nil
	}
	for _, file := range files {
		for range 3 {
			if err := painted(browser, dir, file); err != nil {
				return fmt.Errorf("open %s: %w", filepath.Base(file), err)
			}
		}
	}
	return nil
}

// paintTime bounds how long one opening of a report is waited for.
const paintTime = 3 * time.Minute

func painted(browser, dir, file string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	said := make(chan string, 8)
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, painting)
	})
	mux.HandleFunc("/report.html", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	mux.HandleFunc("/said", func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err == nil {
			said <- string(b)
		}
	})
	srv := &http.Server{Handler: mux}
	go srv.Serve(listener)
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), paintTime)
	defer cancel()
	args := []string{"--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0", "--user-data-dir=" + filepath.Join(dir, "chromium-"+listener.Addr().String()), "http://" + listener.Addr().String() + "/"}
	if os.Geteuid() == 0 { // its sandbox refuses root
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.CommandContext(ctx, browser, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { cancel(); _ = cmd.Wait() }() // ended by us: its status says nothing
	var at struct{ Paint, Parsed, Loaded, Tasks float64 }
	for at.Loaded == 0 {
		select {
		case s := <-said:
			if err := json.Unmarshal([]byte(s), &at); err != nil {
				return fmt.Errorf("read %s: %w", s, err)
			}
		case <-ctx.Done(): // what is known is said, and the next one opened
			if at.Paint == 0 {
				fmt.Printf("painted: %-18s nothing within %s\n", filepath.Base(file), paintTime)
				return nil
			}
			fmt.Printf("painted: %-18s first paint %4.0f ms, all parsed after more than %s\n", filepath.Base(file), at.Paint, paintTime)
			return nil
		}
	}
	fmt.Printf("painted: %-18s first paint %4.0f ms, all parsed %5.0f ms, loaded %5.0f ms, %.0f tasks\n", filepath.Base(file), at.Paint, at.Parsed, at.Loaded, at.Tasks)
	return nil
}
