// Package feedback is the routes by which people and agents say what is wrong
// with the product. What they write is kept as it is, within limits; the
// service adds nothing of runs, tasks or answers to it.
package feedback

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

const write = "feedback:write"

// Keeper keeps reports.
type Keeper interface {
	Add(ctx context.Context, f core.Feedback) (core.Feedback, error)
	Get(ctx context.Context, sc core.Scope, id string) (core.Feedback, error)
}

// Handlers answers the routes.
type Handlers struct {
	Keeper Keeper
	NewID  func() string
}

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.On(httpapi.Route{Method: http.MethodPost, Path: "/v1/feedback", ID: "create-feedback", Summary: "Say what is wrong with the product", Tag: "feedback", Scope: write, Body: true}, h.create),
		httpapi.On(httpapi.Route{Method: http.MethodGet, Path: "/v1/feedback/{id}", ID: "get-feedback", Summary: "What became of it", Tag: "feedback", Scope: write}, h.get),
	}
}

type createInput struct {
	httpapi.With[api.NewFeedback]
}

func (h *Handlers) create(_ *httpapi.Server, ctx context.Context, in *createInput) (*httpapi.Answer[api.FeedbackReceipt], error) {
	n := in.Value()
	if bad := problems(n); len(bad) > 0 {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "the feedback is not valid; details.fields says where. Nothing was stored", bad)
	}
	sc := httpapi.ScopeOf(ctx)
	doc, err := httpapi.Record(api.FeedbackContext{ErrorCode: n.ErrorCode, RequestID: n.RequestID, HTTPStatus: n.HTTPStatus, Method: n.Method, Path: n.Path, Client: n.Client, Agent: n.Agent})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{n.Kind, strings.ToLower(strings.TrimSpace(n.Summary)), n.ErrorCode, n.Method, n.Path}, "\x00")))
	f, err := h.Keeper.Add(ctx, core.Feedback{
		ID: h.NewID(), Workspace: sc.Workspace, Actor: sc.Actor, Kind: n.Kind, Severity: n.Severity, Summary: n.Summary, Details: n.Details,
		Context: string(doc), ContactOK: n.ContactOK, Digest: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(receipt(f)), nil
}

type getInput struct {
	ID string `path:"id"`
}

func (h *Handlers) get(_ *httpapi.Server, ctx context.Context, in *getInput) (*httpapi.Answer[api.FeedbackReceipt], error) {
	f, err := h.Keeper.Get(ctx, httpapi.ScopeOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(receipt(f)), nil
}

func receipt(f core.Feedback) api.FeedbackReceipt {
	r := api.FeedbackReceipt{FeedbackID: f.ID, Status: f.Status, CreatedAt: time.UnixMicro(int64(f.CreatedAt)).UTC()}
	if f.DuplicateOf != "" {
		r.DuplicateOf = &f.DuplicateOf
	}
	return r
}

// problems are the fields that break the limits of the contract.
func problems(n api.NewFeedback) (bad []api.FieldError) {
	check := func(ok bool, path, code string) {
		if !ok {
			bad = append(bad, api.FieldError{Path: path, Code: code})
		}
	}
	check(slices.Contains(api.FeedbackKinds(), n.Kind), "kind", "unknown")
	check(slices.Contains(api.FeedbackSeverities(), n.Severity), "severity", "unknown")
	check(strings.TrimSpace(n.Summary) != "", "summary", "required")
	check(utf8.RuneCountInString(n.Summary) <= api.MaxFeedbackSummary, "summary", "too_long")
	check(utf8.RuneCountInString(n.Details) <= api.MaxFeedbackDetails, "details", "too_long")
	check(n.HTTPStatus == 0 || n.HTTPStatus >= 100 && n.HTTPStatus <= 599, "http_status", "out_of_range")
	check(api.FeedbackName(n.Client.Name) && api.FeedbackName(n.Client.Version), "client", "invalid_value")
	for _, f := range [][2]string{{"error_code", n.ErrorCode}, {"request_id", n.RequestID}, {"method", n.Method}, {"path", n.Path}} {
		check(f[1] == "" || api.FeedbackName(f[1]), f[0], "invalid_value")
	}
	if a := n.Agent; a != nil {
		check(api.FeedbackName(a.Name), "agent.name", "invalid_value")
		check(a.Version == "" || api.FeedbackName(a.Version), "agent.version", "invalid_value")
		check(a.Model == "" || api.FeedbackName(a.Model), "agent.model", "invalid_value")
	}
	return bad
}

// Features are none: every service keeps feedback.
func (h *Handlers) Features() []string { return nil }
