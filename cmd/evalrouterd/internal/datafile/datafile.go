// Package datafile reads the files that workspaces bring, without knowing what
// they mean: how many rows they have and which columns. Whatever is wrong with
// a file has a stable code and a place, and no text of the file.
//
// JSONL and CSV are read by bundle, which makes tasks of them with the same
// code. Parquet becomes JSONL here, so that there is one way from a row to a
// task. github.com/parquet-go/parquet-go reads it, because the format has
// several encodings and codecs; it trusts the sizes that a file claims, so
// guard.go looks at every page before it does.
package datafile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Fault is what is wrong with a file.
type Fault struct {
	Code string
	// Message says where, in a sentence.
	Message string
}

// Error is the sentence.
func (f *Fault) Error() string { return f.Message }

func fault(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Look reads a whole file. It fails with a *Fault for the first thing that is
// wrong with it; any other error is one of reading.
func Look(ctx context.Context, format string, r io.ReaderAt, size int64) (core.WhatFound, error) {
	switch format {
	case core.FormatPackage:
		return lookPackage(ctx, r, size)
	case core.FormatParquet:
		counted := &rowCounter{}
		columns, err := Lines(ctx, r, size, counted)
		if err == nil && counted.rows == 0 {
			err = fault("rows_none", "the file has no rows")
		}
		return core.WhatFound{Rows: counted.rows, Columns: columns}, err
	}
	s, err := bundle.Data{Format: format}.Look(ctx, io.NewSectionReader(r, 0, size))
	return core.WhatFound{Rows: s.Rows, Columns: s.Columns}, faultOf(err)
}

// faultOf makes a finding of bundle a fault.
func faultOf(err error) error {
	var f *bundle.Finding
	if errors.As(err, &f) {
		return &Fault{Code: f.Code, Message: f.Error()}
	}
	return err
}

// lookPackage runs the normative validator, again: that the author ran it is
// not known here.
func lookPackage(ctx context.Context, r io.ReaderAt, size int64) (core.WhatFound, error) {
	fsys, err := pack.OpenBundle(r, size)
	var rep pack.Report
	if err == nil {
		rep, err = pack.Validate(ctx, fsys, pack.Options{Graders: families.Grader, Sealed: true})
	}
	if err == nil {
		err = rep.Err()
	}
	var refused *pack.Refusal
	if errors.As(err, &refused) {
		for _, f := range refused.Report.Findings {
			if f.Severity == pack.Error {
				return core.WhatFound{}, &Fault{Code: f.Rule, Message: f.String()}
			}
		}
	}
	return core.WhatFound{Rows: rep.Tasks}, err
}

type rowCounter struct{ rows int }

// Write counts lines, of which each call brings one.
func (c *rowCounter) Write(b []byte) (int, error) {
	c.rows++
	return len(b), nil
}
