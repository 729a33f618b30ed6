// Package checkpoint keeps the connector's state in one private file.
//
// The file is a schema line and then one record a line: a checksum, a sequence
// number and a change as JSON. A save appends a record and forces it to the
// medium, so that its cost does not grow with the state; when the records have
// outgrown the state, the file is written anew beside its place and renamed.
// A crash can leave nothing worse than a part of a last record, which was never
// acknowledged and is dropped. Anything else that does not add up is refused: a
// state that is guessed would lose runs.
//
// One process at a time holds the file, by a lock on FILE.lock. The file holds
// ids, times and counts, and no key.
package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/evalrouter/evalrouter/langsmith"
)

// Schema is the first line of a state file.
const Schema = "evalrouter.langsmith.state.v1"

// maxRecord bounds one record.
const maxRecord = 8 << 20

// ErrCorrupt is a file that is no state of this version, or a damaged one.
var ErrCorrupt = errors.New("the state file cannot be trusted")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendRecord adds one record to b.
func AppendRecord(b []byte, seq int64, c langsmith.Change) ([]byte, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return b, fmt.Errorf("write change: %w", err)
	}
	rest := append(strconv.AppendInt(nil, seq, 10), ' ')
	rest = append(rest, body...)
	b = fmt.Appendf(b, "%08x ", crc32.Checksum(rest, castagnoli))
	return append(append(b, rest...), '\n'), nil
}

// Replay reads a state. It returns the last sequence number and how many bytes
// of the input are whole records; what follows them is the part of a record
// that a crash left. An empty input is a new state.
func Replay(r io.Reader) (s *langsmith.State, seq, size int64, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	s = langsmith.NewState()
	head, err := line(in)
	switch {
	case err == io.EOF && (len(head) == 0 || bytes.HasPrefix([]byte(Schema+"\n"), head)):
		return s, 0, 0, nil
	case err != nil && err != io.EOF:
		return nil, 0, 0, err
	case string(head) != Schema+"\n":
		return nil, 0, 0, fmt.Errorf("%w: its first line is not %s", ErrCorrupt, Schema)
	}
	size = int64(len(head))
	for n := 2; ; n++ {
		text, err := line(in)
		if err == io.EOF { // no line end: a part of a record, or nothing
			return s, seq, size, nil
		}
		if err != nil {
			return nil, 0, 0, err
		}
		c, err := parse(text, seq+1)
		if err != nil {
			if _, more := in.Peek(1); more == io.EOF {
				return s, seq, size, nil
			}
			return nil, 0, 0, fmt.Errorf("%w: line %d: %w", ErrCorrupt, n, err)
		}
		s.Apply(c)
		seq, size = seq+1, size+int64(len(text))
	}
}

func line(in *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := in.ReadSlice('\n')
		out = append(out, part...)
		if err != bufio.ErrBufferFull {
			if err != nil && err != io.EOF {
				err = fmt.Errorf("read state: %w", err)
			}
			return out, err
		}
		if len(out) > maxRecord {
			return nil, fmt.Errorf("%w: a record of more than %d bytes", ErrCorrupt, maxRecord)
		}
	}
}

func parse(text []byte, seq int64) (c langsmith.Change, err error) {
	if len(text) < 12 || text[8] != ' ' {
		return c, errors.New("no record")
	}
	sum, err := strconv.ParseUint(string(text[:8]), 16, 32)
	rest := text[9 : len(text)-1]
	if err != nil || uint32(sum) != crc32.Checksum(rest, castagnoli) {
		return c, errors.New("its checksum is wrong")
	}
	number, body, _ := bytes.Cut(rest, []byte(" "))
	if string(number) != strconv.FormatInt(seq, 10) {
		return c, fmt.Errorf("it has number %s instead of %d", number, seq)
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return c, errors.New("it is no change of this version")
	}
	return c, nil
}
