package archive

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// File is what Write takes of one file.
type File struct {
	// Name must pass the rules of names and be ASCII.
	Name string
	Size int64
	// CRC is the IEEE checksum of the contents.
	CRC  uint32
	Open func() (io.ReadCloser, error)
}

// Write writes an uncompressed zip file of the files, in their order. The
// bytes depend on names and contents alone: every entry has the first date
// that the format knows and mode 0644. Contents that are no longer what File
// says are an error.
func Write(w io.Writer, files []File) error {
	out := &counter{w: w}
	var index []byte
	for _, f := range files {
		x := &entry{name: f.Name}
		if !ascii(f.Name) {
			return fmt.Errorf("write archive: a name that is not ASCII")
		}
		if err := checkName(x); err != nil {
			return fmt.Errorf("write archive: %w", err)
		}
		at := out.n
		if _, err := out.Write(header(nil, sigLocal, f)); err != nil {
			return fmt.Errorf("write archive: %w", err)
		}
		if err := copyChecked(out, f); err != nil {
			return fmt.Errorf("write %s into the archive: %w", f.Name, err)
		}
		index = header(index, sigCentral, f)
		binary.LittleEndian.PutUint32(index[len(index)-len(f.Name)-4:], uint32(at))
	}
	start := out.n
	end := append([]byte(sigEnd), 0, 0, 0, 0)
	end = binary.LittleEndian.AppendUint16(end, uint16(len(files)))
	end = binary.LittleEndian.AppendUint16(end, uint16(len(files)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(index)))
	end = binary.LittleEndian.AppendUint32(end, uint32(start))
	end = append(end, 0, 0)
	if start+int64(len(index)+len(end)) > MaxBytes || len(files) > MaxEntries {
		return refuse("zip_too_large", "", "the archive would have more than %d bytes or %d entries", MaxBytes, MaxEntries)
	}
	if _, err := out.Write(append(index, end...)); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// header appends the header of a file, the one before it or the one of the
// index; the latter ends with the place of the former, left zero, and the
// name.
func header(b []byte, sig string, f File) []byte {
	const version, made, date, mode = 10, 3<<8 | 20, 1<<5 | 1, 0o100644
	le := binary.LittleEndian
	b = append(b, sig...)
	if sig == sigCentral {
		b = le.AppendUint16(b, made)
	}
	for _, v := range []uint16{version, 0, store, 0, date} {
		b = le.AppendUint16(b, v)
	}
	for _, v := range []uint32{f.CRC, uint32(f.Size), uint32(f.Size)} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint16(b, uint16(len(f.Name)))
	b = le.AppendUint16(b, 0)
	if sig == sigCentral {
		b = append(b, 0, 0, 0, 0, 0, 0) // no comment, first part, no kind
		b = le.AppendUint32(b, mode<<16)
		b = le.AppendUint32(b, 0)
	}
	return append(b, f.Name...)
}

func copyChecked(w io.Writer, f File) error {
	if f.Size < 0 || f.Size > MaxBytes {
		return refuse("zip_too_large", f.Name, "the file has more than %d bytes", MaxBytes)
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close() // read only
	sum := crc32.NewIEEE()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(in, f.Size+1))
	if err != nil {
		return err
	}
	if n != f.Size || sum.Sum32() != f.CRC {
		return fmt.Errorf("the file changed while it was read")
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
