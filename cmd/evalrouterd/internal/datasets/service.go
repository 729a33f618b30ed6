package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Sets keeps datasets.
type Sets interface {
	Add(context.Context, core.Dataset) error
	Dataset(context.Context, core.Scope, core.DatasetID) (core.Dataset, error)
	Datasets(ctx context.Context, sc core.Scope, after *core.Place, limit int) ([]core.Dataset, error)
	Change(ctx context.Context, sc core.Scope, id core.DatasetID, change func(*core.Dataset) error) error
	Archive(context.Context, core.Scope, core.DatasetID) error
}

// Items keeps items and what was said of them.
type Items interface {
	AddItems(context.Context, core.Scope, core.DatasetID, []core.NewItem) error
	Item(context.Context, core.Scope, core.DatasetID, core.ItemID) (core.DatasetItem, error)
	Items(ctx context.Context, sc core.Scope, d core.DatasetID, review string, after *core.Place, limit int) ([]core.DatasetItem, error)
	Edit(ctx context.Context, sc core.Scope, d core.DatasetID, id core.ItemID, digest string, c core.ItemContent) error
	Withdraw(context.Context, core.Scope, core.DatasetID, core.ItemID) error
	Review(context.Context, core.Scope, core.DatasetID, core.Verdict) error
}

// Versions keeps what was sealed.
type Versions interface {
	Seal(ctx context.Context, sc core.Scope, id core.DatasetID, note string) (core.DatasetVersion, error)
	Version(ctx context.Context, sc core.Scope, id core.DatasetID, version int) (core.DatasetVersion, error)
	Versions(ctx context.Context, sc core.Scope, id core.DatasetID, below, limit int) ([]core.DatasetVersion, error)
	Retract(ctx context.Context, sc core.Scope, id core.DatasetID, version int, reason string) error
	Sealed(context.Context, core.DatasetVersion) iter.Seq2[core.SealedItem, error]
	Difference(ctx context.Context, sc core.Scope, id core.DatasetID, a, b int) (added, changed, removed []core.ItemID, err error)
}

// Traces reads one step of a trace; "" is its root.
type Traces interface {
	Step(ctx context.Context, sc core.Scope, id core.TraceID, span string) (core.Trace, core.Span, error)
}

// Service makes datasets.
type Service struct {
	Sets
	Items    Items
	Versions Versions
	Traces   Traces
	NewID    func() string
	// NewItemID gives time-ordered ids.
	NewItemID func() string
}

// maxContent bounds one input, expected answer or metadata.
const maxContent = 256 << 10

var nameShape = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Field is an error of one field of a request.
type Field struct{ Path, Message string }

// Error is the sentence.
func (f *Field) Error() string { return f.Message }

// Settings is what a caller says of a dataset; nil is the usual, or what it
// was.
type Settings struct {
	Description *string
	Reviewers   *int
	AllowSelf   *bool
}

func (in Settings) apply(d *core.Dataset) error {
	if in.Description != nil {
		if utf8.RuneCountInString(*in.Description) > 2_000 {
			return &Field{"description", "a description has at most 2,000 characters; nothing was changed"}
		}
		d.Description = *in.Description
	}
	if in.Reviewers != nil {
		if *in.Reviewers < 1 || *in.Reviewers > core.MaxReviewers {
			return &Field{"review_policy.reviewers_required", "1 to 3 reviewers can be required; nothing was changed"}
		}
		d.Reviewers = *in.Reviewers
	}
	if in.AllowSelf != nil {
		d.AllowSelf = *in.AllowSelf
	}
	return nil
}

// Create makes an empty dataset.
func (s *Service) Create(ctx context.Context, sc core.Scope, name string, in Settings) (core.Dataset, error) {
	if !nameShape.MatchString(name) {
		return core.Dataset{}, &Field{"name", "a name has 1 to 63 lower-case letters, digits and hyphens; nothing was made"}
	}
	d := core.Dataset{ID: core.DatasetID(s.NewID()), Workspace: sc.Workspace, Name: name, Reviewers: 1, Actor: sc.Actor}
	if err := in.apply(&d); err != nil {
		return d, err
	}
	if err := s.Add(ctx, d); err != nil {
		return d, err
	}
	return s.Dataset(ctx, sc, d.ID)
}

