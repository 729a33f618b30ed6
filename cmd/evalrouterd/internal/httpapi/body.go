package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/sample"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/strictjson"
)

// maxBody bounds a JSON request.
const maxBody = 256 << 10

// readBody checks type and size of a body before anything is decoded, and
// puts the whole body in place of the connection.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, most int64) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return notJSONBody()
	}
	if r.ContentLength > most {
		return tooLarge(most)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return tooLarge(most)
	case err != nil:
		return refuseField("", "incomplete", "the body did not arrive whole; nothing was done")
	case len(bytes.TrimSpace(data)) == 0:
		return refuseField("", "required", "this route needs a body; nothing was done")
	}
	// What bounded the reading must not end the answering: a deadline that passes
	// now would end the request's context. A recorder of tests has none.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(data))
	r.ContentLength = int64(len(data))
	r.Header.Set("Content-Type", "application/json")
	return nil
}

// body is a request body: decoded strictly, with what was wrong kept apart so
// that it is answered as paths and codes.
type body[T any] struct {
	value T
	err   error
}

// decode is how the router's JSON format fills it.
func (b *body[T]) decode(data []byte) { b.err = strictjson.Decode(data, &b.value) }

func (b *body[T]) problem() error { return b.err }

// Schema describes the body as the record it holds.
func (*body[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// Upload is the body of a request that is a file. Length is -1 when it is not
// known.
type Upload struct {
	io.Reader
	Length int64
}

// UploadOf is the body of a request to a route that takes a file.
func UploadOf(ctx context.Context) *Upload {
	u, _ := ctx.Value(uploadKey).(*Upload)
	return u
}

// patientBody reads from a sender of any speed that does not stop: each piece
// has its own time, and so has the answer after the last one.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read waits for the next piece.
func (b *patientBody) Read(p []byte) (int, error) {
	// A writer without deadlines has no limit to move.
	_ = b.control.SetReadDeadline(time.Now().Add(stall))
	_ = b.control.SetWriteDeadline(time.Now().Add(2 * stall))
	return b.ReadCloser.Read(p)
}

// Value is the body as it was decoded.
func (w *With[T]) Value() T { return w.Body.value }

// With is the part of an input that has a JSON body. Raw is the body as it
// came, good until the handler returns.
type With[T any] struct {
	Body    body[T]
	RawBody []byte
}

func (w *With[T]) problem() error { return w.Body.problem() }

// brought is the body of Brought.
type brought[T any] struct{ body[T] }

func (b *brought[T]) decode(data []byte) { b.err = strictjson.DecodeForeign(data, &b.value) }

// Brought is With for a record whose texts other programs wrote. They may hold
// U+0000, and the handler replaces it.
type Brought[T any] struct {
	Body    brought[T]
	RawBody []byte
}

// Value is the body as it was decoded.
func (w *Brought[T]) Value() T { return w.Body.value }

func (w *Brought[T]) problem() error { return w.Body.problem() }

// faulty is an input that can say what was wrong with its body.
type faulty interface{ problem() error }

// decoder is a value that decodes itself strictly.
type decoder interface{ decode([]byte) }

// jsonFormat is the only format of the API.
func jsonFormat() huma.Format {
	return huma.Format{
		Marshal: encodeJSON,
		Unmarshal: func(data []byte, into any) error {
			if d, ok := into.(decoder); ok {
				d.decode(data)
				return nil
			}
			return strictjson.Decode(data, into)
		},
	}
}

// written is a record that marshal wrote before.
type written interface{ written() json.RawMessage }

// encodeJSON writes a record as one line. Nothing is written unless all of it
// can be encoded.
func encodeJSON(w io.Writer, v any) error {
	var b json.RawMessage
	var err error
	if w, ok := v.(written); ok {
		b = w.written()
	} else if b, err = marshal(v); err != nil {
		return err
	}
	_, err = (&net.Buffers{b, {'\n'}}).WriteTo(w) // one behind the other: b is not copied
	return err
}

// marshal is JSON as people and programs may read it.
func marshal(v any) ([]byte, error) { return sample.JSON(v) }
