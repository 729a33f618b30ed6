package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line, in bytes without its end.
const MaxLine = 1 << 20

// Lines reads a stream line by line, each at most MaxLine bytes long. The
// zero value is not usable; NewLines makes one.
type Lines struct {
	r      io.Reader
	buf    []byte
	from   int // start of what was not handed out
	to     int // end of what was read
	number int
	err    error
}

// NewLines reads r. A byte order mark is not taken off: it is no JSON.
func NewLines(r io.Reader) *Lines { return &Lines{r: r, buf: make([]byte, 128<<10)} }

// ErrLong is the error of a line longer than MaxLine. What follows it is not
// read.
var ErrLong = errors.New("line too long")

// Next answers the next line without its line feed, io.EOF after the last. A
// carriage return before the line feed belongs to the line, where JSON takes
// it for white space. The bytes are valid until the next call.
func (l *Lines) Next() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.from+searched:l.to], '\n'); i >= 0 {
			end := l.from + searched + i
			line := l.buf[l.from:end]
			l.from = end + 1
			return l.line(line)
		}
		searched = l.to - l.from
		if searched > MaxLine {
			return l.line(l.buf[l.from:l.to])
		}
		if l.err != nil {
			return l.rest()
		}
		l.fill()
	}
}

// Number is the number of the line that Next answered last, from 1.
func (l *Lines) Number() int { return l.number }

func (l *Lines) line(b []byte) ([]byte, error) {
	l.number++
	if len(b) > MaxLine {
		l.err, l.from, l.to = ErrLong, 0, 0
		return nil, fmt.Errorf("line %d: %w", l.number, ErrLong)
	}
	return b, nil
}

func (l *Lines) rest() ([]byte, error) {
	if l.from == l.to || !errors.Is(l.err, io.EOF) {
		return nil, l.err
	}
	b := l.buf[l.from:l.to]
	l.from = l.to
	return l.line(b)
}

// fill reads more behind what is there, moving or growing it when the buffer
// is full.
func (l *Lines) fill() {
	if l.to == len(l.buf) {
		if l.from > 0 {
			l.to = copy(l.buf, l.buf[l.from:l.to])
			l.from = 0
		} else {
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
	}
	for range 100 {
		n, err := l.r.Read(l.buf[l.to:])
		l.to += n
		if err != nil {
			l.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
