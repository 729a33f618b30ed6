package traces

import (
	"encoding/binary"
	"encoding/json"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Pack makes of each span's content what is kept of it. Whoever brings spans
// does so before they wait for the one transaction that keeps them: it is most
// of the work.
func (s *Store) Pack(arrivals []core.Arrival) {
	for _, a := range arrivals {
		s.packSpans(a.Spans)
	}
}

func (s *Store) packSpans(spans []core.Span) {
	var scratch []byte
	for i := range spans {
		x := &spans[i]
		if x.Packed != nil {
			continue
		}
		p := &core.Packed{Weight: weight(*x)}
		scratch = scratch[:0]
		for _, part := range [][]byte{cut(x.Input, p.Keep), cut(x.Output, p.Keep), x.Attributes} {
			scratch = append(binary.AppendUvarint(scratch, uint64(len(part))), part...)
		}
		p.Body = s.pack(scratch)
		for n := range p.Parts {
			p.Parts[n].Data = s.pack(p.Parts[n].Data)
		}
		x.Packed, x.Input, x.Output, x.Attributes = p, there(x.Input), there(x.Output), nil
	}
}

// there only says whether there is a content.
func there(b json.RawMessage) json.RawMessage {
	if b == nil {
		return nil
	}
	return json.RawMessage{}
}

// parts are the three parts of a body: input, output and attributes. They are
// compressed together, because they repeat each other.
func (s *Store) parts(body []byte) (out [3][]byte, err error) {
	b, err := s.unpack(body)
	if err != nil {
		return out, err
	}
	for i := range out {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return out, errPieces
		}
		out[i], b = b[used:used+int(n)], b[used+int(n):]
	}
	return out, nil
}

// weight is how much a span says.
func weight(s core.Span) int {
	if s.Packed != nil {
		return s.Packed.Weight
	}
	return len(s.Input) + len(s.Output) + len(s.Attributes) + len(s.Name) + len(s.ErrorText) + len(s.Model)
}
