// Package results is the pages of what a finished run found: its score, its
// tasks, and one task with its answer.
package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// What can be chosen on the result's page.
const (
	viewTasks  = "View tasks"
	saveReport = "Save report"
	openReport = "Open report in browser"
	resume     = "Resume"
)

// Reader reads results and saves them.
type Reader interface {
	Run(ctx context.Context, id string) (api.RunRecord, error)
	Result(ctx context.Context, id string) (api.ResultRecord, error)
	Tasks(ctx context.Context, id, cursor string) (api.Page[api.TaskRecord], error)
	Sample(ctx context.Context, id, task string) (api.ExportSample, error)
	Save(ctx context.Context, id, format string) (string, error)
}

type (
	read struct {
		result api.ResultRecord
		run    api.RunRecord
		err    error
	}
	saved struct {
		paths []string
		err   error
	}
)

type result struct {
	reader  Reader
	id      string
	got     *read
	paths   []string
	saving  bool
	actions kit.Actions
	scroll  kit.Scroll
	note    plain.Safe
	w, h    int
}

// Result is what one run found.
func Result(r Reader, id string) (kit.Screen, []kit.Effect) {
	s := result{reader: r, id: id}
	return s, s.read()
}

func (s result) read() []kit.Effect {
	r, id := s.reader, s.id
	return kit.Do(kit.Load{Name: "result", Do: func(ctx context.Context) kit.Msg {
		res, err := r.Result(ctx, id)
		if err != nil {
			return read{err: err}
		}
		run, err := r.Run(ctx, id)
		return read{res, run, err}
	}})
}

// Update scrolls, and carries out what was chosen.
func (s result) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case read:
		s.got = &m
		return s.offered(), nil
	case saved:
		return s.kept(m)
	case kit.Resize:
		s.w, s.h = m.W, m.H
		return s, nil
	case kit.Browsed:
		s.note = "Opened in the browser"
		if m.Why != "" {
			s.note = show.F("Not opened (%s): %s", m.Why, m.URL)
		}
		return s, nil
	}
	return s.input(m)
}

func (s result) kept(m saved) (kit.Screen, []kit.Effect) {
	s.saving = false
	var effects []kit.Effect
	for _, p := range m.paths {
		if !slices.Contains(s.paths, p) {
			s.paths = append(slices.Clone(s.paths), p)
		}
		effects = append(effects, kit.Saved{Path: p})
	}
	s.note = "Saved; the paths stand on this page"
	switch {
	case m.err != nil && len(m.paths) > 0:
		s.note = show.F("Saved in part. Not saved as %s", m.err)
	case m.err != nil:
		s.note = show.F("Not saved as %s", m.err)
	}
	s.scroll = kit.Scroll{}
	return s, effects
}

func (s result) offered() result {
	if s.got.err != nil {
		s.actions = s.actions.With()
		return s
	}
	items := []kit.Action{{Label: viewTasks, Key: 's'}, {Label: saveReport, Key: 'w'}}
	if s.got.run.Resume.Status == "available" {
		items = append(items, kit.Action{Label: resume, Key: 'r'})
	}
	if s.got.run.Links.Report != nil {
		items = append(items, kit.Action{Label: openReport, Key: 'b'})
	}
	s.actions = s.actions.With(items...)
	return s
}

func (s result) input(m kit.Msg) (kit.Screen, []kit.Effect) {
	if p, ok := m.(kit.Press); ok {
		s.note = ""
		if p.Key == kit.Refresh {
			return s, s.read()
		}
	}
	if listing.IsBack(m, false) {
		return s, kit.Do(kit.Back{})
	}
	actions, chosen := s.actions.Update(m, s.h-1)
	s.actions = actions
	switch chosen {
	case viewTasks:
		return s, kit.Do(kit.Go{To: route.Samples{Run: s.id}})
	case resume:
		return s, kit.Do(kit.Go{To: route.Continue{Run: s.got.run}})
	case openReport:
		return s, kit.Do(kit.Browse{URL: *s.got.run.Links.Report})
	case saveReport:
		if s.saving {
			return s, nil
		}
		s.saving, s.note = true, "Saving…"
		return s, s.save()
	}
	if s.got != nil {
		s.scroll, _ = s.scroll.Update(m, len(s.lines(s.w)), s.h-2)
	}
	return s, nil
}

func (s result) save() []kit.Effect {
	r, id := s.reader, s.id
	return kit.Do(kit.Load{Name: "save", Do: func(ctx context.Context) kit.Msg {
		var out saved
		for _, format := range []string{"json", "html"} {
			path, err := r.Save(ctx, id, format)
			if err != nil {
				out.err = errors.Join(out.err, fmt.Errorf("%s: %s", format, show.Reason(err)))
				continue
			}
			out.paths = append(out.paths, path)
		}
		return out
	}})
}

// View draws the result and the actions.
func (s result) View(c kit.Canvas) {
	w, h := c.Size()
	switch {
	case s.got == nil:
		c.Text(1, 0, kit.Plain, show.F("Reading the result of run %s…", show.Short(s.id)))
		c.Cursor(1, 0)
	case s.got.err != nil:
		s.scroll.View(c, show.Problem(" The result could not be read.", s.got.err, true))
		c.Cursor(1, 0)
	default:
		s.scroll.View(c.Sub(0, 0, w, h-2), s.lines(w))
		s.actions.View(c, h-1)
	}
}

// Head names the keys of the page.
func (s result) Head() kit.Head {
	h := kit.Head{Place: show.F("Results  %s", show.Short(s.id)), Note: s.note, Keys: []kit.Binding{
		{Keys: "Enter", Does: "choose"}, {Keys: "Tab", Does: "next action"}, {Keys: "S", Does: "tasks"}, {Keys: "W", Does: "save as JSON and HTML"},
		{Keys: "↑↓ PgUp PgDn", Does: "scroll"},
	}}
	if h.Note == "" {
		h.Note = "Stays here until you choose"
	}
	if s.got != nil && s.got.err == nil && s.got.run.Resume.Status == "available" {
		h.Keys = append(h.Keys, kit.Binding{Keys: "R", Does: "resume"})
	}
	return h
}

func because(s api.ResultSummary) string {
	if s.TerminalReason == nil || *s.TerminalReason == "completed" {
		return ""
	}
	return ": " + strings.ReplaceAll(*s.TerminalReason, "_", " ")
}
