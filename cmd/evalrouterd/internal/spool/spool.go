// Package spool keeps paid answers on disk from the moment they are received
// until the database has them.
//
// Between a provider's answer and the commit that records it, a process can
// die or the database can be out of reach. The answer is in a file by then,
// so the next start records it instead of calling it unknown. A record is
// written with one write and not synced: that survives the death of the
// process, and the commit that follows within milliseconds survives a power
// cut. What a power cut takes in between is honestly unknown.
package spool

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/scribe"
)

// File layout: records of 4 bytes length, 4 bytes CRC-32C of the body, and the
// body, a core.Response as JSON; numbers are little-endian. A record that is
// cut off or damaged ends the file: nothing after it can be trusted.
const headerSize = 8

// beside is about how much a record has beside its answer.
const beside = 1 << 10

// maxRecord bounds one record; a larger length is damage.
const maxRecord = 64 << 20

// switchAt is the size from which answers go to the other file. While the
// database keeps up, neither file grows far beyond it.
const switchAt = 8 << 20

// Second is what the name of the second file ends in.
const Second = ".2"

// File is what a spool needs of an *os.File. It is read once, from its start.
type File interface {
	io.Reader
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

// Spool is two open files, used in turn: while one takes answers, the other
// waits until the database has all that is in it, and is emptied. It is safe for
// concurrent use by one process.
type Spool struct {
	mu    sync.Mutex
	files [2]*half
	at    int // the file that takes answers
	// records are the buffers of records that were written, for the next ones.
	records sync.Pool
}

type half struct {
	file File
	size int64
	open int // records that the database does not have yet
	left int // records of an earlier process, until Reset
}

// Open opens or creates the files, at path and beside it, and gives what an
// earlier process left in them. They keep these records until Reset.
func Open(path string) (*Spool, []core.Response, error) {
	first, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open spool: %w", err)
	}
	second, err := os.OpenFile(path+Second, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open spool: %w", err), first.Close())
	}
	return Over(first, second)
}

// Over is Open on files that are open already. It closes them when they cannot
// be read.
func Over(first, second File) (*Spool, []core.Response, error) {
	s := &Spool{}
	var left []core.Response
	for i, f := range []File{first, second} {
		some, end, err := read(f)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("read spool: %w", err), first.Close(), second.Close())
		}
		s.files[i], left = &half{file: f, size: end, left: len(some)}, append(left, some...)
	}
	return s, left, nil
}

// read gives the whole records and where they end.
func read(f io.Reader) (out []core.Response, end int64, err error) {
	in := bufio.NewReader(f)
	for {
		var head [headerSize]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return out, end, plainEnd(err)
		}
		n := binary.LittleEndian.Uint32(head[:4])
		if n > maxRecord {
			return out, end, nil
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(in, body); err != nil {
			return out, end, plainEnd(err)
		}
		var r core.Response
		if checksum(body) != binary.LittleEndian.Uint32(head[4:]) || json.Unmarshal(body, &r) != nil {
			return out, end, nil
		}
		out, end = append(out, r), end+headerSize+int64(n)
	}
}

// plainEnd makes the end of a file, whole or cut, no error.
func plainEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Keep writes an answer. Call done once the database has it.
func (s *Spool) Keep(r core.Response) (done func(), err error) {
	buffer := s.buffer(headerSize + beside + base64.StdEncoding.EncodedLen(len(r.Raw)))
	defer s.recycle(buffer)
	record := scribe.Response((*buffer)[:headerSize], r)
	*buffer = record
	body := record[headerSize:]
	binary.LittleEndian.PutUint32(record, uint32(len(body)))
	binary.LittleEndian.PutUint32(record[4:], checksum(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.turn()
	if _, err := h.file.WriteAt(record, h.size); err != nil {
		return nil, fmt.Errorf("write spool: %w", err) // the next record overwrites what was begun
	}
	h.size += int64(len(record))
	h.open++
	return func() { s.done(h) }, nil
}

// buffer is empty memory for a record of about so many bytes.
func (s *Spool) buffer(size int) *[]byte {
	b, ok := s.records.Get().(*[]byte)
	if !ok || cap(*b) < size {
		b = new(make([]byte, 0, size))
	}
	return b
}

// maxBuffer is the largest buffer that is kept for other records.
const maxBuffer = 64 << 10

func (s *Spool) recycle(b *[]byte) {
	if cap(*b) <= maxBuffer {
		s.records.Put(b)
	}
}

// turn is the file that takes the next answer.
func (s *Spool) turn() *half {
	if other := s.files[1-s.at]; s.files[s.at].size >= switchAt && other.empty() {
		s.at = 1 - s.at
	}
	return s.files[s.at]
}

// empty empties the file where the database has all that is in it.
func (h *half) empty() bool {
	if h.open+h.left > 0 {
		return false
	}
	if h.size > 0 && h.file.Truncate(0) == nil {
		h.size = 0
	}
	return h.size == 0
}

func (s *Spool) done(h *half) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.open--; h.size >= switchAt {
		h.empty()
	}
}

// Trim empties what the database has: nobody's answers stay here longer than
// they must.
func (s *Spool) Trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.files {
		h.empty()
	}
}

// Reset empties the files, once everything that Open gave is recorded.
func (s *Spool) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.files {
		if err := h.file.Truncate(0); err != nil {
			return fmt.Errorf("empty spool: %w", err)
		}
		h.size, h.left = 0, 0
	}
	return nil
}

// Close closes the files.
func (s *Spool) Close() error { return errors.Join(s.files[0].file.Close(), s.files[1].file.Close()) }
