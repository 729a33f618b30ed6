// Package sse reads streams of server-sent events as model providers send
// them.
//
// It follows the rules of the HTML standard for lines, comments and fields,
// with two additions that providers need. A line of JSON without a field name
// is an event of its own: one provider reports errors so. And an event that
// the end of the stream cut off is given out, marked as partial: what it holds
// may be whole, and it may be the part that says that the answer is complete.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// MaxEvent is the largest event that is read, in bytes.
const MaxEvent = 4 << 20

// ErrTooLong is returned for an event larger than MaxEvent.
var ErrTooLong = errors.New("an event of the stream is larger than 4 MiB")

// Event is one event. Data holds its data lines, joined by line feeds.
type Event struct {
	Name string
	Data []byte
	// Bare says that Data came without a field name.
	Bare bool
	// Partial says that the stream ended within the event.
	Partial bool
}

// Reader reads events one after the other.
type Reader struct {
	in *bufio.Reader
	// skip says that a line feed would belong to the carriage return before it.
	skip  bool
	begun bool
	size  int

	name string
	data []byte
	some bool // data lines came, be they empty
	bare bool
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReader(r)} }

// Looks says whether a body begins as a stream of events does, and not as
// JSON or HTML.
func Looks(body []byte) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 64)], bom), "\r\n")
	for _, field := range []string{"data:", "event:", ":", "id:", "retry:"} {
		if bytes.HasPrefix(head, []byte(field)) {
			return true
		}
	}
	return false
}

// bom is the byte order mark that a stream may begin with. It is never
// written.
var bom = []byte("\xef\xbb\xbf")

// Next is the next event. The error is io.EOF at the end of the stream, and
// otherwise says why there are no further events.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return Event{}, err
		}
		ended := err != nil
		switch {
		case len(line) > 0:
			r.take(line)
		case r.pending() && !ended:
			return r.give(false), nil
		case !ended:
			r.name, r.size = "", 0 // an event without data is none
		}
		if ended {
			if r.pending() {
				return r.give(true), nil
			}
			return Event{}, io.EOF
		}
	}
}

func (r *Reader) pending() bool { return r.some }

func (r *Reader) give(partial bool) Event {
	e := Event{Name: r.name, Data: r.data, Bare: r.bare, Partial: partial}
	r.name, r.data, r.some, r.bare, r.size = "", nil, false, false, 0
	return e
}

// take adds a line to the event under way.
func (r *Reader) take(line []byte) {
	if r.bare || !r.some && (line[0] == '{' || line[0] == '[') {
		r.bare = true
		r.add(line)
		return
	}
	field, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "data":
		r.add([]byte(value))
	case "event":
		r.name = value
	}
}

func (r *Reader) add(line []byte) {
	if r.some {
		r.data = append(r.data, '\n')
	}
	r.data, r.some = append(r.data, line...), true
}

// line is the next line without its end: CR, LF or both. At the end of the
// stream the error is io.EOF and the line is what came after the last end.
func (r *Reader) line() ([]byte, error) {
	var line []byte
	for {
		if _, err := r.in.Peek(1); err != nil {
			return r.first(line), err
		}
		ready, err := r.in.Peek(r.in.Buffered())
		if err != nil {
			return r.first(line), err
		}
		if r.skip {
			r.skip = false
			if ready[0] == '\n' {
				r.in.Discard(1) // it is buffered
				continue
			}
		}
		n := bytes.IndexAny(ready, "\r\n")
		ended := n >= 0
		if !ended {
			n = len(ready)
		}
		if r.size += n; r.size > MaxEvent {
			return nil, ErrTooLong
		}
		line = append(line, ready[:n]...)
		if !ended {
			r.in.Discard(n)
			continue
		}
		r.skip = ready[n] == '\r'
		r.in.Discard(n + 1)
		return r.first(line), nil
	}
}

// first takes the byte order mark off the first line.
func (r *Reader) first(line []byte) []byte {
	if r.begun {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, bom)
}
