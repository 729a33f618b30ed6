package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// static is a page that stays until it is left.
type static struct {
	place plain.Safe
	note  plain.Safe
	keys  []kit.Binding
	rows  func(width int) []kit.Line
	enter []kit.Effect // what R does; nil is nothing
	w, h  int
	at    kit.Scroll
}

// Benchmark is everything about one benchmark version.
func Benchmark(b api.BenchmarkRecord) (kit.Screen, []kit.Effect) {
	s := static{place: "Benchmarks  " + plain.Line(b.Slug+"@"+b.Version), rows: func(w int) []kit.Line { return benchmarkLines(b, w) }}
	if flow.Quotable(&b) {
		s.enter = kit.Do(kit.Go{To: route.Launch{Benchmark: b}})
		s.keys = []kit.Binding{{Keys: "R", Does: "run it"}}
		s.note = "Nothing is spent before you confirm a quote"
	} else {
		s.note = "Not runnable now"
	}
	return s, nil
}

func benchmarkLines(b api.BenchmarkRecord, w int) []kit.Line {
	out := []kit.Line{{Text: " " + plain.Line(show.Text(b.Name)), Role: kit.Strong}}
	if b.Name == nil {
		out[0].Text = " " + plain.Line(b.ID)
	}
	out = append(out, about(b.Description, w)...)
	out = append(out, kit.Line{})
	suggested := ""
	if b.SuggestedSampleCount != nil {
		suggested = show.Thousands(*b.SuggestedSampleCount) + " tasks"
	}
	why := ""
	if b.QuoteAvailability != nil {
		why = show.Text(b.QuoteAvailability.Message)
	}
	return append(out, show.Pairs(w,
		[2]string{"Tasks", show.Count(b.TaskCount)}, [2]string{"Sample", suggested}, [2]string{"Ready", show.Ready(b)}, [2]string{"", why},
		[2]string{"Metrics", strings.Join(b.Metrics, ", ")}, [2]string{"Needs", strings.Join(b.RequiredCapabilities, ", ")},
		[2]string{"Family", b.Family}, [2]string{"Category", show.Text(b.Category)}, [2]string{"Formats", strings.Join(b.OutputFormats, ", ")},
		[2]string{"Licence", show.Text(b.DataLicense)}, [2]string{"Code", show.Text(b.CodeLicense)}, [2]string{"Source", show.Text(b.SourceURL)},
		[2]string{"Revision", show.Text(b.SourceRevision)}, [2]string{"Sampling", show.Text(b.SamplingAlgorithm)},
		[2]string{"State", b.Status}, [2]string{"Runner", b.Runner}, [2]string{"Manifest", "sha256 " + b.ManifestSHA256}, [2]string{"Id", b.ID},
	)...)
}

func about(text *string, w int) (out []kit.Line) {
	if text == nil {
		return nil
	}
	for _, part := range kit.Wrap(plain.Block(*text), w-2) {
		out = append(out, kit.Line{Text: " " + part})
	}
	return out
}

// model is the page of one model, which it reads.
type model struct {
	static
	reader Reader
	id     string
}

// modelRead is what reading a model brought.
type modelRead struct {
	record api.ManagedRoute
	err    error
}

// Model is the exact route of one model, its prices and its reasoning.
func Model(r Reader, id string) (kit.Screen, []kit.Effect) {
	s := model{reader: r, id: id, static: static{
		place: "Models  " + plain.Line(id),
		rows:  func(int) []kit.Line { return []kit.Line{{Text: show.F(" Reading %s…", id)}} },
	}}
	return s, s.read(false)
}

func (s model) read(fresh bool) []kit.Effect {
	r, id := s.reader, s.id
	return kit.Do(kit.Load{Name: "model", Do: func(ctx context.Context) kit.Msg {
		m, err := r.Model(ctx, id, fresh)
		return modelRead{m, err}
	}})
}

// Update takes in what was read; the page stays until it is left.
func (s model) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case modelRead:
		s.note, s.rows = "", func(int) []kit.Line { return show.Problem(show.F(" %s could not be read.", s.id), m.err, true) }
		if m.err == nil {
			s.note, s.rows = "Published prices; a quote states those that hold", func(w int) []kit.Line { return modelLines(m.record, w) }
		}
		return s, nil
	case kit.Press:
		if m.Key == kit.Refresh {
			return s, s.read(true)
		}
	}
	var effects []kit.Effect
	s.static, effects = s.update(m)
	return s, effects
}

func modelLines(m api.ManagedRoute, w int) []kit.Line {
	out := []kit.Line{{Text: " " + plain.Line(m.DisplayName), Role: kit.Strong}}
	out = append(out, about(m.Description, w)...)
	kind := "real"
	if m.Simulated {
		kind = "simulated: a practice route, no real model"
	}
	rows := [][2]string{
		{"Route", m.ID}, {"Model", m.ModelID}, {"Provider", m.Provider}, {"Hosted by", show.Text(m.HostingProvider)}, {"Kind", kind},
		{"Prices", show.Rates(m.Pricing)}, {"Price table", m.PriceVersion}, {"Reasoning", show.Controls(m.Reasoning)},
	}
	if m.Reasoning != nil {
		rows = append(rows, [2]string{"", show.Text(m.Reasoning.Note)}, [2]string{"Default", show.Text(m.Reasoning.DefaultEffort)})
	}
	for _, k := range slices.Sorted(maps.Keys(m.Limits)) {
		if v, err := json.Marshal(m.Limits[k]); err == nil {
			rows = append(rows, [2]string{"Limit", strings.ReplaceAll(k, "_", " ") + " " + string(v)})
		}
	}
	rows = append(rows, [2]string{"Can", strings.Join(m.Capabilities, ", ")}, [2]string{"State", m.Status})
	return append(append(out, kit.Line{}), show.Pairs(w, rows...)...)
}

// Update scrolls; the page stays until Enter, Escape or Left.
func (s static) Update(m kit.Msg) (kit.Screen, []kit.Effect) { return s.update(m) }

func (s static) update(m kit.Msg) (static, []kit.Effect) {
	if r, ok := m.(kit.Resize); ok {
		s.w, s.h = r.W, r.H
		return s, nil
	}
	if listing.IsBack(m, false) || listing.IsEnter(m) {
		return s, kit.Do(kit.Back{})
	}
	if p, ok := m.(kit.Press); ok && p.Is('r') && s.enter != nil {
		return s, s.enter
	}
	s.at, _ = s.at.Update(m, len(s.rows(s.w)), s.h)
	return s, nil
}

// View draws the page.
func (s static) View(c kit.Canvas) {
	w, _ := c.Size()
	s.at.View(c, s.rows(w))
	c.Cursor(1, 0)
}

// Head names the keys of the page.
func (s static) Head() kit.Head {
	keys := append([]kit.Binding{}, s.keys...)
	return kit.Head{Place: s.place, Note: s.note, Keys: append(keys,
		kit.Binding{Keys: "↑↓ PgUp PgDn", Does: "scroll"}, kit.Binding{Keys: "Enter", Does: "back to the list"})}
}
