package otlp

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Protobuf reads a batch as application/x-protobuf has it. Field numbers are
// those of opentelemetry/proto/trace/v1, common/v1 and resource/v1.
func Protobuf(body []byte) (Batch, error) {
	d := &protoReader{left: maxNodes, names: map[string]string{}}
	err := each(body, func(f field) error {
		if f.is(1) {
			return d.resource(f.bytes)
		}
		return nil
	})
	return d.batch, err
}

// field is one field of a message: its bytes, or its number.
type field struct {
	num   protowire.Number
	kind  protowire.Type
	bytes []byte
	value uint64
}

// is says that the field has that number and holds bytes.
func (f field) is(n protowire.Number) bool { return f.num == n && f.kind == protowire.BytesType }

// each visits the fields of a message.
func each(b []byte, visit func(field) error) error {
	for len(b) > 0 {
		f := field{}
		var n int
		f.num, f.kind, n = protowire.ConsumeTag(b)
		if n < 0 {
			return ErrMalformed
		}
		b = b[n:]
		switch f.kind {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(b)
		default:
			n = protowire.ConsumeFieldValue(f.num, f.kind, b)
		}
		if n < 0 {
			return ErrMalformed
		}
		b = b[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

type protoReader struct {
	batch Batch
	left  int
	spans int
	// names holds each attribute's name once.
	names map[string]string
}

// spend counts what a message becomes.
func (d *protoReader) spend() error {
	if d.left--; d.left < 0 {
		return ErrTooMany
	}
	return nil
}

func (d *protoReader) resource(b []byte) error {
	shared := Attributes{}
	var scopes [][]byte
	err := each(b, func(f field) error {
		switch {
		case f.is(1):
			return each(f.bytes, func(f field) error {
				if f.is(1) {
					return d.attribute(f.bytes, shared)
				}
				return nil
			})
		case f.is(2):
			scopes = append(scopes, f.bytes)
			return d.spend()
		}
		return nil
	})
	for _, s := range scopes {
		if err == nil {
			err = d.scope(s, shared)
		}
	}
	return err
}

func (d *protoReader) scope(b []byte, shared Attributes) error {
	name, from := "", len(d.batch.Spans)
	err := each(b, func(f field) error {
		switch {
		case f.is(1):
			return each(f.bytes, func(f field) error {
				if f.is(1) {
					name = text(f.bytes)
				}
				return nil
			})
		case f.is(2):
			if d.spans++; d.spans > MaxSpans {
				return ErrTooMany
			}
			return d.span(f.bytes, shared)
		}
		return nil
	})
	for i := from; i < len(d.batch.Spans); i++ {
		d.batch.Spans[i].Scope = name
	}
	return err
}

func (d *protoReader) span(b []byte, shared Attributes) error {
	s := Span{Attributes: Attributes{}, Resource: shared}
	var trace, span, parent []byte
	err := each(b, func(f field) error {
		switch {
		case f.is(1):
			trace = f.bytes
		case f.is(2):
			span = f.bytes
		case f.is(4):
			parent = f.bytes
		case f.is(5):
			s.Name = text(f.bytes)
		case f.num == 7 && f.kind == protowire.Fixed64Type:
			s.Start = nanos(f.value)
		case f.num == 8 && f.kind == protowire.Fixed64Type:
			s.End = nanos(f.value)
		case f.is(9):
			return d.attribute(f.bytes, s.Attributes)
		case f.is(11):
			return d.event(f.bytes, &s)
		case f.is(15):
			return each(f.bytes, func(f field) error {
				switch {
				case f.is(2):
					s.Message = text(f.bytes)
				case f.num == 3 && f.kind == protowire.VarintType:
					s.Code = int(f.value & 3)
				}
				return nil
			})
		}
		return nil
	})
	if err == nil {
		d.batch.take(s, trace, span, parent)
	}
	return err
}

func (d *protoReader) event(b []byte, s *Span) error {
	if err := d.spend(); err != nil || len(s.Events) >= maxEvents {
		return err
	}
	e := Event{Attributes: Attributes{}}
	err := each(b, func(f field) error {
		switch {
		case f.num == 1 && f.kind == protowire.Fixed64Type:
			e.At = nanos(f.value)
		case f.is(2):
			e.Name = text(f.bytes)
		case f.is(3):
			return d.attribute(f.bytes, e.Attributes)
		}
		return nil
	})
	s.Events = append(s.Events, e)
	return err
}

// attribute reads one name with its value.
func (d *protoReader) attribute(b []byte, into Attributes) error { return d.pair(b, into, 0) }

func (d *protoReader) pair(b []byte, into Attributes, depth int) error {
	if err := d.spend(); err != nil {
		return err
	}
	name := ""
	var value any
	err := each(b, func(f field) (err error) {
		switch {
		case f.is(1):
			name = d.name(f.bytes)
		case f.is(2):
			value, err = d.value(f.bytes, depth)
		}
		return err
	})
	if _, there := into[name]; err == nil && (there || len(into) < maxAttributes) {
		into[name] = value
	}
	return err
}

func (d *protoReader) name(b []byte) string {
	if n, ok := d.names[string(b)]; ok {
		return n
	}
	n := text(b)
	if len(d.names) < 4096 {
		d.names[n] = n
	}
	return n
}

func (d *protoReader) value(b []byte, depth int) (v any, err error) {
	if depth > maxDepth {
		return tooDeep, nil
	}
	err = each(b, func(f field) (err error) {
		switch {
		case f.is(1):
			v = text(f.bytes)
		case f.num == 2 && f.kind == protowire.VarintType:
			v = f.value != 0
		case f.num == 3 && f.kind == protowire.VarintType:
			v = int64(f.value)
		case f.num == 4 && f.kind == protowire.Fixed64Type:
			v = math.Float64frombits(f.value)
		case f.is(5):
			v, err = d.list(f.bytes, depth)
		case f.is(6):
			inner := Attributes{}
			v = inner
			err = each(f.bytes, func(f field) error {
				if f.is(1) {
					return d.pair(f.bytes, inner, depth+1)
				}
				return nil
			})
		case f.is(7):
			v = append([]byte{}, f.bytes...)
		}
		return err
	})
	return v, err
}

func (d *protoReader) list(b []byte, depth int) ([]any, error) {
	out := []any{}
	err := each(b, func(f field) error {
		if !f.is(1) {
			return nil
		}
		if err := d.spend(); err != nil {
			return err
		}
		v, err := d.value(f.bytes, depth+1)
		out = append(out, v)
		return err
	})
	return out, err
}
