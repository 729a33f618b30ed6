package traces

import (
	"context"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/lib/api"
)

// worded makes what is wrong with a field an answer.
func worded(err error) error {
	var f *traces.Field
	if !errors.As(err, &f) {
		return err
	}
	return httpapi.RefuseFields(core.InvalidRequest, f.Message, []api.FieldError{{Path: f.Path, Code: "invalid_value"}})
}

func settings(name *string, c *api.NewTraceCapture, days *int) traces.Settings {
	out := traces.Settings{Name: name, Days: days}
	if c != nil {
		out.Inputs, out.Outputs, out.MaxValue, out.Fields = c.Inputs, c.Outputs, c.MaxValueBytes, c.RedactFields
	}
	return out
}

func asker(ctx context.Context) traces.Asker {
	return traces.Asker{Scope: httpapi.ScopeOf(ctx), User: httpapi.CallerOf(ctx).Person(), Address: httpapi.AddressOf(ctx)}
}

type newConnectionInput struct {
	httpapi.With[api.NewTraceConnection]
}

func (h *Handlers) createConnection(_ *httpapi.Server, ctx context.Context, in *newConnectionInput) (*httpapi.Answer[api.TraceConnectionCreated], error) {
	n := in.Value()
	c, secret, err := h.Service.Create(ctx, asker(ctx), n.Kind, settings(&n.Name, n.Capture, n.RetentionDays))
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(api.TraceConnectionCreated{TraceConnection: connectionRecord(c), Secret: secret}), nil
}

type connectionInput struct {
	ID string `path:"id"`
}

type changeConnectionInput struct {
	ID string `path:"id"`
	httpapi.With[api.UpdateTraceConnection]
}

func (h *Handlers) updateConnection(_ *httpapi.Server, ctx context.Context, in *changeConnectionInput) (*httpapi.Answer[api.TraceConnection], error) {
	n := in.Value()
	c, err := h.Service.Update(ctx, httpapi.ScopeOf(ctx), core.TraceConnectionID(in.ID), settings(n.Name, n.Capture, n.RetentionDays))
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(connectionRecord(c)), nil
}

func (h *Handlers) getConnection(_ *httpapi.Server, ctx context.Context, in *connectionInput) (*httpapi.Answer[api.TraceConnection], error) {
	c, err := h.Service.Connection(ctx, httpapi.ScopeOf(ctx), core.TraceConnectionID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(connectionRecord(c)), nil
}

func (h *Handlers) disableConnection(_ *httpapi.Server, ctx context.Context, in *connectionInput) (*httpapi.Answer[api.OKResponse], error) {
	if err := h.Service.Disable(ctx, asker(ctx), core.TraceConnectionID(in.ID)); err != nil {
		return nil, err
	}
	return httpapi.Reply(api.OKResponse{OK: true}), nil
}

func (h *Handlers) rotate(_ *httpapi.Server, ctx context.Context, in *connectionInput) (*httpapi.Answer[api.TraceConnectionCreated], error) {
	c, secret, err := h.Service.Rotate(ctx, asker(ctx), core.TraceConnectionID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(api.TraceConnectionCreated{TraceConnection: connectionRecord(c), Secret: secret}), nil
}

type connectionsInput struct {
	httpapi.Paging
}

func (h *Handlers) listConnections(_ *httpapi.Server, ctx context.Context, in *connectionsInput) (*httpapi.Answer[api.Page[api.TraceConnection]], error) {
	after, err := in.Place("trace-connections")
	if err != nil {
		return nil, err
	}
	rows, err := h.Service.Connections.Connections(ctx, httpapi.ScopeOf(ctx), after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("trace-connections", in.Paging, rows, func(c core.TraceConnection) core.Place { return core.Place{At: c.CreatedAt, ID: string(c.ID)} }, connectionRecord), nil
}

func connectionRecord(c core.TraceConnection) api.TraceConnection {
	out := api.TraceConnection{
		ID: string(c.ID), Name: c.Name, Kind: c.Kind, Status: api.TraceConnectionActive, RetentionDays: c.Days,
		Capture:        api.TraceCapture{Inputs: c.Capture.Inputs, Outputs: c.Capture.Outputs, MaxValueBytes: c.Capture.MaxValue, RedactFields: append([]string{}, c.Capture.Fields...)},
		IngestKey:      api.IngestKeyView{ID: c.KeyID, Prefix: c.KeyPrefix, CreatedAt: httpapi.TimeOf(c.KeyAt)},
		LastReceivedAt: httpapi.MaybeTime(c.LastReceivedAt), TraceCount: c.Traces, CreatedAt: httpapi.TimeOf(c.CreatedAt), DisabledAt: httpapi.MaybeTime(c.DisabledAt),
	}
	if c.DisabledAt != 0 {
		out.Status = api.TraceConnectionDisabled
	}
	return out
}
