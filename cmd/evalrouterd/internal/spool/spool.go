// Package spool keeps paid answers on disk from the moment they are received
// until the database has them.
//
// Between a provider's answer and the commit that records it, a process can
// die or the database can be out of reach. The answer is in this file by then,
// so the next start records it instead of calling it unknown. A record is
// written with one write and not synced: that survives the death of the
// process, and the commit that follows within milliseconds survives a power
// cut. What a power cut takes in between is honestly unknown.
package spool

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// File layout: records of 4 bytes length, 4 bytes CRC-32C of the body, and the
// body, a core.Response as JSON; numbers are little-endian. A record that is
// cut off or damaged ends the file: nothing after it can be trusted.
const headerSize = 8

// maxRecord bounds one record; a larger length is damage.
const maxRecord = 64 << 20

// truncateAt is the size from which the file is emptied once the database has
// everything in it.
const truncateAt = 8 << 20

// File is what a spool needs of an *os.File. It is read once, from its start.
type File interface {
	io.Reader
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

// Spool is an open file. It is safe for concurrent use by one process.
type Spool struct {
	mu   sync.Mutex
	file File
	size int64
	open int // records that the database does not have yet
}

// Open opens or creates the file and gives what an earlier process left in
// it, oldest first. The file keeps these records until Reset.
func Open(path string) (*Spool, []core.Response, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open spool: %w", err)
	}
	return Over(f)
}

// Over is Open on a file that is open already. It closes the file when it
// cannot be read.
func Over(f File) (*Spool, []core.Response, error) {
	left, end, err := read(f)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read spool: %w", err), f.Close())
	}
	return &Spool{file: f, size: end}, left, nil
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
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	record := make([]byte, headerSize, headerSize+len(body))
	binary.LittleEndian.PutUint32(record, uint32(len(body)))
	binary.LittleEndian.PutUint32(record[4:], checksum(body))
	record = append(record, body...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(record, s.size); err != nil {
		return nil, fmt.Errorf("write spool: %w", err) // the next record overwrites what was begun
	}
	s.size += int64(len(record))
	s.open++
	return s.done, nil
}

func (s *Spool) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open == 0 && s.size >= truncateAt && s.file.Truncate(0) == nil {
		s.size = 0
	}
}

// Reset empties the file, once everything that Open gave is recorded.
func (s *Spool) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("empty spool: %w", err)
	}
	s.size = 0
	return nil
}

// Close closes the file.
func (s *Spool) Close() error { return s.file.Close() }
