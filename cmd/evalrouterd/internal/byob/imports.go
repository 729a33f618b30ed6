package byob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob/hub"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// maxFiles bounds one import, and importTime how long it may take. What runs
// longer died with its process.
const (
	maxFiles   = 20
	importTime = 10 * time.Minute
)

// Imports keeps what is known of imports.
type Imports interface {
	AddImport(context.Context, core.Scope, core.DataImport) (core.DataImport, error)
	EndImport(context.Context, core.Scope, core.DataImport) (core.DataImport, error)
	Import(context.Context, core.Scope, core.ImportID) (core.DataImport, error)
}

// Hub has public data sets.
type Hub interface {
	Commit(context.Context, hub.Dataset) (string, error)
	Fetch(ctx context.Context, d hub.Dataset, commit, path string, w io.Writer, limit int64) error
}

// Importer fetches files in the background and makes sources of them. All
// fields are required.
type Importer struct {
	Service *Service
	Imports Imports
	Hub     Hub
	Now     func() core.Micros
	// Wait is how long Begin waits for an import that may be short.
	Wait func() <-chan time.Time
	Log  *slog.Logger

	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
	// base is what every import runs under, and stop ends them; nil before the
	// first.
	base context.Context
	stop context.CancelFunc
}

// Begin checks a request and starts the import. It answers with the receipt of
// one that ended soon, and with a running one otherwise.
func (i *Importer) Begin(ctx context.Context, sc core.Scope, source string, paths []string) (core.DataImport, error) {
	d, ok := hub.Parse(source)
	var bad []Field
	if !ok {
		bad = append(bad, Field{"source", "invalid_value"})
	}
	if len(paths) < 1 || len(paths) > maxFiles {
		bad = append(bad, Field{"files", "out_of_range"})
	}
	for n, p := range paths {
		switch {
		case !hub.ValidPath(p), slices.Contains(paths[:n], p):
			bad = append(bad, Field{fmt.Sprintf("files[%d]", n), "invalid_value"})
		case formatOf(p) == "":
			bad = append(bad, Field{fmt.Sprintf("files[%d]", n), "format_unknown"})
		}
	}
	if len(bad) > 0 {
		return core.DataImport{}, &Invalid{core.InvalidRequest, "an import names hf://ORG/DATASET@REVISION and 1 to 20 paths of .jsonl, .csv or .parquet files in it; nothing was fetched", bad[:min(len(bad), 20)]}
	}
	im, err := i.Imports.AddImport(ctx, sc, core.DataImport{ID: core.ImportID(i.Service.NewID()), Source: source, Paths: paths, Actor: sc.Actor})
	if err != nil {
		return im, err
	}
	done, ok := i.start(sc, d, im)
	if !ok {
		im.Status, im.Error, im.Reason = core.ImportFailed, "interrupted", "the service is stopping; import again"
		return i.Imports.EndImport(ctx, sc, im)
	}
	select {
	case <-done:
	case <-i.Wait():
	case <-ctx.Done():
	}
	return i.Import(ctx, sc, im.ID)
}

// formatOf follows from a file's name; "" is none.
func formatOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".jsonl", ".ndjson":
		return core.FormatJSONL
	case ".csv":
		return core.FormatCSV
	case ".parquet":
		return core.FormatParquet
	}
	return ""
}

func (i *Importer) start(sc core.Scope, d hub.Dataset, im core.DataImport) (done <-chan struct{}, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, false
	}
	if i.base == nil {
		i.base, i.stop = context.WithCancel(context.Background())
	}
	ctx, cancel := context.WithTimeout(i.base, importTime)
	ended := make(chan struct{})
	i.group.Add(1)
	go func() {
		defer i.group.Done()
		defer close(ended)
		defer cancel()
		i.run(ctx, sc, d, im)
	}()
	return ended, true
}

// Close ends what is under way and waits for it.
func (i *Importer) Close() {
	i.mu.Lock()
	i.closed = true
	if i.stop != nil {
		i.stop()
	}
	i.mu.Unlock()
	i.group.Wait()
}

