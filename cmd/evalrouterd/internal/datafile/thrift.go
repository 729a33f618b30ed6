package datafile

import "encoding/binary"

// Bounds of what a footer may declare. The library makes room for a list when it
// reads how long it says it is, and an element can take a kilobyte.
const (
	maxStructs = 100_000
	maxScalars = 4_000_000
	maxNesting = 16
)

// footerHolds says whether a footer holds as much as it declares: one structure
// in Thrift's compact protocol, with lists that are not longer than their bytes.
func footerHolds(b []byte) bool {
	w := &walker{b: b}
	return w.structure(0) && w.structs <= maxStructs && w.scalars <= maxScalars
}

// walker passes over values without keeping any.
type walker struct {
	b                []byte
	structs, scalars int
}

// Types of the compact protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftByte
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

func (w *walker) skip(n uint64) bool {
	if n > uint64(len(w.b)) {
		return false
	}
	w.b = w.b[n:]
	return true
}

func (w *walker) octet() (byte, bool) {
	if len(w.b) == 0 {
		return 0, false
	}
	c := w.b[0]
	w.b = w.b[1:]
	return c, true
}

func (w *walker) varint() (uint64, bool) {
	n, used := binary.Uvarint(w.b)
	if used <= 0 {
		return 0, false
	}
	w.b = w.b[used:]
	return n, true
}

func (w *walker) structure(depth int) bool {
	if w.structs++; depth > maxNesting || w.structs > maxStructs {
		return false
	}
	for {
		head, ok := w.octet()
		switch {
		case !ok:
			return false
		case head == 0:
			return true
		case head>>4 == 0: // the field's id does not follow from the one before
			if _, ok := w.varint(); !ok {
				return false
			}
		}
		if kind := head & 0x0f; kind != thriftTrue && kind != thriftFalse && !w.value(kind, depth) {
			return false
		}
	}
}

func (w *walker) value(kind byte, depth int) bool {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, ok := w.varint()
		return ok
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, ok := w.varint()
		return ok && w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftMap:
		return w.pairs(depth)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return false
}

func (w *walker) list(depth int) bool {
	head, ok := w.octet()
	n := uint64(head >> 4)
	if ok && n == 15 {
		n, ok = w.varint()
	}
	return ok && w.elements(n, depth, head&0x0f)
}

func (w *walker) pairs(depth int) bool {
	n, ok := w.varint()
	if !ok || n == 0 {
		return ok
	}
	head, ok := w.octet()
	return ok && w.elements(n, depth, head>>4, head&0x0f)
}

// elements passes over n times the kinds. An element takes a byte at least.
func (w *walker) elements(n uint64, depth int, kinds ...byte) bool {
	if n > uint64(len(w.b)) || depth >= maxNesting {
		return false
	}
	if w.scalars += int(n); w.scalars > maxScalars {
		return false
	}
	for range n {
		for _, kind := range kinds {
			if !w.value(kind, depth+1) {
				return false
			}
		}
	}
	return true
}
