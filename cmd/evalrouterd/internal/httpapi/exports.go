package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/sample"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
)

type exportInput struct {
	ID      string `path:"id"`
	Format  string `query:"format" enum:"json,csv,html,summary,scores,md,github,junit,parquet,bundle,inspect,inspect-json,lm-eval" default:"json"`
	Version int    `query:"version" minimum:"1" doc:"the newest when absent"`
	Resumed bool   `query:"include_resumed" doc:"the run's chain up to its newest continuation, as one result"`
}

// exported is a file. It is written to disk first, so that its length and
// hash stand in the headers and no run is ever held in memory.
type exported struct {
	Body func(huma.Context)
}

func (s *Server) exportRun(ctx context.Context, in *exportInput) (*exported, error) {
	id := core.RunID(in.ID)
	if in.Resumed {
		if in.Version != 0 {
			return nil, refuseField("version", "not_allowed", "a chain has the newest result of each of its runs, and no versions; nothing was exported")
		}
		newest, err := s.o.Chains.Newest(ctx, scopeOf(ctx), id)
		if err != nil {
			return nil, err
		}
		id = newest
	}
	e, err := s.ended(ctx, id, in.Version)
	if err != nil {
		return nil, err
	}
	e.chained = in.Resumed
	sp, err := s.newSpool()
	if err != nil {
		return nil, err
	}
	if err := s.writeExport(ctx, e, in.Format, sp); err != nil {
		sp.close()
		return nil, err
	}
	if err := sp.finish(); err != nil {
		sp.close()
		return nil, err
	}
	return &exported{Body: func(hc huma.Context) {
		defer sp.close()
		_, w := humago.Unwrap(hc)
		h := w.Header()
		h.Set("Content-Type", contentType(in.Format))
		h.Set("Content-Length", strconv.FormatInt(sp.size, 10))
		h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, fileName(e, in.Format)))
		if in.Format == "csv" {
			h.Set("X-CSV-Text", export.CSVText)
		}
		h.Set("X-Result-Version", strconv.Itoa(e.result.Version))
		h.Set("X-Content-SHA256", hex.EncodeToString(sp.sum.Sum(nil)))
		w.WriteHeader(http.StatusOK)
		if err := copyPatiently(w, sp.file); err != nil {
			s.log.Debug("export not delivered", "request_id", requestID(hc.Context()), "error", err.Error())
		}
	}}, nil
}

