package traces

import (
	"encoding/binary"
	"encoding/json"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A share is full at either bound: one step of a trace is read with all that
// shares its piece.
const (
	fullShare = 64 // spans
	fullBytes = 96 << 10
)

// Pack makes of each span's content what is kept of it. Whoever brings spans
// does so before they wait for the one transaction that keeps them: it is most
// of the work.
func (s *Store) Pack(arrivals []core.Arrival) {
	for _, a := range arrivals {
		s.packSpans(a.Spans)
	}
}

// packSpans packs the spans of one trace. What came together is compressed
// together: steps of a run repeat each other, and one large row costs less than
// many small ones.
func (s *Store) packSpans(spans []core.Span) {
	out := sharing{bytes: make([]byte, 0, room(spans))}
	for i := range spans {
		x := &spans[i]
		if x.Packed != nil {
			continue
		}
		p := &core.Packed{Weight: weight(*x)}
		out.add(p, cut(x.Input, p.Keep), cut(x.Output, p.Keep), x.Attributes)
		for n := range p.Parts {
			p.Parts[n].Data = s.pack(p.Parts[n].Data)
		}
		x.Packed, x.Input, x.Output, x.Attributes = p, there(x.Input), there(x.Output), nil
		if len(out.members) == fullShare || len(out.bytes) >= fullBytes {
			out.close(s.packer)
		}
	}
	out.close(s.packer)
}

// room is what the contents of spans take before they are compressed, or a
// share of it.
func room(spans []core.Span) (n int) {
	for i := range spans {
		if x := &spans[i]; x.Packed == nil {
			n += len(x.Input) + len(x.Output) + len(x.Attributes) + 16
		}
		if n > fullBytes {
			return fullBytes + fullBytes/2
		}
	}
	return n
}

// sharing collects the contents of spans that become one piece.
type sharing struct {
	members []*core.Packed
	bytes   []byte // each behind its length
	body    []byte // of the last one, again
}

func (o *sharing) add(p *core.Packed, parts ...[]byte) {
	o.body = o.body[:0]
	for _, part := range parts {
		o.body = append(binary.AppendUvarint(o.body, uint64(len(part))), part...)
	}
	p.Place = len(o.members)
	o.members = append(o.members, p)
	o.bytes = append(binary.AppendUvarint(o.bytes, uint64(len(o.body))), o.body...)
}

func (o *sharing) close(p *packer) {
	switch len(o.members) {
	case 0:
		return
	case 1:
		o.members[0].Body = p.pack(o.body)
	default:
		share := &core.PackedShare{Data: p.pack(o.bytes)}
		for _, m := range o.members {
			m.Share = share
		}
	}
	o.members, o.bytes = o.members[:0], o.bytes[:0]
}

// there only says whether there is a content.
func there(b json.RawMessage) json.RawMessage {
	if b == nil {
		return nil
	}
	return json.RawMessage{}
}

// bodies are what a share holds.
func (p *packer) bodies(share []byte) (out [][]byte, err error) {
	b, err := p.unpack(share)
	for err == nil && len(b) > 0 {
		var one []byte
		if one, b, err = lengthy(b); err == nil {
			out = append(out, one)
		}
	}
	return out, err
}

// parts are the three parts of a body: input, output and attributes. They are
// compressed together, because they repeat each other.
func parts(b []byte) (out [3][]byte, err error) {
	for i := range out {
		if out[i], b, err = lengthy(b); err != nil {
			return out, err
		}
	}
	return out, nil
}

// lengthy takes what stands behind its length off the front.
func lengthy(b []byte) (one, rest []byte, err error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return nil, nil, errPieces
	}
	end := used + int(n)
	return b[used:end:end], b[end:], nil
}

// weight is how much a span says.
func weight(s core.Span) int {
	if s.Packed != nil {
		return s.Packed.Weight
	}
	return len(s.Input) + len(s.Output) + len(s.Attributes) + len(s.Name) + len(s.ErrorText) + len(s.Model)
}
