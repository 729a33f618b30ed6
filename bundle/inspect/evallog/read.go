package evallog

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/evalrouter/evalrouter/bundle/inspect/dataset"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// zstdMethod is the compression method of the current writer, which the
// standard library does not know.
const zstdMethod = 93

// Read is ReadWithin the default limits.
func Read(r io.ReaderAt, size int64) (*Log, error) { return ReadWithin(r, size, DefaultLimits()) }

// ReadWithin reads a whole log, an archive or a document by its first bytes.
// Samples of an archive come in the order of Inspect: by epoch, then by id.
func ReadWithin(r io.ReaderAt, size int64, limits Limits) (*Log, error) {
	start := make([]byte, 4)
	n, err := r.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read log: %w", err)
	}
	if bytes.HasPrefix(start[:n], []byte("PK")) {
		return readArchive(r, size, limits)
	}
	return readDocument(io.NewSectionReader(r, 0, size), limits)
}

func readDocument(r io.Reader, limits Limits) (*Log, error) {
	doc, err := object(r, limits.Member)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	l := &Log{Head: doc, Reductions: list(doc, "reductions")}
	for i, item := range list(doc, "samples") {
		s, ok := item.(*value.Dict)
		if !ok {
			return nil, fmt.Errorf("read log: sample %d is a value of type %s", i+1, value.TypeName(item))
		}
		l.Samples = append(l.Samples, s)
	}
	doc.Delete("samples")
	doc.Delete("reductions")
	return l, nil
}

func readArchive(r io.ReaderAt, size int64, limits Limits) (*Log, error) {
	a, err := openArchive(r, size, limits)
	if err != nil {
		return nil, fmt.Errorf("open log archive: %w", err)
	}
	l := &Log{}
	if l.Head, err = a.head(); err != nil {
		return nil, fmt.Errorf("read log archive: %w", err)
	}
	for _, f := range a.zip.File {
		if !isSample(f.Name) {
			continue
		}
		s, err := a.object(f)
		if err != nil {
			return nil, fmt.Errorf("read log archive: %w", err)
		}
		l.Samples = append(l.Samples, s)
	}
	sortSamples(l.Samples)
	if f := a.find("reductions.json"); f != nil {
		v, err := a.value(f)
		if err != nil {
			return nil, fmt.Errorf("read log archive: %w", err)
		}
		l.Reductions, _ = v.([]any)
	}
	return l, nil
}

// isSample says whether a member is a sample. Inspect does not escape ids, so
// that one with a slash, such as HumanEval/0, names a file in a folder.
func isSample(name string) bool {
	return strings.HasPrefix(name, "samples/") && strings.HasSuffix(name, ".json")
}

// sortSamples orders by epoch, then by id.
func sortSamples(samples []*value.Dict) {
	type key struct {
		epoch int64
		id    string
	}
	keyOf := func(s *value.Dict) key {
		id, _ := s.Get("id")
		epoch, _ := s.Get("epoch")
		n, _ := epoch.(int64)
		return key{n, dataset.SortKey(id)}
	}
	slices.SortStableFunc(samples, func(a, b *value.Dict) int {
		x, y := keyOf(a), keyOf(b)
		if x.epoch != y.epoch {
			return int(min(max(x.epoch-y.epoch, -1), 1))
		}
		return strings.Compare(x.id, y.id)
	})
}

// archive is an open .eval file with the bytes that may still be read of it.
type archive struct {
	zip    *zip.Reader
	member int64
	left   int64
}

func openArchive(r io.ReaderAt, size int64, limits Limits) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	if len(z.File) > limits.Members {
		return nil, ErrTooLarge
	}
	z.RegisterDecompressor(zstdMethod, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limits.Member))))
	return &archive{zip: z, member: limits.Member, left: limits.Total}, nil
}

func (a *archive) find(name string) *zip.File {
	for _, f := range a.zip.File {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// head is header.json or, of a log that was never finished, what its journal
// began with.
func (a *archive) head() (*value.Dict, error) {
	if f := a.find("header.json"); f != nil {
		return a.object(f)
	}
	f := a.find("_journal/start.json")
	if f == nil {
		return nil, errors.New("the archive is no Inspect log: it has neither header.json nor _journal/start.json")
	}
	start, err := a.object(f)
	if err != nil {
		return nil, err
	}
	if _, ok := start.Get("status"); !ok {
		err = start.Set("status", "started")
	}
	return start, err
}

func (a *archive) object(f *zip.File) (*value.Dict, error) {
	v, err := a.value(f)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, fmt.Errorf("%s holds a value of type %s, not an object", f.Name, value.TypeName(v))
	}
	return d, nil
}

func (a *archive) value(f *zip.File) (any, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.Name, err)
	}
	v, n, err := parse(r, min(a.member, a.left))
	a.left -= n
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	return v, nil
}

// parse reads JSON of at most the given size. n is how much was read.
func parse(r io.Reader, most int64) (v any, n int64, err error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	n = int64(len(data))
	switch {
	case err != nil:
		return nil, n, err
	case n > most:
		return nil, n, ErrTooLarge
	case !utf8.Valid(data):
		return nil, n, errors.New("the text is not UTF-8")
	}
	v, err = value.Loads(string(data))
	return v, n, err
}

func object(r io.Reader, most int64) (*value.Dict, error) {
	v, _, err := parse(r, most)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, fmt.Errorf("the log is a value of type %s, not an object", value.TypeName(v))
	}
	return d, nil
}
