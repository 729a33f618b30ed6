package spool_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
)

// memory is a file.
type memory struct {
	b  []byte
	at int
}

func (m *memory) Read(p []byte) (int, error) {
	if m.at == len(m.b) {
		return 0, io.EOF
	}
	n := copy(p, m.b[m.at:])
	m.at += n
	return n, nil
}

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if at > int64(len(m.b)) {
		return 0, errors.New("a hole in the file")
	}
	m.b = append(m.b[:at:at], append(bytes.Clone(p), m.b[min(int(at)+len(p), len(m.b)):]...)...)
	return len(p), nil
}

func (m *memory) Truncate(size int64) error { m.b = m.b[:size]; return nil }
func (m *memory) Close() error              { return nil }

// record frames a body as the file does.
func record(body string) []byte {
	head := make([]byte, 8)
	binary.LittleEndian.PutUint32(head, uint32(len(body)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)))
	return append(head, body...)
}

// FuzzOver opens any bytes: what is whole at the beginning is given back, the
// rest is not, and an answer that is kept afterwards stands behind it.
func FuzzOver(f *testing.F) {
	whole := record(`{"Run":"r","Idx":1,"Call":"c"}`)
	for _, seed := range [][]byte{
		nil, whole, append(bytes.Clone(whole), whole...), whole[:len(whole)-1], whole[:5], append(bytes.Clone(whole), 0xff),
		record(``), record(`null`), record(`{"Idx":"one"}`), record(`[]`), record(`{"Usage":{"input":-1}}`), {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, {0, 0, 0, 4, 0, 0, 0, 0}, make([]byte, 64),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 && binary.LittleEndian.Uint32(data) > 1<<20 && binary.LittleEndian.Uint32(data) <= 64<<20 {
			return // a length that is allowed, and memory that a fuzzer must not take
		}
		file := &memory{b: bytes.Clone(data)}
		s, left, err := spool.Over(file, &memory{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Keep(answer(3)); err != nil {
			t.Fatal(err)
		}
		file.at = 0
		_, again, err := spool.Over(file, &memory{})
		if err != nil {
			t.Fatal(err)
		}
		want := append(append([]core.Response{}, left...), answer(3))
		if len(again) < len(want) {
			t.Fatalf("%d records after one was kept behind %d", len(again), len(left))
		}
		if d := cmp.Diff(want, again[:len(want)]); d != "" {
			t.Fatal(d)
		}
		if err := s.Reset(); err != nil || len(file.b) != 0 {
			t.Fatalf("%d bytes after a reset: %v", len(file.b), err)
		}
	})
}
