package report

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
)

// Bundle is what an evidence bundle is made of. Evidence is gone over once,
// Tasks several times, for the reports in it.
type Bundle struct {
	Run      api.Export
	Grader   []byte
	Prices   evidence.Prices
	Evidence iter.Seq2[evidence.Task, error]
	Tasks    Tasks
	// More are further files, such as a table of the samples.
	More []evidence.File
}

const bundleReadme = `Evidence of one EvalRouter run.

run.json          the result: figures, counts, money, versions and hashes
samples.jsonl.gz  every planned task: answer, score, charge, what it was graded
                  against, and the usage of each call that was charged
grader.json       the configuration of the grader
prices.json       the prices that charges are made of
report.html       the report for people; report.md is its summary
SHA256SUMS        the hashes of these files

  evalrouter-bench verify FILE.zip

grades every answer again, recomputes every interval and every charge, and
compares them with run.json. It needs no network. The sums say that nothing was
changed by accident; they are no signature.
`

// Write writes the bundle as a zip file. The same run gives the same bytes:
// there are no times in it, files are stored as they are, and the one large
// file is compressed by itself, so that its hash is of the bytes that stand
// there.
func (b Bundle) Write(w io.Writer) error {
	r, err := From(b.Run, nil)
	if err != nil {
		return err
	}
	files := []evidence.File{
		{Name: "README.txt", Write: func(w io.Writer) error { _, err := io.WriteString(w, bundleReadme); return err }},
		{Name: evidence.RunFile, Write: func(w io.Writer) error { return writeJSON(w, b.Run) }},
		{Name: evidence.GraderFile, Write: func(w io.Writer) error { _, err := w.Write(b.Grader); return err }},
		{Name: evidence.PricesFile, Write: func(w io.Writer) error { return writeJSON(w, b.Prices) }},
		{Name: evidence.SamplesFile, Write: b.samples},
		{Name: "report.html", Write: func(w io.Writer) error { return HTML(w, r, b.Tasks, 0) }},
		{Name: "report.md", Write: func(w io.Writer) error { return Markdown(w, r, b.Tasks) }},
		{Name: "junit.xml", Write: func(w io.Writer) error { return JUnit(w, r, b.Tasks) }},
	}
	a := evidence.NewArchive(w)
	for _, f := range append(files, b.More...) {
		if err := a.Add(f); err != nil {
			return err
		}
	}
	return a.Close()
}

func writeJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func (b Bundle) samples(w io.Writer) error {
	z := gzip.NewWriter(w)
	out := bufio.NewWriterSize(z, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for e, err := range b.Evidence {
		if err != nil {
			return fmt.Errorf("read evidence: %w", err)
		}
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return z.Close()
}
