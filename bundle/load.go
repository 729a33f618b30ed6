package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
)

// Loading has two phases, because a file whose digest is wrong must not give
// a single task. Verify reads all bytes and compares; Load reads them again,
// streams tasks and compares once more at the end, so that a file swapped in
// between is noticed before the caller commits. Check does both and grades
// every gold answer.

// Verify compares the exact bytes of the data file with the manifest.
// Differences are a *Finding: data_digest, data_size, data_too_large.
func (m Manifest) Verify(ctx context.Context, r io.Reader) error {
	in := m.measured(ctx, r)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return fmt.Errorf("verify %s: %w", m.Data.File, err)
	}
	if f := in.differs(m.Data); f != nil {
		return f
	}
	return nil
}

// Load streams the tasks of the data file in order. A bad row yields the zero
// Task and a *Finding, and the rows after it follow; any other error ends the
// sequence. Tasks are good only once the sequence has ended without an error:
// the last checks are made at the end.
func (m Manifest) Load(ctx context.Context, r io.Reader) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		in := m.measured(ctx, r)
		mk, err := newMaker(m)
		if err != nil {
			yield(Task{}, err)
			return
		}
		err = readRows(ctx, m.Data, in, func(x row) error {
			t, f := mk.task(x)
			if f == nil {
				if !yield(t, nil) {
					return errStop
				}
				return nil
			}
			if !yield(Task{}, f) || f.Code == "rows_too_many" {
				return errStop
			}
			return nil
		})
		switch {
		case errors.Is(err, errStop):
			return
		case err != nil:
			yield(Task{}, loadError(m.Data.File, err))
			return
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			yield(Task{}, loadError(m.Data.File, err))
			return
		}
		if f := in.differs(m.Data); f != nil {
			yield(Task{}, f)
			return
		}
		if mk.rows == 0 {
			yield(Task{}, &Finding{Code: "selection_empty", Message: "the file has no rows"})
		}
	}
}

func loadError(file string, err error) error {
	var f *Finding
	if errors.As(err, &f) {
		return f
	}
	return fmt.Errorf("load %s: %w", file, err)
}

// Report is what Check found.
type Report struct {
	// Rows counts the rows of the file, Tasks those that became a task whose
	// gold the grader accepts.
	Rows  int `json:"rows"`
	Tasks int `json:"tasks"`
	// Findings are the first hundred in row order; Total counts all.
	Findings []Finding `json:"findings"`
	Total    int       `json:"total"`
}

// Err is nil when nothing was found.
func (r Report) Err() error {
	if r.Total == 0 {
		return nil
	}
	return &Refusal{What: "data", Findings: r.Findings}
}

// Check verifies the data file, makes every task and grades its gold with g.
// It opens the file twice, once a phase. What is wrong with the data is in the
// report; the error is for what kept the check from being made.
func (m Manifest) Check(ctx context.Context, open func() (io.ReadCloser, error), g Grader) (Report, error) {
	rep := Report{Findings: []Finding{}}
	add := func(f *Finding) {
		if rep.Total++; rep.Total <= maxFindings {
			rep.Findings = append(rep.Findings, *f)
		}
	}
	err := m.withFile(open, func(r io.Reader) error { return m.Verify(ctx, r) })
	var f *Finding
	if errors.As(err, &f) {
		add(f)
		return rep, nil
	}
	if err != nil {
		return rep, err
	}
	err = m.withFile(open, func(r io.Reader) error {
		for t, err := range m.Load(ctx, r) {
			var f *Finding
			if err != nil && !errors.As(err, &f) {
				return err
			}
			if f == nil || f.Row > 0 {
				rep.Rows++
			}
			if f == nil {
				if f = CheckGold(g, t); f != nil {
					f.Row = rep.Rows
				}
			}
			if f != nil {
				add(f)
				continue
			}
			rep.Tasks++
		}
		return nil
	})
	return rep, err
}

func (m Manifest) withFile(open func() (io.ReadCloser, error), use func(io.Reader) error) error {
	f, err := open()
	if err != nil {
		return fmt.Errorf("open data %s: %w", m.Data.File, err)
	}
	defer f.Close() // read only; its error says nothing about what was read
	return use(f)
}

// measured counts and hashes what passes through, and stops past the limit.
type measured struct {
	ctx context.Context // lives for one Verify or Load call
	in  io.Reader
	sum hash.Hash
	n   int64
}

func (m Manifest) measured(ctx context.Context, r io.Reader) *measured {
	return &measured{ctx: ctx, in: r, sum: sha256.New()}
}

func (x *measured) Read(p []byte) (int, error) {
	if err := x.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := x.in.Read(p)
	x.sum.Write(p[:n])
	x.n += int64(n)
	if x.n > MaxDataBytes {
		return n, &Finding{Code: "data_too_large", Message: fmt.Sprintf("the file is larger than %d bytes", MaxDataBytes)}
	}
	return n, err
}

func (x *measured) differs(d Data) *Finding {
	if d.Bytes != 0 && d.Bytes != x.n {
		return &Finding{Code: "data_size", Path: "data.bytes", Message: fmt.Sprintf("the file has %d bytes, the manifest says %d", x.n, d.Bytes)}
	}
	if got := hex.EncodeToString(x.sum.Sum(nil)); got != d.SHA256 {
		return &Finding{Code: "data_digest", Path: "data.sha256", Message: "the file has SHA-256 " + got + ", not the one in the manifest"}
	}
	return nil
}