// Summary is the summary export of a finished run.
func (s *Server) Summary(ctx context.Context, id core.RunID) ([]byte, error) {
	e, err := s.ended(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.writeExport(ctx, e, "summary", &b)
	return b.Bytes(), err
}

// Exported is a file as an answer.
type Exported = exported

func contentType(format string) string {
	switch format {
	case "csv":
		return "text/csv; charset=utf-8"
	case "html":
		return "text/html; charset=utf-8"
	case "md", "github":
		return "text/markdown; charset=utf-8"
	case "junit":
		return "application/xml; charset=utf-8"
	case "scores":
		return "application/x-ndjson"
	case "parquet":
		return "application/vnd.apache.parquet"
	case "inspect", "lm-eval", "bundle":
		return "application/zip"
	}
	return "application/json; charset=utf-8"
}

func fileName(e ended, format string) string {
	return "evalrouter-" + string(e.ID[:min(8, len(e.ID))]) + "." + export.Extension(format)
}

// writeExport writes a run, or the chain that ends with it, whose tasks are its
// own. Reports are of the records that the JSON export holds, so that no figure
// can differ.
func (s *Server) writeExport(ctx context.Context, e ended, format string, out io.Writer) (err error) {
	switch format {
	case "csv":
		return s.source().CSV(ctx, e.Run, sample.Headline, out)
	case "parquet":
		return s.source().Parquet(ctx, e.Run, sample.Headline, out)
	case "scores":
		return s.source().Scores(ctx, e.Run, out)
	case "inspect", "inspect-json":
		return s.source().InspectLog(ctx, e.Run, format == "inspect", out)
	case "lm-eval":
		return s.source().LMEval(ctx, e.Run, out)
	}
	if format == "json" || format == "summary" || e.chained { // the checksum of a chain is of its figures too
		if e.native, err = s.source().Native(ctx, e.Run); err != nil {
			return err
		}
	}
	head := exportHead(e, s.micros())
	var chain *api.ChainExport
	if e.chained && format != "bundle" {
		if chain, err = s.o.Chains.Result(ctx, scopeOf(ctx), head, format == "json"); err != nil {
			return err
		}
	}
	switch {
	case format == "bundle":
		return s.writeBundle(ctx, e, head, s.reportTasks(ctx, e), out)
	case format == "json":
		return s.writeFull(ctx, e, head, chain, out)
	case format == "summary" && chain != nil:
		return encodeJSON(out, chain)
	case format == "summary":
		head.Schema = api.ExportSummarySchema
		return encodeJSON(out, head.ExportSummary)
	}
	r, err := report.From(head, chain)
	if err != nil {
		return err
	}
	return writeReport(r, s.reportTasks(ctx, e), format, out)
}

func writeReport(r report.Report, tasks report.Tasks, format string, out io.Writer) error {
	switch format {
	case "md":
		return report.Markdown(out, r, tasks)
	case "github":
		return report.GitHubSummary(out, r, tasks)
	case "junit":
		return report.JUnit(out, r, tasks)
	}
	return report.HTML(out, r, tasks, 0)
}

// exportHead is the full export without its samples.
func exportHead(e ended, now core.Micros) api.Export {
	return api.Export{ExportSummary: exportSummary(e, api.ExportSchema, now), Result: resultRecord(e, now), Samples: []api.ExportSample{}}
}

// reportTasks yields the tasks of a run as reports show them: what the export
// holds, how the answer was graded and what would have been right, but neither
// what was asked nor what was reasoned.
func (s *Server) reportTasks(ctx context.Context, e ended) report.Tasks {
	source := s.source()
	read := func(tasks *sample.Maker, row export.Row) (report.Task, error) {
		one, err := tasks.Of(ctx, row)
		if err != nil {
			return report.Task{}, err
		}
		task, err := tasks.Task(ctx, row.Idx)
		if err != nil {
			return report.Task{}, fmt.Errorf("read task %d: %w", row.Idx, err)
		}
		return report.Task{Index: row.Idx, ExportSample: one, Extracted: row.Extracted, Span: row.Span, Rule: row.Rule, Target: task.Target}, nil
	}
	return func(yield func(report.Task, error) bool) {
		tasks := sample.New(source, e.Run)
		for row, err := range source.Rows(ctx, e.Run, 0) {
			var t report.Task
			if err == nil {
				t, err = read(tasks, row)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// writeBundle writes what a run's figures and charges can be derived from again.
func (s *Server) writeBundle(ctx context.Context, e ended, head api.Export, tasks report.Tasks, out io.Writer) error {
	b := report.Bundle{
		Run: head, Grader: e.Quote.Profile.GraderConfig, Prices: evidencePrices(e.Quote), Tasks: tasks, Evidence: s.evidence(ctx, e),
		More: []evidence.File{{Name: "samples.csv", Write: func(w io.Writer) error { return s.source().CSV(ctx, e.Run, sample.Headline, w) }}},
	}
	return b.Write(out)
}

// billedPage is for how many tasks their calls are read at once.
const billedPage = 500

// evidence yields the tasks of a run with what they were graded against and the
// calls that they were charged for.
func (s *Server) evidence(ctx context.Context, e ended) iter.Seq2[evidence.Task, error] {
	source, tasks, scope := s.source(), sample.New(s.source(), e.Run), core.Scope{Workspace: e.Workspace}
	var calls []history.BilledCall
	read := func(row export.Row) (evidence.Task, error) {
		one, err := tasks.Of(ctx, row)
		if err != nil {
			return evidence.Task{}, err
		}
		task, err := tasks.Task(ctx, row.Idx)
		if err != nil {
			return evidence.Task{}, fmt.Errorf("read task %d: %w", row.Idx, err)
		}
		if row.Idx%billedPage == 0 {
			if calls, err = s.o.Answers.Billed(ctx, scope, e.ID, row.Idx, row.Idx+billedPage); err != nil {
				return evidence.Task{}, fmt.Errorf("read calls of task %d: %w", row.Idx, err)
			}
		}
		out := evidence.Task{Index: row.Idx, Sample: one, Rule: row.Rule, Calls: []evidence.BilledCall{}, Key: evidence.Key{Target: task.Target, Choices: task.Choices, Schema: task.Schema, Group: task.Group}}
		for ; len(calls) > 0 && calls[0].Idx == row.Idx; calls = calls[1:] {
			c, err := billedCall(calls[0])
			if err != nil {
				return evidence.Task{}, err
			}
			out.Calls = append(out.Calls, c)
		}
		return out, nil
	}
	return func(yield func(evidence.Task, error) bool) {
		for row, err := range source.Rows(ctx, e.Run, 0) {
			var out evidence.Task
			if err == nil {
				out, err = read(row)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// writeFull streams the full export: the record without its samples, then
// one sample a line.
func (s *Server) writeFull(ctx context.Context, e ended, run api.Export, chain *api.ChainExport, out io.Writer) error {
	var record any = run
	end := `,"samples":[]}` // samples stand last in both records
	if chain != nil {
		record, end = chain, "}" // which leaves out empty ones
	}
	head, err := marshal(record)
	if err != nil {
		return err
	}
	head, ok := bytes.CutSuffix(head, []byte(end))
	if !ok {
		return fmt.Errorf("write export: the record does not end with its samples")
	}
	w := bufio.NewWriterSize(out, 64<<10)
	w.Write(head)
	w.WriteString(`,"samples":[`)
	tasks, line := sample.New(s.source(), e.Run), []byte("\n")
	for row, err := range s.source().Brief(ctx, e.Run) {
		if err != nil {
			return err
		}
		one, err := tasks.Of(ctx, row)
		if err != nil {
			return err
		}
		if line, err = sample.Append(line, one); err != nil {
			return err
		}
		w.Write(line)
		line = append(line[:0], ",\n"...)
	}
	w.WriteString("\n]}\n")
	return w.Flush()
}

// spool is a file without a name that is hashed as it is written.
type spool struct {
	file *os.File
	sum  interface {
		io.Writer
		Sum([]byte) []byte
	}
	size int64
}

func (s *Server) newSpool() (*spool, error) {
	f, err := os.CreateTemp(s.o.SpoolDir, "export-*")
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("hide spool: %w", err)
	}
	return &spool{file: f, sum: sha256.New()}, nil
}

// Write keeps and hashes.
func (sp *spool) Write(b []byte) (int, error) {
	n, err := sp.file.Write(b)
	sp.sum.Write(b[:n])
	sp.size += int64(n)
	return n, err
}

func (sp *spool) finish() error {
	_, err := sp.file.Seek(0, io.SeekStart)
	return err
}

// close is best effort: the file has no name any more.
func (sp *spool) close() { _ = sp.file.Close() }

// stall is how long one piece of a file may take to be taken by its reader.
const stall = 30 * time.Second

// copyPatiently sends a file of any length to a reader of any speed that does
// not stall.
func copyPatiently(w http.ResponseWriter, f io.Reader) error {
	rc := http.NewResponseController(w)
	buf := make([]byte, 256<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			// A recorder of tests has no deadlines.
			_ = rc.SetWriteDeadline(time.Now().Add(stall))
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
