package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// checkLayout reads the header before every entry, holds it to the index and
// wants the entries to fill the file up to the index.
func checkLayout(r io.ReaderAt, all []*entry, end int64) error {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b *entry) int { return int(a.header - b.header) })
	var at int64
	for i, x := range sorted {
		if x.header != at {
			return refuse("zip_layout", x.name, "entries overlap, or there are bytes between them")
		}
		next := end
		if i+1 < len(sorted) {
			next = sorted[i+1].header
		}
		if err := checkLocal(r, x, next); err != nil {
			return err
		}
		at = next
	}
	if at != end {
		return refuse("zip_layout", "", "there are bytes before the index that no entry has")
	}
	return nil
}

// checkLocal holds the header of an entry to the index. next is where the next
// entry, or the index, begins.
func checkLocal(r io.ReaderAt, x *entry, next int64) error {
	differs := func(what string) error {
		return refuse("zip_local", x.name, "the two headers of an entry differ in %s", what)
	}
	var rec [localLen]byte
	if next-x.header < localLen {
		return refuse("zip_layout", x.name, "entries overlap")
	}
	if err := readAt(r, rec[:], x.header); err != nil {
		return err
	}
	if string(rec[:4]) != sigLocal {
		return refuse("zip_local", x.name, "no entry stands where the index says")
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(rec[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(rec[at:]) }
	nameLen, extraLen := int64(u16(26)), int64(u16(28))
	x.data = x.header + localLen + nameLen + extraLen
	dataEnd := x.data + x.packed
	want := int64(len(x.name))
	if x.folder {
		want++
	}
	switch {
	case nameLen != want:
		return differs("the name")
	case extraLen > maxExtra:
		return refuse("zip_comment", x.name, "an entry with more than %d bytes of notes", maxExtra)
	case dataEnd > next:
		return refuse("zip_layout", x.name, "entries overlap")
	case u16(6) != x.flags:
		return differs("the flags")
	case u16(8) != x.method:
		return differs("the method")
	}
	rest := make([]byte, nameLen+extraLen)
	if err := readAt(r, rest, x.header+localLen); err != nil {
		return err
	}
	if name := string(rest[:nameLen]); name != x.name && name != x.name+"/" {
		return differs("the name")
	}
	if err := checkExtra(x.name, rest[nameLen:]); err != nil {
		return err
	}
	crc, packed, size := u32(14), int64(u32(18)), int64(u32(22))
	same := crc == x.crc && packed == x.packed && size == x.size
	if x.flags&flagDescriptor == 0 {
		if !same {
			return differs("the lengths or the checksum")
		}
		if dataEnd != next {
			return refuse("zip_layout", x.name, "there are bytes behind an entry that nothing names")
		}
		return nil
	}
	if !same && (crc != 0 || packed != 0 || size != 0) {
		return differs("the lengths or the checksum")
	}
	return checkDescriptor(r, x, dataEnd, next)
}

// checkDescriptor reads the lengths that stand behind an entry whose header
// had none.
func checkDescriptor(r io.ReaderAt, x *entry, at, next int64) error {
	const plain, signed = 12, 16
	if next-at != plain && next-at != signed {
		return refuse("zip_layout", x.name, "there are bytes behind an entry that nothing names")
	}
	b := make([]byte, next-at)
	if err := readAt(r, b, at); err != nil {
		return err
	}
	if len(b) == signed {
		if string(b[:4]) != sigDescriptor {
			return refuse("zip_layout", x.name, "there are bytes behind an entry that nothing names")
		}
		b = b[4:]
	}
	if binary.LittleEndian.Uint32(b) != x.crc || int64(binary.LittleEndian.Uint32(b[4:])) != x.packed || int64(binary.LittleEndian.Uint32(b[8:])) != x.size {
		return refuse("zip_local", x.name, "the lengths behind an entry differ from the index")
	}
	return nil
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return refuse("zip_layout", "", "an entry reaches behind the end of the archive")
	}
	return fmt.Errorf("read the archive: %w", err)
}
