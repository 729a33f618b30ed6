package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// runs reads runs through whatever client is current, so that a watch survives
// a service that came back elsewhere.
type runs struct{ s *Source }

var (
	_ flow.RunReader   = runs{}
	_ flow.EventReader = runs{}
)

// Get is one run as it stands.
func (r runs) Get(ctx context.Context, id string) (api.RunRecord, error) { return r.s.Run(ctx, id) }

// Events is one piece of a run's log.
func (r runs) Events(ctx context.Context, id string, in evalrouter.EventQuery) (api.EventPage, error) {
	return call(ctx, r.s, func(c *evalrouter.Client) (api.EventPage, error) { return c.Runs.Events(ctx, id, in) })
}

// Watch follows a run to its end.
func (s *Source) Watch(ctx context.Context, id string, seen func(flow.Update)) (api.RunRecord, error) {
	w := &flow.Watcher{Runs: runs{s}, Ends: flow.Ends(runs{s}, s.Sleep), Disconnect: flow.DefaultDisconnect, Seen: seen, Now: s.Now, Sleep: s.Sleep, Chance: s.Chance}
	if s.Local {
		w.Stays = "the run is kept: it goes on while the local service runs, and with its next start otherwise"
	}
	return w.Watch(ctx, id)
}

// Log gives the last few events of a run and then every later one, to its end.
func (s *Source) Log(ctx context.Context, id string, last int, seen func(api.RunEvent)) error {
	page, err := runs{s}.Events(ctx, id, evalrouter.EventQuery{Tail: true, Limit: last})
	if err != nil {
		return err
	}
	after := int64(0)
	for _, e := range page.Data {
		seen(e)
		after = e.Sequence
	}
	if page.Terminal && !page.HasMore {
		return nil
	}
	t := &flow.Tail{Runs: runs{s}, Disconnect: flow.DefaultDisconnect, Now: s.Now, Sleep: s.Sleep, Chance: s.Chance}
	_, err = t.Follow(ctx, id, evalrouter.EventQuery{After: after}, func(e api.RunEvent) error { seen(e); return nil })
	return err
}

// Save writes a finished run's report into a folder and gives the path. A file
// that is there already stays as it is.
func (s *Source) Save(ctx context.Context, id, format string) (string, error) {
	dir, err := s.SaveDir()
	if err != nil {
		return "", fmt.Errorf("find the folder to save in: %w", err)
	}
	path := filepath.Join(dir, "evalrouter-"+id[:min(8, len(id))]+"."+format)
	_, err = call(ctx, s, func(c *evalrouter.Client) (evalrouter.ExportInfo, error) {
		return c.Runs.ExportFile(ctx, id, evalrouter.ExportQuery{Format: format}, path, false)
	})
	return path, err
}

// errFound ends an export that has given what was looked for.
var errFound = errors.New("found")

// Sample is one task of a finished run with its answer. The export is read as
// a stream and left at the task, so that no run is held in memory.
func (s *Source) Sample(ctx context.Context, id, task string) (api.ExportSample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	type answer struct {
		sample api.ExportSample
		err    error
	}
	found := make(chan answer, 1)
	go func() {
		sample, err := find(r, task)
		r.CloseWithError(errFound) // the rest of the export is not wanted
		found <- answer{sample, err}
	}()
	_, err := call(ctx, s, func(c *evalrouter.Client) (evalrouter.ExportInfo, error) {
		return c.Runs.Export(ctx, id, evalrouter.ExportQuery{Format: evalrouter.FormatJSON}, w)
	})
	w.CloseWithError(io.ErrUnexpectedEOF)
	got := <-found
	if got.err == nil {
		return got.sample, nil
	}
	if err != nil && !errors.Is(err, errFound) {
		return api.ExportSample{}, err
	}
	return api.ExportSample{}, got.err
}

// find reads an export up to the sample of a task.
func find(r io.Reader, task string) (none api.ExportSample, err error) {
	dec := json.NewDecoder(r)
	if _, err := dec.Token(); err != nil {
		return none, fmt.Errorf("read the export: %w", err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return none, fmt.Errorf("read the export: %w", err)
		}
		if name != "samples" {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return none, fmt.Errorf("read the export: %w", err)
			}
			continue
		}
		if _, err := dec.Token(); err != nil {
			return none, fmt.Errorf("read the export: %w", err)
		}
		for dec.More() {
			var s api.ExportSample
			if err := dec.Decode(&s); err != nil {
				return none, fmt.Errorf("read the export: %w", err)
			}
			if s.TaskID == task {
				return s, nil
			}
		}
		break
	}
	return none, &flow.Error{Code: api.NotFound, Message: "the export holds no such task"}
}
