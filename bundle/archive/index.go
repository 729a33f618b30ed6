package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// entry is one line of the index at the end.
type entry struct {
	name   string // without the slash of a folder
	folder bool
	flags  uint16
	method uint16
	crc    uint32
	packed int64
	size   int64
	header int64 // where its own header begins
	data   int64 // where its contents begin
}

// Methods and flags of the format.
const (
	store   = 0
	deflate = 8

	flagLevels     = 1<<1 | 1<<2
	flagDescriptor = 1 << 3
	flagUTF8       = 1 << 11
	flagsEncrypted = 1<<0 | 1<<6 | 1<<13
)

const (
	sigEnd        = "PK\x05\x06"
	sigEnd64      = "PK\x06\x07"
	sigCentral    = "PK\x01\x02"
	sigLocal      = "PK\x03\x04"
	sigDescriptor = "PK\x07\x08"

	endLen     = 22
	centralLen = 46
	localLen   = 30
)

func refuse(rule, name, format string, args ...any) *Error {
	return &Error{Rule: rule, Name: name, Message: fmt.Sprintf(format, args...)}
}

// ending is the record at the end of the file.
type ending struct {
	entries int
	at      int64 // where the index begins
	len     int64
}

func readEnding(r io.ReaderAt, size int64) (ending, error) {
	tail := make([]byte, min(size, endLen+maxComment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return ending{}, fmt.Errorf("read the end of the archive: %w", err)
	}
	i := bytes.LastIndex(tail, []byte(sigEnd))
	switch {
	case i < 0 && bytes.HasPrefix(tail, []byte("PK")):
		return ending{}, refuse("zip_end", "", "the archive is cut off")
	case i < 0:
		return ending{}, refuse("zip_not", "", "not a zip file, or one with a comment of more than %d bytes or text behind it", maxComment)
	case bytes.Count(tail, []byte(sigEnd)) > 1:
		return ending{}, refuse("zip_end", "", "the archive ends more than once")
	case len(tail)-i < endLen:
		return ending{}, refuse("zip_end", "", "the archive is cut off")
	}
	rec := tail[i:]
	if comment := int(binary.LittleEndian.Uint16(rec[20:])); comment != len(rec)-endLen {
		return ending{}, refuse("zip_end", "", "there are bytes behind the end of the archive")
	}
	if bytes.Contains(tail[:i], []byte(sigEnd64)) && i >= 20 && string(tail[i-20:i-16]) == sigEnd64 {
		return ending{}, refuse("zip64", "", "the archive uses zip64")
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(rec[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(rec[at:]) }
	e := ending{entries: int(u16(10)), at: int64(u32(16)), len: int64(u32(12))}
	switch {
	case u16(10) == 0xffff || u32(12) == 0xffffffff || u32(16) == 0xffffffff:
		return ending{}, refuse("zip64", "", "the archive claims sizes that only zip64 has")
	case u16(4) != 0 || u16(6) != 0 || u16(8) != u16(10):
		return ending{}, refuse("zip_end", "", "the archive is a part of several")
	case e.entries > MaxEntries:
		return ending{}, refuse("zip_entries", "", "more than %d entries", MaxEntries)
	case e.at+e.len != size-int64(len(rec)):
		return ending{}, refuse("zip_end", "", "the index does not end where the archive ends")
	case e.len > maxIndex:
		return ending{}, refuse("zip_index", "", "an index of more than %d bytes", maxIndex)
	}
	return e, nil
}

// readIndex reads and checks the index at the end, entry by entry.
func readIndex(r io.ReaderAt, e ending) ([]*entry, error) {
	in := bufio.NewReader(io.NewSectionReader(r, e.at, e.len))
	all := make([]*entry, 0, min(e.entries, int(e.len/centralLen)+1))
	var unpacked int64
	for range e.entries {
		x, err := readCentral(in)
		if err != nil {
			return nil, err
		}
		if unpacked += x.size; unpacked > MaxUnpacked {
			return nil, refuse("zip_unpacked", "", "the contents have more than %d bytes", MaxUnpacked)
		}
		all = append(all, x)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, refuse("zip_index", "", "the index holds more than the archive says")
	}
	return all, nil
}

func readCentral(in *bufio.Reader) (*entry, error) {
	var rec [centralLen]byte
	if err := full(in, rec[:]); err != nil {
		return nil, err
	}
	if string(rec[:4]) != sigCentral {
		return nil, refuse("zip_index", "", "a broken index")
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(rec[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(rec[at:]) }
	nameLen, extraLen, commentLen := int(u16(28)), int(u16(30)), int(u16(32))
	if nameLen == 0 || nameLen > maxName+1 {
		return nil, refuse("zip_name", "", "a name of %d bytes", nameLen)
	}
	if extraLen > maxExtra || commentLen > maxComment {
		return nil, refuse("zip_comment", "", "an entry with more than %d bytes of notes", maxComment)
	}
	rest := make([]byte, nameLen+extraLen+commentLen)
	if err := full(in, rest); err != nil {
		return nil, err
	}
	x := &entry{
		name: string(rest[:nameLen]), flags: u16(8), method: u16(10), crc: u32(16),
		packed: int64(u32(20)), size: int64(u32(24)), header: int64(u32(42)),
	}
	if u32(20) == 0xffffffff || u32(24) == 0xffffffff || u32(42) == 0xffffffff {
		return nil, refuse("zip64", x.name, "an entry claims sizes that only zip64 has")
	}
	if u16(34) != 0 {
		return nil, refuse("zip_index", x.name, "an entry in another part of the archive")
	}
	if err := checkExtra(x.name, rest[nameLen:nameLen+extraLen]); err != nil {
		return nil, err
	}
	if err := checkName(x); err != nil {
		return nil, err
	}
	return x, checkEntry(x, u32(38))
}

func full(in io.Reader, b []byte) error {
	if _, err := io.ReadFull(in, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse("zip_index", "", "the index is cut off")
	} else if err != nil {
		return fmt.Errorf("read the index of the archive: %w", err)
	}
	return nil
}

// checkExtra refuses notes that change what an entry is.
func checkExtra(name string, extra []byte) error {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		switch id {
		case 0x0001:
			return refuse("zip64", name, "an entry uses zip64")
		case 0x7075:
			return refuse("zip_name", name, "an entry with a second name")
		case 0x9901, 0x0017:
			return refuse("zip_encrypted", name, "an encrypted entry")
		}
		if n > len(extra)-4 {
			return refuse("zip_index", name, "notes that are cut off")
		}
		extra = extra[4+n:]
	}
	return nil
}

// checkEntry looks at what an entry is. attributes are the external ones.
func checkEntry(x *entry, attributes uint32) error {
	const typeBits, regular, folder, special = 0o170000, 0o100000, 0o040000, 0o7000
	mode := attributes >> 16
	kind := mode & typeBits
	switch {
	case x.flags&flagsEncrypted != 0:
		return refuse("zip_encrypted", x.name, "an encrypted entry")
	case x.flags&^(flagLevels|flagDescriptor|flagUTF8) != 0:
		return refuse("zip_method", x.name, "an entry with flags that are not known")
	case x.method != store && x.method != deflate:
		return refuse("zip_method", x.name, "compressed by method %d", x.method)
	case x.method == store && x.flags&flagDescriptor != 0:
		return refuse("zip_method", x.name, "an uncompressed entry that does not say its length")
	case kind != 0 && kind != regular && kind != folder, mode&special != 0:
		return refuse("zip_mode", x.name, "not a plain file")
	case (kind == folder) != x.folder && kind != 0, x.folder && (x.size != 0 || x.packed != 0):
		return refuse("zip_mode", x.name, "an entry that is a file by one mark and a folder by another")
	case x.method == store && x.packed != x.size:
		return refuse("zip_index", x.name, "an uncompressed entry with two lengths")
	case x.size > freeRatio && x.size/maxRatio > x.packed:
		return refuse("zip_ratio", x.name, "the contents are more than %d times as long as in the archive", maxRatio)
	}
	return nil
}

// checkNames refuses entries that are one file, or would be on some system.
func checkNames(all []*entry) error {
	exact, folded := map[string]*entry{}, map[string]bool{}
	for _, x := range all {
		if exact[x.name] != nil {
			return refuse("zip_name_repeated", x.name, "two entries with the same name")
		}
		exact[x.name] = x
		key := fold(x.name)
		if folded[key] {
			return refuse("zip_name_collision", x.name, "two entries whose names are one name on some systems")
		}
		folded[key] = true
	}
	for _, x := range all {
		for up := x.name; ; {
			i := strings.LastIndexByte(up, '/')
			if i < 0 {
				break
			}
			up = up[:i]
			outer := exact[up]
			if outer != nil && !outer.folder || outer == nil && folded[fold(up)] {
				return refuse("zip_name_collision", x.name, "an entry inside another one that is no folder of this name")
			}
		}
	}
	return nil
}
