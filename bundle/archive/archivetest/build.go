// Package archivetest is zip files that somebody made in order to harm, each
// with the rule that must refuse it. They are built when asked for: the
// largest would be no file for a repository.
package archivetest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// Entry is one entry as it will stand in the file. Its two headers are written
// from the same fields and may then be changed apart from each other.
type Entry struct {
	Name    string
	Data    []byte // before compression
	Deflate bool
	Flags   uint16
	Mode    uint32 // as a Unix mode; 0 is a plain file
	Extra   []byte // in both headers
	Comment string
	// Descriptor puts the lengths behind the contents, as a stream does.
	Descriptor bool
	// Packed replaces the bytes that stand in the file for Data.
	Packed []byte
	// Size and CRC replace what the headers say of Data.
	Size *uint32
	CRC  *uint32
	// Local and Central change a finished header.
	Local, Central func(header []byte)
	// At replaces where the index says that the entry begins.
	At *uint32
	// Gap stands behind the entry.
	Gap []byte
}

// End is the end of the file.
type End struct {
	Entries       *uint16
	Comment       string
	Before, After []byte // before the index's end record, and behind all
	Change        func(record []byte)
}

var le = binary.LittleEndian

// Build writes a zip file.
func Build(entries []Entry, end End) []byte {
	var out, index []byte
	for _, e := range entries {
		at := uint32(len(out))
		if e.At != nil {
			at = *e.At
		}
		local, central, packed := e.headers(at)
		out = append(out, local...)
		out = append(out, packed...)
		if e.Descriptor {
			out = append(out, "PK\x07\x08"...)
			out = append(out, central[16:28]...)
		}
		out = append(out, e.Gap...)
		index = append(index, central...)
	}
	start := len(out)
	out = append(out, index...)
	out = append(out, end.Before...)
	n := uint16(len(entries))
	if end.Entries != nil {
		n = *end.Entries
	}
	rec := append([]byte("PK\x05\x06"), 0, 0, 0, 0)
	rec = le.AppendUint16(le.AppendUint16(rec, n), n)
	rec = le.AppendUint32(le.AppendUint32(rec, uint32(len(index))), uint32(start))
	rec = append(le.AppendUint16(rec, uint16(len(end.Comment))), end.Comment...)
	if end.Change != nil {
		end.Change(rec)
	}
	return append(append(out, rec...), end.After...)
}

// Offsets of fields in a local header; those of the index are given by
// CentralOffset.
const (
	AtFlags   = 6
	AtMethod  = 8
	AtCRC     = 14
	AtPacked  = 18
	AtSize    = 22
	AtNameLen = 26
	AtName    = 30

	CentralShift = 2 // flags to name length stand two bytes later
	AtCentral    = 46
)

func (e Entry) headers(at uint32) (local, central, packed []byte) {
	method, packed := uint16(0), e.Data
	if e.Deflate {
		method, packed = 8, Deflate(e.Data)
	}
	if e.Packed != nil {
		packed = e.Packed
	}
	size, crc, mode := uint32(len(e.Data)), crc32.ChecksumIEEE(e.Data), e.Mode
	if e.Size != nil {
		size = *e.Size
	}
	if e.CRC != nil {
		crc = *e.CRC
	}
	if mode == 0 {
		mode = 0o100644
	}
	flags := e.Flags
	if e.Descriptor {
		flags |= 8
	}
	body := le.AppendUint16(nil, 20)
	body = le.AppendUint16(le.AppendUint16(body, flags), method)
	body = append(body, 0, 0, 0x21, 0)
	body = le.AppendUint32(le.AppendUint32(le.AppendUint32(body, crc), uint32(len(packed))), size)
	body = le.AppendUint16(le.AppendUint16(body, uint16(len(e.Name))), uint16(len(e.Extra)))
	local = append([]byte("PK\x03\x04"), body...)
	if e.Descriptor {
		clear(local[AtCRC:AtNameLen])
	}
	local = append(append(local, e.Name...), e.Extra...)
	central = append([]byte("PK\x01\x02\x14\x03"), body...)
	central = le.AppendUint16(central, uint16(len(e.Comment)))
	central = append(central, 0, 0, 0, 0)
	central = le.AppendUint32(le.AppendUint32(central, mode<<16), at)
	central = append(append(append(central, e.Name...), e.Extra...), e.Comment...)
	if e.Local != nil {
		e.Local(local)
	}
	if e.Central != nil {
		e.Central(central)
	}
	return local, central, packed
}

// Deflate compresses.
func Deflate(data []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic("archivetest: " + err.Error())
	}
	if _, err := w.Write(data); err != nil {
		panic("archivetest: " + err.Error())
	}
	if err := w.Close(); err != nil {
		panic("archivetest: " + err.Error())
	}
	return b.Bytes()
}
