package netguard

import (
	"bytes"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
)

// ErrSurplus is a write on a connection that has brought more than it was
// asked for. Nothing was written.
var ErrSurplus = errors.New("the endpoint sent more than one answer to a request; the connection is not used again")

// Answers is a connection on which one request has one answer.
//
// A server that answers twice leaves a second answer behind, and net/http
// takes it for the answer to the next request when that comes quickly enough:
// every later answer on the connection would be graded as that of another
// question. So the connection follows where each answer ends, and takes no
// request once bytes came after it.
type Answers struct {
	net.Conn

	mu      sync.Mutex
	waiting bool // a request was written and its answer is not complete
	surplus bool
	f       framing
}

// Surplus says that bytes have come that nobody asked for.
func (a *Answers) Surplus() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.surplus
}

// Write sends a request or a part of one.
func (a *Answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	if a.surplus {
		a.mu.Unlock()
		return 0, ErrSurplus
	}
	a.waiting = true
	a.mu.Unlock()
	return a.Conn.Write(p)
}

func (a *Answers) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	if n > 0 {
		a.follow(p[:n])
	}
	return n, err
}

func (a *Answers) follow(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(b) > 0 && a.waiting {
		b = b[a.f.take(b):]
		if a.f.part == complete {
			a.waiting, a.f = false, framing{line: a.f.line[:0]}
		}
	}
	a.surplus = a.surplus || len(b) > 0
}

// part is what of an answer comes next.
type part int

const (
	head part = iota
	body
	chunkSize
	chunk
	trailer
	untilClose // an answer that only the end of the connection ends, or one that cannot be read
	complete
)

// framing follows one answer to a request that is no HEAD.
type framing struct {
	part part
	line []byte // the line that has begun to come
	left int64  // bytes of the body or chunk that are still to come
	// What the head says so far.
	status  int
	length  int64
	chunked bool
	first   bool // the status line has come
}

// maxLine bounds what is kept of a line: more is no answer.
const maxLine = 64 << 10

// take follows the answer into b and gives how many bytes belong to it.
func (f *framing) take(b []byte) int {
	used := 0
	for used < len(b) && f.part != complete {
		switch f.part {
		case body, chunk:
			n := min(f.left, int64(len(b)-used))
			used += int(n)
			if f.left -= n; f.left == 0 {
				f.ended()
			}
		case untilClose:
			return len(b)
		default:
			used += f.takeLine(b[used:])
		}
	}
	return used
}

func (f *framing) ended() {
	if f.part == chunk {
		f.part = chunkSize
		return
	}
	f.part = complete
}

func (f *framing) takeLine(b []byte) int {
	end := bytes.IndexByte(b, '\n')
	n := end + 1
	if end < 0 {
		n = len(b)
	}
	if f.line = append(f.line, b[:n]...); len(f.line) > maxLine {
		f.part = untilClose
		return n
	}
	if end >= 0 {
		line := strings.TrimRight(string(f.line), "\r\n")
		f.line = f.line[:0]
		f.read(line)
	}
	return n
}

func (f *framing) read(line string) {
	switch {
	case f.part == trailer:
		if line == "" {
			f.part = complete
		}
	case f.part == chunkSize:
		f.readSize(line)
	case !f.first:
		f.readStatus(line)
	case line == "":
		f.headEnded()
	default:
		f.readHeader(line)
	}
}

func (f *framing) readStatus(line string) {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "HTTP/1.") {
		f.part = untilClose
		return
	}
	status, err := strconv.Atoi(fields[1])
	if err != nil {
		f.part = untilClose
		return
	}
	f.first, f.status, f.length = true, status, -1
}

func (f *framing) readHeader(line string) {
	name, value, _ := strings.Cut(line, ":")
	switch value = strings.TrimSpace(value); strings.ToLower(name) {
	case "content-length":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			f.length = n
		}
	case "transfer-encoding":
		f.chunked = f.chunked || strings.EqualFold(value, "chunked")
	}
}

func (f *framing) headEnded() {
	switch {
	case f.status == 101: // another protocol from here on
		f.part = untilClose
	case f.status/100 == 1:
		*f = framing{line: f.line} // a hint; the answer follows
	case f.status == 204 || f.status == 304 || !f.chunked && f.length == 0:
		f.part = complete
	case f.chunked:
		f.part = chunkSize
	case f.length > 0:
		f.part, f.left = body, f.length
	default:
		f.part = untilClose
	}
}

// readSize reads the line before a chunk. The line that ends a chunk is empty
// and counts as a part of it.
func (f *framing) readSize(line string) {
	size, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 16, 63)
	switch {
	case err != nil || n < 0 || n > 1<<40:
		f.part = untilClose
	case n == 0:
		f.part = trailer
	default:
		f.part, f.left = chunk, n+2
	}
}
