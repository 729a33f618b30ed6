package datasets

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// worded makes what is wrong with a field an answer.
func worded(err error) error {
	var f *datasets.Field
	if !errors.As(err, &f) {
		return err
	}
	return httpapi.RefuseFields(core.InvalidRequest, f.Message, []api.FieldError{{Path: f.Path, Code: "invalid_value"}})
}

func settings(description *string, p *api.NewReviewPolicy) datasets.Settings {
	out := datasets.Settings{Description: description}
	if p != nil {
		out.Reviewers, out.AllowSelf = p.ReviewersRequired, p.AllowSelf
	}
	return out
}

type createInput struct {
	httpapi.With[api.NewDataset]
}

func (h *Handlers) create(_ *httpapi.Server, ctx context.Context, in *createInput) (*httpapi.Answer[api.DatasetRecord], error) {
	n := in.Value()
	return answered(h.Service.Create(ctx, httpapi.ScopeOf(ctx), n.Name, settings(n.Description, n.ReviewPolicy)))
}

func answered(d core.Dataset, err error) (*httpapi.Answer[api.DatasetRecord], error) {
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(record(d)), nil
}

type idInput struct {
	ID string `path:"id"`
}

type updateInput struct {
	ID string `path:"id"`
	httpapi.With[api.UpdateDataset]
}

func (h *Handlers) update(_ *httpapi.Server, ctx context.Context, in *updateInput) (*httpapi.Answer[api.DatasetRecord], error) {
	n := in.Value()
	return answered(h.Service.Update(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), settings(n.Description, n.ReviewPolicy)))
}

func (h *Handlers) get(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.DatasetRecord], error) {
	return answered(h.Service.Dataset(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID)))
}

func (h *Handlers) archive(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.DatasetRecord], error) {
	if err := h.Service.Archive(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID)); err != nil {
		return nil, err
	}
	return h.get(nil, ctx, in)
}

type listInput struct {
	httpapi.Paging
}

func (h *Handlers) list(_ *httpapi.Server, ctx context.Context, in *listInput) (*httpapi.Answer[api.Page[api.DatasetRecord]], error) {
	after, err := in.Place("datasets")
	if err != nil {
		return nil, err
	}
	rows, err := h.Service.Datasets(ctx, httpapi.ScopeOf(ctx), after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("datasets", in.Paging, rows, func(d core.Dataset) core.Place { return core.Place{At: d.CreatedAt, ID: string(d.ID)} }, record), nil
}

func record(d core.Dataset) api.DatasetRecord {
	out := api.DatasetRecord{
		ID: string(d.ID), Name: d.Name, Description: d.Description, ReviewPolicy: api.ReviewPolicy{ReviewersRequired: d.Reviewers, AllowSelf: d.AllowSelf},
		ItemCount: d.Items, ReviewedCount: d.Reviewed, CreatedAt: httpapi.TimeOf(d.CreatedAt), ArchivedAt: httpapi.MaybeTime(d.ArchivedAt),
	}
	if d.Latest > 0 {
		out.LatestVersion = &d.Latest
	}
	return out
}

// tracesRead is needed where an item is made of a trace: its content comes along.
const tracesRead = "traces:read"

type addInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewDatasetItems]
}

func (h *Handlers) add(_ *httpapi.Server, ctx context.Context, in *addInput) (*httpapi.Answer[api.Page[api.DatasetItem]], error) {
	var drafts []datasets.Draft
	for _, n := range in.Value().Items {
		d := datasets.Draft{ItemContent: core.ItemContent{Input: n.Input, Expected: n.Expected, Metadata: n.Metadata}}
		if n.Source != nil {
			if err := httpapi.Require(ctx, tracesRead); err != nil {
				return nil, err
			}
			d.Trace, d.Span, d.FromOutput = core.TraceID(n.Source.TraceID), n.Source.SpanID, n.Source.ExpectedFromOutput
		}
		drafts = append(drafts, d)
	}
	sc := httpapi.ScopeOf(ctx)
	ids, err := h.Service.AddDrafts(ctx, sc, core.DatasetID(in.ID), drafts)
	if err != nil {
		return nil, worded(err)
	}
	out := api.Page[api.DatasetItem]{Data: []api.DatasetItem{}}
	for _, id := range ids {
		x, err := h.Service.Items.Item(ctx, sc, core.DatasetID(in.ID), id)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, itemRecord(x))
	}
	return httpapi.Reply(out), nil
}

type itemsInput struct {
	ID     string `path:"id"`
	Review string `query:"review" enum:"pending,approved,rejected"`
	httpapi.Paging
}

