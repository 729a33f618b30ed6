package otlp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Origin is what spans have in common: the program that they come from and the
// library that made them. Its parts are encoded attributes.
type Origin struct {
	Resource      []byte // attributes, with ResourceAttributes as their field
	Scope         string
	ScopeVersion  string
	ScopeMetadata []byte // attributes, with ScopeAttributes as their field
}

// Encode is the origin as bytes that may be kept beside spans, in which equal
// origins are equal.
func (o Origin) Encode() string {
	var scope []byte
	scope = field(scope, 1, o.Scope)
	if o.ScopeVersion != "" {
		scope = field(scope, 2, o.ScopeVersion)
	}
	scope = append(scope, o.ScopeMetadata...)
	var b []byte
	b = field(b, 1, o.Resource)
	b = field(b, 2, scope)
	return string(b)
}

// origin reads what Encode wrote, as fields of ResourceSpans and ScopeSpans.
func origin(text string) (parts [2][]byte, err error) {
	b := []byte(text)
	for len(b) > 0 {
		n, t, size := protowire.ConsumeTag(b)
		if size < 0 || n < 1 || n > 2 || t != protowire.BytesType {
			return parts, errOrigin
		}
		b = b[size:]
		v, size := protowire.ConsumeBytes(b)
		if size < 0 {
			return parts, errOrigin
		}
		parts[n-1], b = v, b[size:]
	}
	return parts, nil
}

var errOrigin = errors.New("the origin of a span does not read as one")

// CheckOrigin says whether text is an origin, for origins from a file.
func CheckOrigin(text string) error {
	_, err := origin(text)
	return err
}

// Group is encoded spans of one origin.
type Group struct {
	Origin string
	Spans  [][]byte
}

// Request is the body of a request that exports the groups.
func Request(b []byte, groups []Group) ([]byte, error) {
	for _, g := range groups {
		parts, err := origin(g.Origin)
		if err != nil {
			return nil, fmt.Errorf("write a batch: %w", err)
		}
		scoped := protowire.SizeTag(1) + protowire.SizeBytes(len(parts[1]))
		for _, s := range g.Spans {
			scoped += protowire.SizeTag(2) + protowire.SizeBytes(len(s))
		}
		size := protowire.SizeTag(1) + protowire.SizeBytes(len(parts[0])) + protowire.SizeTag(2) + protowire.SizeBytes(scoped)
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(size))
		b = field(b, 1, parts[0])
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(scoped))
		b = field(b, 1, parts[1])
		for _, s := range g.Spans {
			b = field(b, 2, s)
		}
	}
	return b, nil
}

// Overhead bounds what Request adds to the spans of a group.
func Overhead(origin string) int { return len(origin) + 64 }

// SpanOverhead bounds what Request adds to a span.
const SpanOverhead = 8

// Answer is what the service says of a request that it took.
type Answer struct {
	Rejected int64
	Message  string
}

// ReadAnswer reads an ExportTraceServiceResponse. An empty body says that
// everything was taken.
func ReadAnswer(b []byte) (Answer, error) {
	partial, err := lastBytes(b, 1)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	for len(partial) > 0 {
		n, t, size := protowire.ConsumeTag(partial)
		if size < 0 {
			return Answer{}, errAnswer
		}
		partial = partial[size:]
		switch {
		case n == 1 && t == protowire.VarintType:
			var v uint64
			v, size = protowire.ConsumeVarint(partial)
			a.Rejected = int64(v)
		case n == 2 && t == protowire.BytesType:
			var v []byte
			v, size = protowire.ConsumeBytes(partial)
			a.Message = string(v)
		default:
			size = protowire.ConsumeFieldValue(n, t, partial)
		}
		if size < 0 {
			return Answer{}, errAnswer
		}
		partial = partial[size:]
	}
	return a, nil
}

// ReadJSONAnswer reads the same message as JSON, in which some receivers answer
// whatever they were asked in. A count may be a number or a text there.
func ReadJSONAnswer(b []byte) (Answer, error) {
	var in struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage `json:"rejectedSpans"`
			ErrorMessage  string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return Answer{}, errAnswer
	}
	a := Answer{Message: in.PartialSuccess.ErrorMessage}
	if count := strings.Trim(string(in.PartialSuccess.RejectedSpans), `"`); count != "" && count != "null" {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return Answer{}, errAnswer
		}
		a.Rejected = n
	}
	return a, nil
}

var errAnswer = errors.New("the answer is no OTLP message")

func lastBytes(b []byte, want protowire.Number) (found []byte, err error) {
	for len(b) > 0 {
		n, t, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, errAnswer
		}
		b = b[size:]
		if n == want && t == protowire.BytesType {
			found, size = protowire.ConsumeBytes(b)
		} else {
			size = protowire.ConsumeFieldValue(n, t, b)
		}
		if size < 0 {
			return nil, errAnswer
		}
		b = b[size:]
	}
	return found, nil
}