// Update changes what is set.
func (s *Service) Update(ctx context.Context, sc core.Scope, id core.DatasetID, in Settings) (core.Dataset, error) {
	if err := s.Change(ctx, sc, id, in.apply); err != nil {
		return core.Dataset{}, err
	}
	return s.Dataset(ctx, sc, id)
}

// Draft is an item as a caller gives it. With a trace, the input is that of the
// step where none is given, and so is the expected answer where FromOutput asks
// for it.
type Draft struct {
	core.ItemContent
	Trace      core.TraceID
	Span       string
	FromOutput bool
}

// AddDrafts adds items, all or none. What they take from traces is copied.
func (s *Service) AddDrafts(ctx context.Context, sc core.Scope, id core.DatasetID, drafts []Draft) ([]core.ItemID, error) {
	if len(drafts) == 0 || len(drafts) > core.MaxItemsAtOnce {
		return nil, &Field{"items", fmt.Sprintf("1 to %d items are added at once; nothing was added", core.MaxItemsAtOnce)}
	}
	items, ids := make([]core.NewItem, len(drafts)), make([]core.ItemID, len(drafts))
	for i, d := range drafts {
		x, err := s.item(ctx, sc, d, fmt.Sprintf("items[%d]", i))
		if err != nil {
			return nil, err
		}
		items[i], ids[i] = x, x.ID
	}
	return ids, s.Items.AddItems(ctx, sc, id, items)
}

func (s *Service) item(ctx context.Context, sc core.Scope, d Draft, at string) (core.NewItem, error) {
	x := core.NewItem{ID: core.ItemID(s.NewItemID())}
	if d.Trace != "" {
		t, step, err := s.Traces.Step(ctx, sc, d.Trace, d.Span)
		if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			return x, &Field{at + ".source", err.Error() + "; nothing was added"}
		}
		if err != nil {
			return x, err
		}
		x.Source = &core.ItemSource{TraceID: t.ID, SourceTraceID: t.SourceID, TraceRevision: t.Revision, SpanID: step.ID}
		if d.Input == nil {
			d.Input = step.Input
		}
		if d.Expected == nil && d.FromOutput {
			d.Expected = step.Output
		}
		if d.Input == nil || d.FromOutput && d.Expected == nil {
			return x, &Field{at + ".source", "that step of the trace has no such content, or it was not kept; nothing was added"}
		}
	}
	c, err := check(d.ItemContent, at)
	x.ItemContent, x.Digest = c, ItemDigest(c)
	return x, err
}

// check makes content canonical.
func check(c core.ItemContent, at string) (core.ItemContent, error) {
	for _, part := range []struct {
		name string
		to   *json.RawMessage
	}{{"input", &c.Input}, {"expected", &c.Expected}, {"metadata", &c.Metadata}} {
		if len(*part.to) == 0 || string(*part.to) == "null" {
			*part.to = nil
			continue
		}
		if len(*part.to) > maxContent {
			return c, &Field{strings.TrimPrefix(at+"."+part.name, "."), "an input, expected answer or metadata has at most 256 KiB; nothing was changed"}
		}
		out, err := Canonical(*part.to)
		if err != nil {
			return c, &Field{strings.TrimPrefix(at+"."+part.name, "."), "this is no JSON; nothing was changed"}
		}
		*part.to = out
	}
	if c.Input == nil {
		return c, &Field{strings.TrimPrefix(at+".input", "."), "an item has an input; nothing was changed"}
	}
	return c, nil
}

// Rewrite gives an item other content; nil is what it was.
func (s *Service) Rewrite(ctx context.Context, sc core.Scope, d core.DatasetID, id core.ItemID, c core.ItemContent) (core.DatasetItem, error) {
	x, err := s.Items.Item(ctx, sc, d, id)
	if err != nil {
		return x, err
	}
	for _, part := range []struct{ to, was *json.RawMessage }{{&c.Input, &x.Input}, {&c.Expected, &x.Expected}, {&c.Metadata, &x.Metadata}} {
		if *part.to == nil {
			*part.to = *part.was
		}
	}
	if c, err = check(c, ""); err != nil {
		return x, err
	}
	if err := s.Items.Edit(ctx, sc, d, id, ItemDigest(c), c); err != nil {
		return x, err
	}
	return s.Items.Item(ctx, sc, d, id)
}
