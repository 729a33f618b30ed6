package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/checkpoint"
	"github.com/evalrouter/evalrouter/langsmith/source"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/redact"
)

func (a *App) projects(ctx context.Context) error {
	c, _, err := a.source("")
	if err != nil {
		return err
	}
	list := []source.Project{}
	err = c.Projects(ctx, func(p source.Project) error {
		list = append(list, p)
		return nil
	})
	if err != nil {
		return err
	}
	return a.value(map[string]any{"data": list, "next_cursor": nil}, func(p *page) {
		for _, x := range list {
			p.line("%-36s  %s", x.ID, x.Name)
		}
		if len(list) == 0 {
			p.line("The key sees no project.")
			return
		}
		p.line("Next: evalrouter-langsmith sync --project ID --state FILE --watch")
	})
}

// standing is the document of status.
type standing struct {
	Identity       langsmith.Identity  `json:"identity"`
	API            string              `json:"langsmith_api"`
	Since          *time.Time          `json:"since"`
	Horizon        *time.Time          `json:"horizon"`
	LastPoll       *time.Time          `json:"last_poll"`
	ThrottledUntil *time.Time          `json:"throttled_until"`
	LastError      *string             `json:"last_error"`
	Accepted       int64               `json:"accepted"`
	Duplicates     int64               `json:"duplicates"`
	Rejected       int64               `json:"rejected"`
	Partial        int64               `json:"partial"`
	Remembered     int                 `json:"remembered"`
	Pending        []langsmith.Pending `json:"pending"`
	Dead           []langsmith.Dead    `json:"dead"`
}

// listed bounds the lists of status.
const listed = 100

func (a *App) status(context.Context) error {
	if a.opts.state == "" {
		return usage("status", "status needs --state")
	}
	s, err := checkpoint.Read(a.opts.state)
	if errors.Is(err, fs.ErrNotExist) {
		return &refusal{code: api.InvalidInput, message: "there is no state file of that name", next: []string{"evalrouter-langsmith sync --help"}}
	}
	if err != nil {
		return err
	}
	st := standing{
		Identity: s.Identity, API: s.API, Since: known(s.Since), Horizon: known(s.Horizon), LastPoll: known(s.Stats.LastPoll),
		ThrottledUntil: known(s.Stats.ThrottledUntil), Accepted: s.Stats.Accepted, Duplicates: s.Stats.Duplicates,
		Rejected: s.Stats.Rejected, Partial: s.Stats.Partial, Remembered: s.Delivered(),
		Pending: first(s.Pending, func(p langsmith.Pending) time.Time { return p.Start }),
		Dead:    first(s.Dead, func(d langsmith.Dead) time.Time { return d.Start }),
	}
	if s.Stats.LastError != "" {
		st.LastError = &s.Stats.LastError
	}
	return a.value(st, func(p *page) {
		p.line("Import       %s", name(s.Identity))
		p.line("Since        %s", orDash(st.Since))
		p.line("Last poll    %s  (LangSmith's clock, interface %s)", orDash(st.LastPoll), cmp.Or(s.API, "unknown"))
		p.line("Imported     %d traces; %d came twice, %d rejected, %d incomplete", st.Accepted, st.Duplicates, st.Rejected, st.Partial)
		if st.ThrottledUntil != nil {
			p.line("Waiting      until %s: %s", orDash(st.ThrottledUntil), s.Stats.LastError)
		}
		p.line("Pending      %d saved", len(s.Pending))
		for _, x := range st.Pending {
			p.line("  %s  started %s  %s", x.ID, x.Start.Format(time.RFC3339), x.Status)
		}
		p.line("Given up     %d", len(s.Dead))
		for _, x := range st.Dead {
			p.line("  %s  started %s  %s", x.ID, x.Start.Format(time.RFC3339), x.Reason)
		}
	})
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orDash(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}

// first is the oldest entries of a map.
func first[T any](m map[string]T, start func(T) time.Time) []T {
	ids := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(start(m[a]).Compare(start(m[b])), cmp.Compare(a, b))
	})
	out := []T{}
	for _, id := range ids[:min(len(ids), listed)] {
		out = append(out, m[id])
	}
	return out
}

// finding is one line of doctor.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Says  string `json:"says"`
}

// doctor tries what sync needs of LangSmith. Nothing is sent to EvalRouter.
func (a *App) doctor(ctx context.Context) error {
	if a.opts.project == "" {
		return usage("doctor", "doctor needs --project")
	}
	c, key, err := a.source(a.opts.project)
	if err != nil {
		return err
	}
	var all []finding
	add := func(check string, err error, format string, args ...any) bool {
		f := finding{check, err == nil, fmt.Sprintf(format, args...)}
		if err != nil {
			f.Says = err.Error()
		}
		all = append(all, f)
		return err == nil
	}
	add("endpoint", nil, "%s, %d characters of key", c.Origin(), len(key))
	if err = c.Probe(ctx); add("key and project", err, "accepted") {
		add("version", nil, "%s of the query interface", c.API())
		var skewed error
		if c.Skew().Abs() > maxSkew {
			skewed = fmt.Errorf("differs from LangSmith's by %s; set this machine's clock", c.Skew().Abs().Round(time.Second))
		}
		add("clock", skewed, "%s behind LangSmith's", c.Skew().Round(time.Second))
		var sample langsmith.Sample
		s := langsmith.New(langsmith.Config{Redact: redact.Config{}, Chance: a.Chance}, langsmith.NewState(), c, nil, nil, clock{a})
		sample, err = s.Try(ctx)
		switch {
		case err == nil && !sample.Found:
			add("one trace", nil, "no run has ended in the last 72 hours")
		default:
			add("one trace", err, "%d spans, %d bytes after redaction (%d fields, %d values, %d cuts) %v", sample.Spans, sample.Bytes, sample.Fields, sample.Values, sample.Truncated, sample.Reasons)
		}
	}
	_, destErr := a.destination(key)
	add("trace connection", destErr, "configured; not asked")
	bad := slices.ContainsFunc(all, func(f finding) bool { return !f.OK })
	printed := a.value(map[string]any{"ok": !bad, "checks": all}, func(p *page) {
		for _, f := range all {
			p.line("%-4s  %-16s  %s", map[bool]string{true: "ok", false: "FAIL"}[f.OK], f.Check, f.Says)
		}
	})
	if printed == nil && bad {
		return &ended{exitFailed}
	}
	return printed
}
