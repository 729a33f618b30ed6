package archive

import (
	"bufio"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Archive is a checked zip file as a file system for reading. It may be used
// by several goroutines when its ReaderAt may.
type Archive struct {
	r     io.ReaderAt
	nodes map[string]*node
}

// node is a file or a folder. Folders need no entry of their own.
type node struct {
	name  string // the last part
	entry *entry // nil for a folder
	inner []fs.DirEntry
}

// Open checks the whole index of a zip file. What is refused is refused with
// an *Error; other errors are of reading.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	if size > MaxBytes {
		return nil, refuse("zip_too_large", "", "the archive has more than %d bytes", MaxBytes)
	}
	e, err := readEnding(r, size)
	if err != nil {
		return nil, err
	}
	all, err := readIndex(r, e)
	if err != nil {
		return nil, err
	}
	if err := checkNames(all); err != nil {
		return nil, err
	}
	if err := checkLayout(r, all, e.at); err != nil {
		return nil, err
	}
	return newArchive(r, all), nil
}

func newArchive(r io.ReaderAt, all []*entry) *Archive {
	a := &Archive{r: r, nodes: map[string]*node{".": {name: "."}}}
	for _, x := range all {
		n := a.node(x.name)
		if !x.folder {
			n.entry = x
		}
	}
	for _, n := range a.nodes {
		slices.SortFunc(n.inner, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	}
	return a
}

// node finds or makes the node of a path, with the folders above it.
func (a *Archive) node(name string) *node {
	if n := a.nodes[name]; n != nil {
		return n
	}
	n := &node{name: path.Base(name)}
	a.nodes[name] = n
	up := a.node(path.Dir(name))
	up.inner = append(up.inner, n)
	return n
}

// Open opens a file or folder.
func (a *Archive) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	n := a.nodes[name]
	if n == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if n.entry == nil {
		return &folder{node: n}, nil
	}
	x := n.entry
	packed := bufio.NewReader(io.NewSectionReader(a.r, x.data, x.packed))
	f := &file{node: n, packed: packed, in: io.NopCloser(packed)}
	if x.method == deflate {
		f.in = flate.NewReader(packed)
	}
	return f, nil
}

// Name, IsDir, Type, Info, Size, Mode, ModTime and Sys make a node its own
// fs.DirEntry and fs.FileInfo.
func (n *node) Name() string               { return n.name }
func (n *node) IsDir() bool                { return n.entry == nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) Sys() any                   { return nil }

func (n *node) Size() int64 {
	if n.entry == nil {
		return 0
	}
	return n.entry.size
}

func (n *node) Mode() fs.FileMode {
	if n.entry == nil {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// folder is an open folder.
type folder struct {
	*node
	at int
}

func (d *folder) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *folder) Close() error               { return nil }

func (d *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a folder")}
}

func (d *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.inner[d.at:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	d.at += len(rest)
	return slices.Clone(rest), nil
}

// file is an open file. Its contents end with an error unless they have the
// length and checksum of the index and nothing is left in the archive.
type file struct {
	*node
	packed *bufio.Reader
	in     io.ReadCloser
	n      int64
	crc    uint32
	done   error
}

func (f *file) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *file) Close() error               { return f.in.Close() }

func (f *file) Read(p []byte) (int, error) {
	if f.done != nil {
		return 0, f.done
	}
	n, err := f.in.Read(p)
	f.n += int64(n)
	f.crc = crc32.Update(f.crc, crc32.IEEETable, p[:n])
	var broken flate.CorruptInputError
	switch {
	case f.n > f.entry.size:
		return 0, f.end("the contents are longer than the index says")
	case errors.As(err, &broken), errors.Is(err, io.ErrUnexpectedEOF):
		return n, f.end("the contents cannot be unpacked")
	case !errors.Is(err, io.EOF):
		return n, err
	case f.n != f.entry.size || f.crc != f.entry.crc:
		return n, f.end("the contents are not those of the index")
	}
	if _, err := f.packed.ReadByte(); !errors.Is(err, io.EOF) {
		return n, f.end("there is more in the archive than the contents")
	}
	f.done = io.EOF
	return n, io.EOF
}

func (f *file) end(message string) error {
	f.done = refuse("zip_content", f.entry.name, "%s", message)
	return f.done
}