func (h *Handlers) items(_ *httpapi.Server, ctx context.Context, in *itemsInput) (*httpapi.Answer[api.Page[api.DatasetItem]], error) {
	after, err := in.Place("dataset-items")
	if err != nil {
		return nil, err
	}
	rows, err := h.Service.Items.Items(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), in.Review, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("dataset-items", in.Paging, rows, func(x core.DatasetItem) core.Place { return core.Place{At: x.CreatedAt, ID: string(x.ID)} }, itemRecord), nil
}

type itemInput struct {
	ID   string `path:"id"`
	Item string `path:"item_id"`
}

func (h *Handlers) item(_ *httpapi.Server, ctx context.Context, in *itemInput) (*httpapi.Answer[api.DatasetItem], error) {
	x, err := h.Service.Items.Item(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), core.ItemID(in.Item))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(itemRecord(x)), nil
}

type editInput struct {
	ID   string `path:"id"`
	Item string `path:"item_id"`
	httpapi.With[api.UpdateDatasetItem]
}

func (h *Handlers) edit(_ *httpapi.Server, ctx context.Context, in *editInput) (*httpapi.Answer[api.DatasetItem], error) {
	n := in.Value()
	x, err := h.Service.Rewrite(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), core.ItemID(in.Item), core.ItemContent{Input: n.Input, Expected: n.Expected, Metadata: n.Metadata})
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(itemRecord(x)), nil
}

func (h *Handlers) withdraw(_ *httpapi.Server, ctx context.Context, in *itemInput) (*httpapi.Answer[api.OKResponse], error) {
	if err := h.Service.Items.Withdraw(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), core.ItemID(in.Item)); err != nil {
		return nil, err
	}
	return httpapi.Reply(api.OKResponse{OK: true}), nil
}

type reviewInput struct {
	ID   string `path:"id"`
	Item string `path:"item_id"`
	httpapi.With[api.NewItemReview]
}

func (h *Handlers) review(_ *httpapi.Server, ctx context.Context, in *reviewInput) (*httpapi.Answer[api.DatasetItem], error) {
	n := in.Value()
	if n.Decision != api.ReviewApproved && n.Decision != api.ReviewRejected || len(n.Note) > 2_000 {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "a decision is approved or rejected, and a note has at most 2,000 characters; nothing was recorded", []api.FieldError{{Path: "decision", Code: "invalid_value"}})
	}
	v := core.Verdict{Item: core.ItemID(in.Item), Digest: n.Digest, Approved: n.Decision == api.ReviewApproved, Note: n.Note}
	if err := h.Service.Items.Review(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), v); err != nil {
		return nil, err
	}
	return h.item(nil, ctx, &itemInput{in.ID, in.Item})
}

func itemRecord(x core.DatasetItem) api.DatasetItem {
	out := api.DatasetItem{
		ID: string(x.ID), Input: x.Input, Expected: orNull(x.Expected), Metadata: orNull(x.Metadata), Review: x.Review, ReviewedBy: append([]string{}, x.ReviewedBy...), Note: x.Note,
		Revision: x.Revision, Digest: x.Digest, Author: x.Author, CreatedAt: httpapi.TimeOf(x.CreatedAt), ChangedAt: httpapi.TimeOf(x.ChangedAt),
	}
	if s := x.Source; s != nil {
		out.Source = &api.ItemSource{TraceID: string(s.TraceID), SourceTraceID: s.SourceTraceID, TraceRevision: s.TraceRevision, SpanID: s.SpanID}
	}
	return out
}

func orNull(b json.RawMessage) json.RawMessage {
	if b == nil {
		return json.RawMessage("null")
	}
	return b
}

type promoteInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewPromotion]
}

// promote makes an item of the step where a finding was seen last.
func (h *Handlers) promote(_ *httpapi.Server, ctx context.Context, in *promoteInput) (*httpapi.Answer[api.DatasetItem], error) {
	if err := httpapi.Require(ctx, tracesRead); err != nil {
		return nil, err
	}
	sc, n := httpapi.ScopeOf(ctx), in.Value()
	f, err := h.Findings.Finding(ctx, sc, core.FindingID(in.ID))
	if err != nil {
		return nil, err
	}
	origin, err := json.Marshal(map[string]string{"finding_id": string(f.ID), "finding": f.Title})
	if err != nil {
		return nil, err
	}
	d := datasets.Draft{ItemContent: core.ItemContent{Expected: n.Expected, Metadata: origin}, Trace: f.Trace, Span: f.Span}
	if n.WholeRun {
		d.Span = ""
	}
	ids, err := h.Service.AddDrafts(ctx, sc, core.DatasetID(n.DatasetID), []datasets.Draft{d})
	if err != nil {
		return nil, worded(err)
	}
	return h.item(nil, ctx, &itemInput{n.DatasetID, string(ids[0])})
}
