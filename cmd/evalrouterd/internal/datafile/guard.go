package datafile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Limits of a Parquet file, beside those of every source. They are what a
// reader would have to hold.
const (
	maxFooter     = 4 << 20
	maxPageHeader = 8 << 20   // four values of a row may stand in it
	maxPage       = 32 << 20  // of one page, unpacked
	maxUnpacked   = 256 << 20 // of all pages
	maxValues     = 10_000_000
	maxPages      = 100_000
)

// openParquet opens a file whose every page is what it says.
func openParquet(r io.ReaderAt, size int64) (*parquet.File, error) {
	if size < 12 || size > core.MaxSourceBytes {
		return nil, errBroken
	}
	var tail [8]byte
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, fault("parquet_encrypted", "the file is encrypted")
	case string(tail[4:]) != "PAR1" || footer > size-12:
		return nil, errBroken
	case footer > maxFooter:
		return nil, fault("parquet_footer", "the footer of the file is longer than %d bytes", maxFooter)
	}
	declared := make([]byte, footer)
	if _, err := r.ReadAt(declared, size-8-footer); err != nil {
		return nil, err
	}
	if !footerHolds(declared) {
		return nil, fault("parquet_footer", "the footer of the file declares more than it holds")
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, errBroken
	}
	g := guard{r: r, size: size - 8 - footer}
	for _, rg := range f.Metadata().RowGroups {
		for _, c := range rg.Columns {
			if err := g.chunk(c.MetaData, rg.NumRows); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// guard adds up what a file would unpack to.
type guard struct {
	r        io.ReaderAt
	size     int64 // of what is in front of the footer
	unpacked int64
	values   int64
	pages    int
	buf      []byte
}

func (g *guard) chunk(m format.ColumnMetaData, rows int64) error {
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		start = m.DictionaryPageOffset
	}
	end := start + m.TotalCompressedSize
	switch {
	case start < 4 || m.TotalCompressedSize < 0 || end > g.size || m.DataPageOffset < start || m.DataPageOffset > end, rows < 0, m.NumValues < 0:
		return errBroken
	case !slices.Contains([]format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Zstd}, m.Codec):
		return fault("parquet_codec", "a column is compressed with %s; none, SNAPPY, GZIP and ZSTD are read", m.Codec)
	}
	left := m.NumValues
	for at := start; at < end; {
		next, values, err := g.page(m, at, end)
		if err != nil {
			return err
		}
		at, left = next, left-values
	}
	if g.values += m.NumValues; left != 0 || g.values > maxValues {
		return fault("parquet_values", "the file holds more than %d values, or other than it says", maxValues)
	}
	return nil
}

// page looks at one page: where the next one begins and how many values this
// one has.
func (g *guard) page(m format.ColumnMetaData, at, end int64) (next, values int64, err error) {
	h, size, err := g.header(at, end)
	if err != nil {
		return 0, 0, err
	}
	body := at + size
	packed, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	g.unpacked += unpacked
	if g.pages++; packed < 0 || unpacked < 0 || body+packed > end || unpacked > maxPage || g.unpacked > maxUnpacked || g.pages > maxPages {
		return 0, 0, fault("parquet_unpacked", "the file unpacks to more than %d bytes, or a page of it to more than %d", int64(maxUnpacked), maxPage)
	}
	plain, compressed, values := int64(0), true, int64(0)
	encoding := format.Plain
	switch {
	case h.DataPageHeader.Valid:
		values, encoding = int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	case h.DataPageHeaderV2.Valid:
		v2 := h.DataPageHeaderV2.V
		values, encoding = int64(v2.NumValues), v2.Encoding
		plain = int64(v2.DefinitionLevelsByteLength) + int64(v2.RepetitionLevelsByteLength)
		compressed = !v2.IsCompressed.Valid || v2.IsCompressed.V
		if v2.DefinitionLevelsByteLength < 0 || v2.RepetitionLevelsByteLength < 0 || plain > packed || plain > unpacked {
			return 0, 0, errBroken
		}
	case h.DictionaryPageHeader.Valid:
		if n := h.DictionaryPageHeader.V.NumValues; n < 0 || int64(n) > unpacked+1 {
			return 0, 0, errBroken
		}
		encoding = h.DictionaryPageHeader.V.Encoding
	default:
		return 0, 0, errBroken
	}
	if values < 0 || values > m.NumValues {
		return 0, 0, errBroken
	}
	if !slices.Contains([]format.Encoding{format.Plain, format.PlainDictionary, format.RLEDictionary, format.RLE, format.DeltaBinaryPacked, format.DeltaLengthByteArray}, encoding) {
		return 0, 0, fault("parquet_encoding", "a column is encoded as %s, which is not read", encoding)
	}
	if !compressed || m.Codec == format.Uncompressed {
		if packed != unpacked {
			return 0, 0, errBroken
		}
		return body + packed, values, nil
	}
	return body + packed, values, g.unpack(m.Codec, body+plain, packed-plain, unpacked-plain)
}

// header reads the header of a page, which does not say how long it is.
func (g *guard) header(at, end int64) (h format.PageHeader, size int64, err error) {
	for most := int64(16 << 10); ; most *= 16 {
		n := min(most, maxPageHeader, end-at)
		g.buf = slices.Grow(g.buf[:0], int(n))[:n]
		if _, err := g.r.ReadAt(g.buf, at); err != nil {
			return h, 0, err
		}
		var protocol thrift.CompactProtocol
		pr := protocol.NewReaderFromBytes(g.buf)
		h = format.PageHeader{}
		if err = thrift.NewDecoder(pr).Decode(&h); err == nil {
			return h, int64(pr.BytesRead()), nil
		}
		if n < most || n == maxPageHeader {
			return h, 0, errBroken
		}
	}
}

// unpack makes sure that a page unpacks to what it says and no more.
func (g *guard) unpack(codec format.CompressionCodec, at, packed, want int64) error {
	g.buf = slices.Grow(g.buf[:0], int(packed))[:packed]
	if _, err := g.r.ReadAt(g.buf, at); err != nil {
		return err
	}
	var in io.Reader
	switch codec {
	case format.Snappy: // its blocks begin with their length
		if n, used := binary.Uvarint(g.buf); used <= 0 || n != uint64(want) {
			return errBroken
		}
		return nil
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(g.buf))
		if err != nil {
			return errBroken
		}
		in = z
	default:
		z, err := zstd.NewReader(bytes.NewReader(g.buf), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecoderMaxWindow(maxPage))
		if err != nil {
			return errBroken
		}
		defer z.Close()
		in = z
	}
	n, err := io.Copy(io.Discard, io.LimitReader(in, want+1))
	if err != nil || n != want {
		return errBroken
	}
	return nil
}