// run carries an import out and records how it ended.
func (i *Importer) run(ctx context.Context, sc core.Scope, d hub.Dataset, im core.DataImport) {
	err := calm(func() error { return i.fetch(ctx, sc, d, &im) })
	im.Status = core.ImportCompleted
	if err != nil {
		im.Status = core.ImportFailed
		im.Error, im.Reason = i.reason(ctx, im, err)
	}
	if _, err := i.Imports.EndImport(context.WithoutCancel(ctx), sc, im); err != nil {
		i.Log.Error("the end of an import was not recorded", "import", string(im.ID), "error", err.Error())
	}
}

// calm turns a panic into an error: what a stranger's file does must not end the
// service.
func calm(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in an import: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// reason is a code and a sentence for what made an import fail.
func (i *Importer) reason(ctx context.Context, im core.DataImport, err error) (code, sentence string) {
	var fromHub *hub.Error
	var refused *core.Refusal
	switch {
	case ctx.Err() != nil:
		return "interrupted", "the import was cut off; import again"
	case errors.As(err, &fromHub):
		if below := errors.Unwrap(fromHub); below != nil {
			i.Log.Warn("hub", "import", string(im.ID), "code", fromHub.Code, "error", below.Error())
		}
		return fromHub.Code, fromHub.Message
	case errors.As(err, &refused):
		return string(refused.Code), refused.Message
	}
	i.Log.Error("import failed", "import", string(im.ID), "error", err.Error())
	return "internal_error", "the service failed; its log says more under this import's id"
}

func (i *Importer) fetch(ctx context.Context, sc core.Scope, d hub.Dataset, im *core.DataImport) (err error) {
	if im.Commit, err = i.Hub.Commit(ctx, d); err != nil {
		return err
	}
	for _, p := range im.Paths {
		f, err := i.file(ctx, sc, d, im.Commit, p)
		if err != nil {
			return err
		}
		im.Files = append(im.Files, f)
	}
	return nil
}

// file fetches one file. One that the workspace has is compared with what came,
// and is not kept twice.
func (i *Importer) file(ctx context.Context, sc core.Scope, d hub.Dataset, commit, p string) (core.ImportedFile, error) {
	s := i.Service
	f, err := s.spool(func(w io.Writer) error { return i.Hub.Fetch(ctx, d, commit, p, w, core.MaxSourceBytes) })
	if err != nil {
		return core.ImportedFile{}, err
	}
	defer f.Close()
	out := core.ImportedFile{URI: d.URI(commit, p), SHA256: f.sum, Bytes: f.size}
	have, err := s.Sources.SourceByURI(ctx, sc, out.URI)
	switch {
	case err == nil && have.SHA256 != f.sum:
		return out, &hub.Error{Code: "source_changed", Message: p + " is not what was imported from this commit before; nothing was kept of it"}
	case err == nil:
		out.Source = have.ID
		return out, nil
	case !errors.Is(err, &core.Refusal{Code: core.NotFound}):
		return out, err
	}
	out.Source = core.SourceID(s.NewID())
	src, err := s.begin(ctx, sc, NewSource{FileName: path.Base(p), Format: formatOf(p), Bytes: f.size, SHA256: f.sum}, out.Source, out.URI)
	var bad *Invalid
	if errors.As(err, &bad) {
		return out, &hub.Error{Code: "source_invalid", Message: p + " is empty or has a name that no source can have"}
	}
	if err != nil {
		return out, err
	}
	src, err = s.Upload(ctx, sc, src.ID, Part{Whole: true}, f.section())
	if err != nil {
		return out, errors.Join(err, s.Sources.ArchiveSource(context.WithoutCancel(ctx), sc, out.Source))
	}
	if src.Status == core.SourceFailed {
		return out, &hub.Error{Code: src.Error, Message: p + ": " + src.Reason}
	}
	return out, nil
}

// Import reads an import. One that runs longer than any may has died.
func (i *Importer) Import(ctx context.Context, sc core.Scope, id core.ImportID) (core.DataImport, error) {
	im, err := i.Imports.Import(ctx, sc, id)
	if err == nil && im.Status == core.ImportRunning && i.Now()-im.CreatedAt > core.Micros((importTime+time.Minute).Microseconds()) {
		im.Status, im.Error, im.Reason = core.ImportFailed, "interrupted", "the import was cut off; import again"
	}
	return im, err
}
