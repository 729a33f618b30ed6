// Package rederive checks the evidence bundle of a run offline: that every byte
// of it is the one that was written, that every answer is graded again as it
// was, and that every figure, interval and charge follows from the tasks.
//
// A bundle is written so that each of its bytes follows from its contents, and
// the hashes of the contents stand in it. So a change by accident is always
// found. The bundle is not signed: who changes it on purpose can change the
// hashes too, and then the figures must still follow from the answers.
package rederive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
)

// maxDocument bounds each document and each line that is read whole, in bytes.
const maxDocument = 64 << 20

// Result is what was found.
type Result struct {
	RunID     string `json:"run_id"`
	Benchmark string `json:"benchmark"`
	Model     string `json:"model"`
	Tasks     int    `json:"tasks"`
	// Graded counts the scores that were derived again, Missing those that
	// cannot be, because the answer is not in the bundle.
	Graded  int `json:"graded"`
	Missing int `json:"missing"`
	Charges int `json:"charges"`
	// Figures are the figures that were derived again, in words.
	Figures []string `json:"figures"`
	// Problems are the first of what does not agree; Found counts all.
	Problems []string `json:"problems"`
	Found    int      `json:"found"`
}

// maxProblems is how many problems are kept.
const maxProblems = 20

// Holds says that everything was derived again and agrees.
func (r Result) Holds() bool { return r.Found == 0 && r.Missing == 0 }

func (r *Result) problem(format string, args ...any) {
	if r.Found++; r.Found <= maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// ErrBroken says that a file is no evidence bundle, or not as it was written.
var ErrBroken = errors.New("the bundle is not as it was written")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBroken, fmt.Sprintf(format, args...))
}

// Is says whether a file looks like an evidence bundle, and not like a
// benchmark. It looks at names only.
func Is(r io.ReaderAt, size int64) bool {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == evidence.RunFile || f.Name == evidence.SamplesFile })
}

// Verify reads a bundle, several times but never a whole one into memory.
func Verify(r io.ReaderAt, size int64, graders func(bundle.GraderConfig) (bundle.Grader, error)) (Result, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return Result{}, broken("%v", err)
	}
	if err := untouched(r, size, z.File); err != nil {
		return Result{}, err
	}
	c := checker{res: Result{Figures: []string{}, Problems: []string{}}}
	if err := c.open(z, graders); err != nil {
		return Result{}, err
	}
	if err := c.samples(z); err != nil {
		return Result{}, err
	}
	c.conclude()
	return c.res, nil
}

// untouched writes the container once more from its contents and compares. The
// sums come last, and are compared as all the rest.
func untouched(r io.ReaderAt, size int64, files []*zip.File) error {
	if len(files) == 0 || files[len(files)-1].Name != evidence.SumsFile {
		return broken("it does not end with %s", evidence.SumsFile)
	}
	same := &comparer{want: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10)}
	out := bufio.NewWriterSize(same, 64<<10)
	a := evidence.NewArchive(out)
	for _, f := range files[:len(files)-1] {
		err := a.Add(evidence.File{Name: f.Name, Write: func(w io.Writer) error {
			in, err := f.Open()
			if err != nil {
				return err
			}
			defer in.Close() // read only
			_, err = io.Copy(w, in)
			return err
		}})
		if err != nil {
			return broken("%v", err)
		}
	}
	if err := errors.Join(a.Close(), out.Flush()); err != nil {
		return broken("%v", err)
	}
	if same.n != size {
		return broken("it has %d bytes, and its contents make %d", size, same.n)
	}
	return nil
}

// comparer takes what should be the bytes of want.
type comparer struct {
	want io.Reader
	n    int64
	buf  []byte
}

var errDiffers = errors.New("its bytes are not those that its contents make")

func (c *comparer) Write(b []byte) (int, error) {
	c.buf = slices.Grow(c.buf[:0], len(b))[:len(b)]
	if _, err := io.ReadFull(c.want, c.buf); err != nil || !bytes.Equal(b, c.buf) {
		return 0, errDiffers
	}
	c.n += int64(len(b))
	return len(b), nil
}

// read decodes a document; a member that is not known is refused.
func read(z *zip.Reader, name string, v any) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, broken("%s is not in it", name)
	}
	defer f.Close() // read only
	b, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil || len(b) > maxDocument {
		return nil, broken("%s cannot be read", name)
	}
	if err := strict(b, v); err != nil {
		return nil, broken("%s: %v", name, err)
	}
	return b, nil
}

// each yields the lines of samples.
func each(z *zip.Reader, do func(evidence.Task) error) error {
	f, err := z.Open(evidence.SamplesFile)
	if err != nil {
		return broken("%s is not in it", evidence.SamplesFile)
	}
	defer f.Close() // read only
	g, err := gzip.NewReader(f)
	if err != nil {
		return broken("%s: %v", evidence.SamplesFile, err)
	}
	lines := bufio.NewScanner(g)
	lines.Buffer(make([]byte, 0, 64<<10), maxDocument)
	for lines.Scan() {
		var e evidence.Task
		if err := strict(lines.Bytes(), &e); err != nil {
			return broken("%s: %v", evidence.SamplesFile, err)
		}
		if err := do(e); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return broken("%s: %v", evidence.SamplesFile, err)
	}
	return nil
}

// strict decodes one document, of members that are known, with nothing after it.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the document")
	}
	return nil
}

// checker goes through one bundle.
type checker struct {
	run    api.Export
	prices evidence.Prices
	grader bundle.Grader
	res    Result
	sums   totals
}
