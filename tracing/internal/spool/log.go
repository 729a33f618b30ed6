package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

// segmentSize is when another segment is begun.
const segmentSize = 4 << 20

// ErrFull says that the spool holds as much as it may.
var ErrFull = errors.New("the spool is full")

// Batch is spans that were read, in their order.
type Batch struct {
	Groups []otlp.Group
	Spans  int
	// Lost counts spans that could not be read back. They are gone.
	Lost    int
	bytes   int
	segment *segment
	end     int64
	reading string
}

func (b *Batch) add(span []byte) {
	last := len(b.Groups) - 1
	if last < 0 || b.Groups[last].Origin != b.reading {
		b.Groups = append(b.Groups, otlp.Group{Origin: b.reading})
		last++
	}
	b.Groups[last].Spans = append(b.Groups[last].Spans, span)
	b.Spans++
	b.bytes += len(span)
}

// Left is what earlier processes left.
type Left struct {
	Spans int
	// Torn is how many bytes did not read as records.
	Torn int64
}

// Log is the spool of one process. It is safe for concurrent use; one
// goroutine reads and settles.
type Log struct {
	mu       sync.Mutex
	dir      string
	limit    int64
	unlock   func() error
	segments []*segment // in reading order; the last one is written to
	begun    int        // number of the last segment
	buf      []byte
	closed   bool
}

// Open takes a slot of the folder, which is made when it is missing, and what
// was left in it and in slots without a process. limit bounds the bytes on disk.
func Open(dir string, limit int64) (*Log, Left, error) {
	slot, unlock, err := takeSlot(dir)
	if err != nil {
		return nil, Left{}, err
	}
	l := &Log{dir: slot, limit: limit, unlock: unlock}
	left, err := l.load()
	if err == nil {
		err = l.begin()
	}
	if err != nil {
		return nil, Left{}, errors.Join(err, l.closeFiles(), unlock())
	}
	return l, left, nil
}

func (l *Log) load() (left Left, err error) {
	own, err := segmentFiles(l.dir) // sorted
	if err != nil {
		return left, fmt.Errorf("look at the spool: %w", err)
	}
	adopted, err := adopt(filepath.Dir(l.dir), l.dir)
	if err != nil {
		return left, err
	}
	for _, path := range append(adopted, own...) {
		if n, ok := segmentNumber(path); ok {
			l.begun = max(l.begun, n)
		}
		s, torn, err := loadSegment(path)
		if err != nil {
			return left, err
		}
		left.Torn += torn
		if s.spans == 0 {
			if err := errors.Join(s.file.Close(), os.Remove(path)); err != nil {
				return left, fmt.Errorf("remove a settled segment: %w", err)
			}
			continue
		}
		left.Spans += s.spans
		l.segments = append(l.segments, s)
	}
	return left, nil
}

// begin starts a segment to write to.
func (l *Log) begin() error {
	l.begun++
	s, err := createSegment(filepath.Join(l.dir, fmt.Sprintf("%08d%s", l.begun, suffix)))
	if err != nil {
		return err
	}
	l.segments = append(l.segments, s)
	return nil
}

const suffix = ".spans"

func segmentFiles(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(escape(dir), "*"+suffix))
}

// escape keeps a folder's name from being read as a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}

func segmentNumber(path string) (n int, ok bool) {
	_, err := fmt.Sscanf(filepath.Base(path), "%08d"+suffix, &n)
	return n, err == nil
}

// Append writes a span. It is in the file when Append returns; after an error
// nothing of it is.
func (l *Log) Append(origin string, span []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	if len(l.segments) == 0 {
		if err := l.begin(); err != nil {
			return err
		}
	}
	if len(span) > maxRecord || l.onDisk()+int64(len(span)+len(origin)+2*frameSize) > l.limit {
		return ErrFull
	}
	last := l.segments[len(l.segments)-1]
	if last.size >= segmentSize {
		if err := l.begin(); err != nil {
			return err
		}
		last = l.segments[len(l.segments)-1]
	}
	buf, err := last.append(l.buf[:0], origin, span)
	if cap(buf) <= maxRecord {
		l.buf = buf
	}
	return err
}

func (l *Log) onDisk() (n int64) {
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// Next reads the oldest spans that are not settled, of one segment. A batch
// with neither spans nor lost ones says that there are none. A segment that does
// not read is given up with all that it held.
func (l *Log) Next(maxSpans, maxBytes int) (Batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.segments, func(s *segment) bool { return s.spans > 0 })
	if at < 0 {
		return Batch{}, nil
	}
	s := l.segments[at]
	b, err := s.next(maxSpans, maxBytes)
	if err == nil && b.Spans > 0 {
		return b, nil
	}
	lost := Batch{Lost: s.spans}
	s.spans = 0
	l.segments = slices.Delete(l.segments, at, at+1)
	if at == len(l.segments) {
		err = errors.Join(err, l.begin())
	}
	return lost, errors.Join(err, s.file.Close(), os.Remove(s.path))
}

// Done settles a batch: it is never read again. When the note of that cannot be
// written, it is read again by a later process only. A segment of which
// everything is settled is removed, or emptied when it is the one written to.
func (l *Log) Done(b Batch) error {
	if b.segment == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := b.segment
	s.pass(b)
	switch {
	case s.spans > 0:
		return s.note()
	case s == l.segments[len(l.segments)-1]:
		return s.empty()
	}
	l.segments = slices.DeleteFunc(l.segments, func(x *segment) bool { return x == s })
	return errors.Join(s.file.Close(), os.Remove(s.path))
}

// Bytes is how much the spool holds on disk.
func (l *Log) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.onDisk()
}

// Close leaves what is not settled for the next process and removes the rest.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return errors.Join(l.closeFiles(), l.unlock())
}

func (l *Log) closeFiles() (err error) {
	for _, s := range l.segments {
		err = errors.Join(err, s.file.Close())
		if s.spans == 0 {
			err = errors.Join(err, os.Remove(s.path))
		}
	}
	return err
}
