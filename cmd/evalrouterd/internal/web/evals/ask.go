package evals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// answered is an answer of the API that stays in this process.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is what the answer is about.
func (a *answered) Header() http.Header { return a.header }

// WriteHeader keeps the first status.
func (a *answered) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps the body.
func (a *answered) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

func (h *Handlers) request(ctx context.Context, path string) (*http.Request, error) {
	// The host is that of a service on this machine: some accept no other.
	return http.NewRequestWithContext(ctx, http.MethodGet, h.Self+path, nil)
}

// ask reads a record of the API. A refusal keeps its code and its sentence.
func ask[T any](ctx context.Context, h *Handlers, as Looker, path string) (v T, err error) {
	r, err := h.request(ctx, path)
	if err != nil {
		return v, fmt.Errorf("ask %s: %w", path, err)
	}
	a := &answered{header: http.Header{}}
	h.API(a, r, as)
	if a.status >= 400 {
		var e api.Envelope
		if err := json.Unmarshal(a.body.Bytes(), &e); err != nil || e.Error.Code == "" {
			return v, fmt.Errorf("ask %s: status %d", path, a.status)
		}
		return v, core.Refuse(core.Code(e.Error.Code), "%s", e.Error.Message)
	}
	if err := json.Unmarshal(a.body.Bytes(), &v); err != nil {
		return v, fmt.Errorf("ask %s: %w", path, err)
	}
	return v, nil
}
