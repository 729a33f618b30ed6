package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

// Kinds of record. An origin holds for the spans behind it. A settled record
// says up to which offset the spans of its segment are.
const (
	kindOrigin  = 1
	kindSpan    = 2
	kindSettled = 3
)

const (
	frameSize = 9       // length, checksum, kind
	maxRecord = 1 << 20 // no span is as large
)

func appendRecord(b []byte, kind byte, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	sum := crc32.Update(crc32.Checksum([]byte{kind}, castagnoli()), castagnoli(), payload)
	b = binary.LittleEndian.AppendUint32(b, sum)
	b = append(b, kind)
	return append(b, payload...)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// record is the record at the beginning of b, and its size. A size of zero says
// that there is no whole one.
func record(b []byte) (kind byte, payload []byte, size int) {
	if len(b) < frameSize {
		return 0, nil, 0
	}
	n := binary.LittleEndian.Uint32(b)
	if n > maxRecord || int(n) > len(b)-frameSize {
		return 0, nil, 0
	}
	kind, payload = b[8], b[frameSize:frameSize+int(n)]
	sum := crc32.Update(crc32.Checksum([]byte{kind}, castagnoli()), castagnoli(), payload)
	if sum != binary.LittleEndian.Uint32(b[4:]) {
		return 0, nil, 0
	}
	return kind, payload, frameSize + int(n)
}

// segment is one file. Its fields are guarded by the log.
type segment struct {
	file    *os.File
	path    string
	size    int64  // of what is whole
	origin  string // of the last span written
	read    int64  // where reading goes on
	reading string // the origin that holds there
	spans   int    // not settled
}

func createSegment(path string) (*segment, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a segment of the spool: %w", err)
	}
	return &segment{file: f, path: path}, nil
}

// loadSegment reads a file that another process left. What does not read as
// records is cut off, so that more may be appended behind what does.
func loadSegment(path string) (s *segment, torn int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open a segment of the spool: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	b, err := io.ReadAll(io.LimitReader(f, 2*segmentSize+maxRecord))
	if err != nil {
		return nil, 0, fmt.Errorf("read a segment of the spool: %w", err)
	}
	s = &segment{file: f, path: path}
	var settled int64
	for {
		kind, payload, size := record(b[s.size:])
		if size == 0 {
			break
		}
		if kind == kindSettled && len(payload) == 8 {
			settled = max(settled, min(int64(binary.LittleEndian.Uint64(payload)), s.size))
		}
		s.size += int64(size)
	}
	if torn = int64(len(b)) - s.size; torn > 0 {
		if err := f.Truncate(s.size); err != nil {
			return nil, 0, fmt.Errorf("cut a torn record off the spool: %w", err)
		}
	}
	s.resume(b[:s.size], settled)
	return s, torn, nil
}

// resume counts what is not settled and finds the origin that holds there.
func (s *segment) resume(b []byte, settled int64) {
	s.read = settled
	for at := int64(0); at < int64(len(b)); {
		kind, payload, size := record(b[at:])
		if size == 0 {
			return
		}
		switch {
		case kind == kindOrigin && otlp.CheckOrigin(string(payload)) == nil:
			s.origin = string(payload)
			if at < settled {
				s.reading = s.origin
			}
		case kind == kindSpan && at >= settled:
			s.spans++
		}
		at += int64(size)
	}
}

// append writes a span, in one write with its origin when that is another one
// than before. Of a write that failed nothing stays.
func (s *segment) append(buf []byte, origin string, span []byte) ([]byte, error) {
	if origin != s.origin || s.size == 0 {
		buf = appendRecord(buf, kindOrigin, []byte(origin))
	}
	buf = appendRecord(buf, kindSpan, span)
	if err := s.write(buf); err != nil {
		return buf, err
	}
	s.origin = origin
	s.spans++
	return buf, nil
}

func (s *segment) write(b []byte) error {
	if _, err := s.file.Write(b); err != nil {
		return errors.Join(fmt.Errorf("write to the spool: %w", err), s.file.Truncate(s.size))
	}
	s.size += int64(len(b))
	return nil
}

// next reads a batch from where reading stands. It moves nothing.
func (s *segment) next(maxSpans, maxBytes int) (Batch, error) {
	want := min(s.size-s.read, int64(2*maxBytes+maxRecord))
	b := make([]byte, want)
	if _, err := s.file.ReadAt(b, s.read); err != nil {
		return Batch{}, fmt.Errorf("read the spool: %w", err)
	}
	out := Batch{segment: s, reading: s.reading}
	at := 0
	for out.Spans < maxSpans {
		kind, payload, size := record(b[at:])
		if size == 0 {
			break
		}
		switch kind {
		case kindOrigin:
			if otlp.CheckOrigin(string(payload)) == nil {
				out.reading = string(payload)
			}
		case kindSpan:
			if out.Spans > 0 && out.bytes+len(payload) > maxBytes {
				out.end = s.read + int64(at)
				return out, nil
			}
			out.add(payload)
		}
		at += size
	}
	out.end = s.read + int64(at)
	return out, nil
}

// pass moves reading behind a batch.
func (s *segment) pass(b Batch) {
	s.read, s.reading = b.end, b.reading
	s.spans -= b.Spans
}

// note writes down how far spans are settled.
func (s *segment) note() error {
	return s.write(appendRecord(nil, kindSettled, binary.LittleEndian.AppendUint64(nil, uint64(s.read))))
}

// empty takes everything out of the file.
func (s *segment) empty() error {
	if err := s.file.Truncate(0); err != nil {
		return errors.Join(fmt.Errorf("empty a segment of the spool: %w", err), s.note())
	}
	s.size, s.read, s.origin, s.reading = 0, 0, "", ""
	return nil
}
