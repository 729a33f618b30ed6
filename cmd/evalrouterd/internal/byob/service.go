// Package byob makes benchmarks of what a workspace brings: files that are
// uploaded or imported, and a manifest that says which column is what.
//
// The decisions:
//
//   - A source never changes. Its size and hash are declared before the first
//     byte, and it is completed only when the bytes are those.
//   - An upload goes on where it stopped: what came is kept, chunk by chunk, and
//     counted.
//   - A manifest is translated into bundle's, and a row becomes a task by
//     bundle's code. What a preview shows is what a benchmark asks.
//   - A benchmark is made of what is checked in the same request, whatever a
//     preview said before.
//   - Graders are those that are built in, without judges.
//   - What is made stays in its workspace: every call takes a scope.
package byob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datafile"
)

// Sources keeps what is known of sources.
type Sources interface {
	AddSource(context.Context, core.DataSource) (core.DataSource, error)
	Source(context.Context, core.Scope, core.SourceID) (core.DataSource, error)
	SourceByURI(ctx context.Context, sc core.Scope, uri string) (core.DataSource, error)
	Sources(ctx context.Context, sc core.Scope, status string, after *core.Place, limit int) ([]core.DataSource, error)
	ArchiveSource(context.Context, core.Scope, core.SourceID) error
}

// Bytes keeps what is in them.
type Bytes interface {
	StartOver(context.Context, core.Scope, core.SourceID) error
	// Append fails with core.ErrMoved unless exactly start bytes are there.
	Append(ctx context.Context, sc core.Scope, id core.SourceID, start int64, data []byte) error
	Finish(context.Context, core.Scope, core.SourceID, core.WhatFound) error
	Copy(context.Context, core.DataSource, io.Writer) error
}

// Benchmarks keeps what was made.
type Benchmarks interface {
	Room(context.Context, core.Scope) error
	AddBenchmark(ctx context.Context, sc core.Scope, once core.Once, b core.OwnBenchmark, encode func(core.OwnBenchmark) ([]byte, error)) (core.Admitted, error)
	Benchmark(context.Context, core.Scope, core.ProfileID) (core.OwnBenchmark, error)
	Benchmarks(ctx context.Context, sc core.Scope, status string, after *core.Place, limit int) ([]core.OwnBenchmark, error)
	ArchiveBenchmark(context.Context, core.Scope, core.ProfileID) error
}

// Catalog admits profiles.
type Catalog interface {
	Profile(context.Context, core.Scope, core.ProfileID) (core.Profile, error)
	Admit(context.Context, core.Profile, func() iter.Seq2[bundle.Task, error]) (core.Profile, bool, error)
}

// Service is safe for concurrent use. All fields are required unless they say
// otherwise.
type Service struct {
	Sources    Sources
	Bytes      Bytes
	Benchmarks Benchmarks
	Catalog    Catalog
	NewID      func() string
	// SpoolDir holds a file while it is read; "" is the system's.
	SpoolDir string
}

// spool is a file without a name.
type spool struct {
	*os.File
	size int64
	sum  string // SHA-256, in hex
}

func (s *Service) spool(write func(io.Writer) error) (*spool, error) {
	f, err := os.CreateTemp(s.SpoolDir, "source-*")
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("hide spool: %w", err), f.Close())
	}
	sum := sha256.New()
	if err := write(io.MultiWriter(f, sum)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &spool{f, size, hex.EncodeToString(sum.Sum(nil))}, nil
}

// section reads the spool from its start.
func (s *spool) section() io.Reader { return io.NewSectionReader(s.File, 0, s.size) }

// whole is the bytes of a source as a file.
func (s *Service) whole(ctx context.Context, src core.DataSource) (*spool, error) {
	return s.spool(func(w io.Writer) error { return s.Bytes.Copy(ctx, src, w) })
}

// look is what a whole source holds.
func (s *Service) look(ctx context.Context, src core.DataSource) (core.WhatFound, error) {
	f, err := s.whole(ctx, src)
	if err != nil {
		return core.WhatFound{}, err
	}
	defer f.Close()
	if f.sum != src.SHA256 {
		return core.WhatFound{Error: "sha256_mismatch", Reason: "the bytes that came are not those that were announced: their SHA-256 differs"}, nil
	}
	found, err := datafile.Look(ctx, src.Format, f, f.size)
	var bad *datafile.Fault
	if errors.As(err, &bad) {
		return core.WhatFound{Error: bad.Code, Reason: bad.Message}, nil
	}
	return found, err
}
