package traces

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzip"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Bounds of a batch, as it is sent and inflated, and of what one key sends in a
// second.
const (
	maxSent     = 8 << 20
	maxInflated = 32 << 20
	maxRate     = 32 << 20
	// keptSlot is how much memory stays with a slot.
	keptSlot = 4 << 20
)

type exportInput struct {
	Type       string `header:"Content-Type"`
	Encoding   string `header:"Content-Encoding"`
	Connection string `header:"X-Trace-Connection-Id" doc:"the connection that the key must belong to"`
}

// exported is the answer in the encoding of the request. It is sent only once
// everything that it does not name as rejected is committed.
type exported struct {
	Body func(huma.Context)
}

func (h *Handlers) export(_ *httpapi.Server, ctx context.Context, in *exportInput) (*exported, error) {
	c, err := h.connection(ctx, in.Connection)
	if err != nil {
		return nil, err
	}
	kind, _, err := mime.ParseMediaType(in.Type)
	asJSON := kind == "application/json"
	if err != nil || !asJSON && kind != "application/x-protobuf" {
		return nil, core.Refuse(core.Code(api.UnsupportedMediaType), "spans come as application/x-protobuf or application/json; nothing was kept")
	}
	sent, err := io.ReadAll(io.LimitReader(httpapi.UploadOf(ctx), maxSent+1))
	switch {
	case err != nil:
		return nil, core.Refuse(core.InvalidRequest, "the body did not arrive whole; nothing was kept")
	case len(sent) > maxSent:
		return nil, tooLarge("sent", maxSent)
	}
	if wait := h.pace.take(string(c.ID), len(sent), h.Now()); wait > 0 {
		return nil, core.Refuse(core.Code(api.RateLimited), "this key sends more than %d MiB in a second; send the batch again after the time in Retry-After. Nothing of it was kept", maxRate>>20)
	}
	rejected, reason, err := h.receive(ctx, c, sent, in.Encoding, asJSON)
	if err != nil {
		return nil, err
	}
	return &exported{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		body := otlp.Answer(asJSON, rejected, reason)
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body) // a sender that has gone away sends again, and nothing is kept twice
	}}, nil
}

// receive decodes a batch and keeps it. Only a few are decoded at a time.
func (h *Handlers) receive(ctx context.Context, c core.TraceConnection, sent []byte, encoding string, asJSON bool) (int, string, error) {
	batch, err := h.decode(ctx, sent, encoding, asJSON)
	if err != nil {
		return 0, "", err
	}
	return h.Intake.Receive(ctx, c, batch)
}

func (h *Handlers) decode(ctx context.Context, sent []byte, encoding string, asJSON bool) (otlp.Batch, error) {
	var at *slot
	select {
	case at = <-h.slots:
		defer func() { h.slots <- at.emptied() }()
	case <-ctx.Done():
		return otlp.Batch{}, ctx.Err()
	}
	body, err := at.inflate(sent, encoding)
	if err != nil {
		return otlp.Batch{}, err
	}
	read := otlp.Protobuf
	if asJSON {
		read = otlp.JSON
	}
	batch, err := read(body)
	switch {
	case errors.Is(err, otlp.ErrTooMany):
		return batch, core.Refuse(core.Code(api.RequestTooLarge), "%s. Nothing was kept", err)
	case err != nil:
		return batch, core.Refuse(core.Code(api.MalformedExport), "%s; nothing was kept", err)
	}
	return batch, nil
}

// slot is where one batch at a time is inflated. Nothing of a batch that was
// read refers to it.
type slot struct {
	in  bytes.Reader
	z   gzip.Reader
	out bytes.Buffer
}

// slotsOf are as many as batches are decoded at a time.
func slotsOf(n int) chan *slot {
	out := make(chan *slot, n)
	for range n {
		out <- &slot{}
	}
	return out
}

// emptied is the slot for the next batch. One large batch does not leave its
// memory behind.
func (s *slot) emptied() *slot {
	if s.out.Cap() > keptSlot {
		return &slot{}
	}
	s.in.Reset(nil)
	s.out.Reset()
	return s
}

// inflate undoes a Content-Encoding. What it gives is good until the slot is
// emptied.
func (s *slot) inflate(sent []byte, encoding string) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return sent, nil
	case "gzip":
	default:
		return nil, core.Refuse(core.Code(api.UnsupportedMediaType), "a batch comes as it is or with gzip; nothing was kept")
	}
	if err := s.unzip(sent); err != nil {
		return nil, core.Refuse(core.Code(api.MalformedExport), "the body is not gzip; nothing was kept")
	}
	s.out.Grow(min(4*len(sent), maxSent))
	_, err := s.out.ReadFrom(io.LimitReader(&s.z, maxInflated+1))
	body := s.out.Bytes()
	switch {
	case err != nil:
		return nil, core.Refuse(core.Code(api.MalformedExport), "the body is not whole gzip; nothing was kept")
	case len(body) > maxInflated:
		return nil, tooLarge("inflated", maxInflated)
	}
	return body, nil
}

// unzip begins to read what is compressed.
func (s *slot) unzip(sent []byte) error {
	s.in.Reset(sent)
	return s.z.Reset(&s.in)
}

func tooLarge(how string, most int64) error {
	return core.Refuse(core.Code(api.RequestTooLarge), "the batch is larger than %d MiB when %s; send smaller ones. Nothing was kept", most>>20, how).With("limit_bytes", most)
}

// connection is that of the caller's key. named, where it is given, must be it.
func (h *Handlers) connection(ctx context.Context, named string) (core.TraceConnection, error) {
	id := httpapi.ConnectionOf(ctx)
	if named != "" && named != string(id) {
		return core.TraceConnection{}, core.Refuse(core.Code(api.IngestOnly), "this key belongs to another trace connection; nothing was kept")
	}
	c, err := h.Service.Connection(ctx, httpapi.ScopeOf(ctx), id)
	if err == nil && c.DisabledAt != 0 {
		err = core.Refuse(core.Code(api.KeyRevoked), "this trace connection was disabled; nothing was kept")
	}
	return c, err
}

// pace bounds the bytes of each sender: one second may be saved up.
type pace struct {
	mu    sync.Mutex
	free  map[string]time.Time // when everything sent is paid for
	swept time.Time
}

func (p *pace) take(name string, bytes int, now time.Time) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil || now.Sub(p.swept) >= time.Minute {
		for n, at := range p.free {
			if !at.After(now) {
				delete(p.free, n)
			}
		}
		if p.free == nil {
			p.free = map[string]time.Time{}
		}
		p.swept = now
	}
	at := p.free[name]
	if at.Before(now) {
		at = now
	}
	if wait := at.Sub(now) - time.Second; wait > 0 {
		return wait
	}
	p.free[name] = at.Add(time.Duration(bytes) * time.Second / maxRate)
	return 0
}
