package traces

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// A value is kept as pieces, one behind the other: bytes as they are, or the
// hash of a content. Put together they are the value, byte for byte.
//
// What is made a content of its own are the elements of lists of two or more,
// wherever a list stands: the messages of a history, the documents of a search.
// Everything else is not likely to come again, and is bytes.

const (
	// leastContent is from how many bytes on something is a content: its hash and
	// its row must cost less than it.
	leastContent = 192
	// leastPacked is from how many bytes on compressing is worth its time.
	leastPacked = 200
	hashLen     = 16
	// packers compress at a time: requests pack what they bring before it waits
	// for the one transaction.
	packers = 4
	// maxLevels bounds how deep lists are looked for.
	maxLevels = 6
)

// Forms of what is stored: how the bytes behind the first one are to be read.
const (
	asIs   = 0
	packed = 1
)

// Kinds of piece.
const (
	pieceBytes   = 0
	pieceContent = 1
)

// packer compresses; it is safe for concurrent use.
type packer struct {
	in  *zstd.Encoder
	out *zstd.Decoder
}

func newPacker() (*packer, error) {
	// What has no repetition in it is left as it is at this level unless asked for:
	// prose of one message would be kept at its full length.
	in, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithAllLitEntropyCompression(true), zstd.WithEncoderConcurrency(packers), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("make a compressor: %w", err)
	}
	out, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16<<20))
	if err != nil {
		return nil, fmt.Errorf("make a decompressor: %w", err)
	}
	return &packer{in, out}, nil
}

func (p *packer) pack(b []byte) []byte {
	if len(b) >= leastPacked {
		if small := p.in.EncodeAll(b, append(make([]byte, 0, len(b)), packed)); len(small) <= len(b) {
			return small
		}
	}
	return append([]byte{asIs}, b...)
}

var errPieces = errors.New("a stored value cannot be read")

func (p *packer) unpack(b []byte) ([]byte, error) {
	switch {
	case len(b) == 0:
		return nil, errPieces
	case b[0] == asIs:
		return b[1:], nil
	case b[0] == packed:
		return p.out.DecodeAll(b[1:], nil)
	}
	return nil, errPieces
}

// cut makes pieces of a value in JSON and collects its contents.
func cut(value []byte, add func(hash [hashLen]byte, data []byte)) []byte {
	if value == nil {
		return nil
	}
	c := &cutter{add: add, out: make([]byte, 0, len(value)+8)}
	c.value(value, 0)
	c.flush()
	return c.out
}

// join puts a value together again. fetch gives a content by its hash.
func join(stored []byte, fetch func(hash [hashLen]byte) ([]byte, bool)) ([]byte, error) {
	if stored == nil {
		return nil, nil
	}
	out := []byte{}
	for b := stored; len(b) > 0; {
		kind := b[0]
		n, used := binary.Uvarint(b[1:])
		if used <= 0 || n > uint64(len(b)-1-used) {
			return nil, errPieces
		}
		piece := b[1+used : 1+used+int(n)]
		b = b[1+used+int(n):]
		switch kind {
		case pieceBytes:
			out = append(out, piece...)
		case pieceContent:
			if len(piece) != hashLen {
				return nil, errPieces
			}
			data, ok := fetch([hashLen]byte(piece))
			if !ok {
				return nil, errPieces
			}
			out = append(out, data...)
		default:
			return nil, errPieces
		}
	}
	return out, nil
}

// cutter walks one value.
type cutter struct {
	add   func(hash [hashLen]byte, data []byte)
	plain []byte // bytes that were not written yet
	out   []byte
}

func (c *cutter) flush() {
	if len(c.plain) > 0 {
		c.out = binary.AppendUvarint(append(c.out, pieceBytes), uint64(len(c.plain)))
		c.out = append(c.out, c.plain...)
		c.plain = c.plain[:0]
	}
}

func (c *cutter) content(b []byte) {
	c.flush()
	sum := sha256.Sum256(b)
	hash := [hashLen]byte(sum[:hashLen])
	c.add(hash, b)
	c.out = append(binary.AppendUvarint(append(c.out, pieceContent), hashLen), hash[:]...)
}

// value walks a value that is valid JSON without a byte to spare. Whatever it
// does not know goes out as it is.
func (c *cutter) value(b []byte, level int) {
	if len(b) < leastContent || level > maxLevels || b[0] != '{' && b[0] != '[' {
		c.plain = append(c.plain, b...)
		return
	}
	list := b[0] == '['
	alone := list && 1+valueLen(b[1:]) == len(b)-1
	c.plain = append(c.plain, b[0])
	at := 1
	for at < len(b)-1 {
		end := at + valueLen(b[at:])
		if end <= at || end > len(b)-1 {
			break
		}
		one := b[at:end]
		if !list { // the name, the colon, the value
			c.plain = append(c.plain, one...)
			if end >= len(b) || b[end] != ':' {
				at = end
				break
			}
			c.plain = append(c.plain, ':')
			at = end + 1
			if end = at + valueLen(b[at:]); end <= at || end > len(b)-1 {
				break
			}
			one = b[at:end]
		}
		if list && len(one) >= leastContent && one[0] != '[' && !alone {
			c.content(one)
		} else {
			c.value(one, level+1)
		}
		at = end
		if b[at] != ',' {
			break
		}
		c.plain = append(c.plain, ',')
		at++
	}
	c.plain = append(c.plain, b[at:]...)
}

// valueLen is how long the value at the beginning of b is, 0 when there is none.
func valueLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return textLen(b)
	case '{', '[':
		depth := 0
		for i := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				n := textLen(b[i:])
				if n == 0 {
					return 0
				}
				i += n - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return 0
	}
	if n := bytes.IndexAny(b, ",:]}"); n >= 0 {
		return n
	}
	return len(b)
}

// textLen finds the quote that no odd number of backslashes stands before.
func textLen(b []byte) int {
	for i := 1; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		from := i
		for from > 1 && b[from-1] == '\\' {
			from--
		}
		if (i-from)%2 == 0 {
			return i + 1
		}
	}
}
