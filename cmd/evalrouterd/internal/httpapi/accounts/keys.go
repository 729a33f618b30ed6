package accounts

import (
	"context"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func maker(ctx context.Context) identity.KeyMaker {
	c := httpapi.CallerOf(ctx)
	return identity.KeyMaker{Workspace: c.Workspace, Actor: c.Actor, User: c.Person(), Scopes: c.Scopes, Address: httpapi.AddressOf(ctx)}
}

func (h *Handlers) listKeys(_ *httpapi.Server, ctx context.Context, in *pageInput) (*httpapi.Answer[api.Page[api.APIKeyRecord]], error) {
	after, err := in.Place("api-keys")
	if err != nil {
		return nil, err
	}
	keys, err := h.Access.Keys(ctx, httpapi.CallerOf(ctx).Workspace, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	spent := map[string]usd.Micro{}
	for _, k := range keys {
		if _, known := spent[k.Lineage]; known {
			continue
		}
		if spent[k.Lineage], err = h.Access.Spent(ctx, k.Lineage); err != nil {
			return nil, err
		}
	}
	return httpapi.PageOf("api-keys", in.Paging, keys, func(k core.APIKey) core.Place { return core.Place{At: k.CreatedAt, ID: k.ID} },
		func(k core.APIKey) api.APIKeyRecord { return keyRecord(k, spent[k.Lineage]) }), nil
}

func keyRecord(k core.APIKey, spent usd.Micro) api.APIKeyRecord {
	out := api.APIKeyRecord{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: append([]string{}, k.Scopes...), CreatedBy: maybe(string(k.CreatedBy)), CreatedAt: httpapi.TimeOf(k.CreatedAt),
		LastUsedAt: httpapi.MaybeTime(k.LastUsedAt), ExpiresAt: httpapi.MaybeTime(k.ExpiresAt), RevokedAt: httpapi.MaybeTime(k.RevokedAt), SpentMicrousd: spent,
	}
	if k.Ceiling != 0 {
		out.SpendCeilingMicrousd = &k.Ceiling
	}
	return out
}

type newKeyInput struct{ httpapi.With[api.NewAPIKey] }

func (h *Handlers) createKey(_ *httpapi.Server, ctx context.Context, in *newKeyInput) (*httpapi.Answer[api.APIKeyCreated], error) {
	v := in.Value()
	n := identity.NewKey{Name: v.Name, Scopes: v.Scopes}
	if v.ExpiresAt != nil {
		n.ExpiresAt = core.Micros(v.ExpiresAt.UnixMicro())
	}
	if v.SpendCeilingMicrousd != nil {
		if n.Ceiling = *v.SpendCeilingMicrousd; n.Ceiling == 0 {
			n.Ceiling = -1 // 0 would mean none
		}
	}
	secret, k, err := h.People.MakeKey(ctx, maker(ctx), n, httpapi.Scopes())
	if err != nil {
		return nil, fielded(err)
	}
	return httpapi.Reply(api.APIKeyCreated{APIKeyRecord: keyRecord(k, 0), Secret: secret.Reveal()}), nil
}

type rotateInput struct {
	ID string `path:"id"`
	httpapi.With[api.RotateAPIKey]
}

func (h *Handlers) rotateKey(_ *httpapi.Server, ctx context.Context, in *rotateInput) (*httpapi.Answer[api.APIKeyCreated], error) {
	seconds := in.Value().OverlapSeconds
	if seconds < 0 || seconds > identity.MaxOverlap/1_000_000 {
		seconds = -1 // out of bounds, without overflowing on the way to micros
	}
	secret, k, err := h.People.RotateKey(ctx, maker(ctx), in.ID, core.Micros(seconds)*1_000_000)
	if err != nil {
		return nil, fielded(err)
	}
	spent, err := h.Access.Spent(ctx, k.Lineage)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(api.APIKeyCreated{APIKeyRecord: keyRecord(k, spent), Secret: secret.Reveal()}), nil
}

func (h *Handlers) revokeKey(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.OKResponse], error) {
	if err := h.People.RevokeKey(ctx, maker(ctx), in.ID); err != nil {
		return nil, err
	}
	return httpapi.Reply(api.OKResponse{OK: true}), nil
}

// fielded names the field of a refusal as this API does.
func fielded(err error) error {
	var r *core.Refusal
	if !errors.As(err, &r) {
		return err
	}
	field, ok := r.Details["field"].(string)
	if !ok {
		return err
	}
	return httpapi.RefuseFields(r.Code, r.Message, []api.FieldError{{Path: field, Code: "invalid_value"}})
}
