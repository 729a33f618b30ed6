package datafile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datafile"
)

type place struct {
	City string  `parquet:"city"`
	Lat  float64 `parquet:"lat"`
}

type record struct {
	Q      string   `parquet:"q,dict"`
	N      int64    `parquet:"n"`
	Small  uint32   `parquet:"small"`
	Ok     bool     `parquet:"ok"`
	Share  float64  `parquet:"share"`
	Half   float32  `parquet:"half"`
	Note   *string  `parquet:"note,optional"`
	Opts   []string `parquet:"opts,list"`
	Bare   []int32  `parquet:"bare"`
	Where  place    `parquet:"where"`
	Binary []byte   `parquet:"binary"`
}

func records() []record {
	note := "a \"note\"\n"
	return []record{
		{Q: "1+1?", N: -5, Small: 4_000_000_000, Ok: true, Share: 0.5, Half: 0.1, Note: &note, Opts: []string{"1", "2"}, Bare: []int32{7}, Where: place{"Köln", 50.9}, Binary: []byte{0xff}},
		{Q: "2+2?", N: 1 << 60, Share: 3, Where: place{"", -1}},
	}
}

// the rows of records as lines; a column of bytes is left out.
const recordLines = `{"q":"1+1?","n":-5,"small":4000000000,"ok":true,"share":0.5,"half":0.1,"note":"a \"note\"\n","opts":["1","2"],"bare":[7],"where":{"city":"Köln","lat":50.9}}
{"q":"2+2?","n":1152921504606846976,"small":0,"ok":false,"share":3,"half":0,"note":null,"opts":[],"bare":[],"where":{"city":"","lat":-1}}
`

func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		codec compress.Codec
		v2    int
	}{
		{"plain", &parquet.Uncompressed, 1}, {"plain, second pages", &parquet.Uncompressed, 2},
		{"snappy", &parquet.Snappy, 1}, {"snappy, second pages", &parquet.Snappy, 2},
		{"gzip", &parquet.Gzip, 1}, {"zstd", &parquet.Zstd, 1}, {"zstd, second pages", &parquet.Zstd, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := parquetOf(t, records(), parquet.Compression(tt.codec), parquet.DataPageVersion(tt.v2))
			var out bytes.Buffer
			columns, err := datafile.Lines(t.Context(), bytes.NewReader(data), int64(len(data)), &out)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(recordLines, out.String()); d != "" {
				t.Errorf("lines (-want +got):\n%s", d)
			}
			if want := strings.Fields("q n small ok share half note opts bare where"); !cmp.Equal(columns, want) {
				t.Errorf("columns %v, want %v", columns, want)
			}
		})
	}
}

// Many row groups, many pages and a dictionary come out in order.
func TestLines_Many(t *testing.T) {
	t.Parallel()
	type small struct {
		Q string `parquet:"q,dict"`
		I int64  `parquet:"i,delta"`
	}
	rows := make([]small, 5_000)
	for i := range rows {
		rows[i] = small{strings.Repeat("x", i%7), int64(i)}
	}
	data := parquetOf(t, rows, parquet.MaxRowsPerRowGroup(999), parquet.PageBufferSize(512), parquet.Compression(&parquet.Snappy))
	found, err := datafile.Look(t.Context(), core.FormatParquet, bytes.NewReader(data), int64(len(data)))
	if err != nil || found.Rows != 5_000 || !cmp.Equal(found.Columns, []string{"q", "i"}) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestLook_Faults(t *testing.T) {
	t.Parallel()
	type text struct {
		A string `parquet:"a"`
	}
	type prefixed struct {
		A string `parquet:"a,delta"`
	}
	long := make([]text, 100_001)
	big := []text{{strings.Repeat("x", 1<<20+1)}}
	good := parquetOf(t, []text{{"1"}, {"2"}})
	claim := bytes.Clone(good)
	binary.LittleEndian.PutUint32(claim[len(claim)-8:], 0xFFFFFFF0)
	encrypted := bytes.Clone(good)
	copy(encrypted[len(encrypted)-4:], "PARE")
	bomb := make([]text, 700)
	for i := range bomb {
		bomb[i] = text{strings.Repeat("0123456789", 10_000)}
	}
	for _, tt := range []struct {
		name string
		data []byte
		code string
	}{
		{"nothing", nil, "parquet_broken"},
		{"no end", good[:len(good)-1], "parquet_broken"},
		{"no start", good[4:], "parquet_broken"},
		{"a footer of four gigabytes", claim, "parquet_broken"},
		{"encrypted", encrypted, "parquet_encrypted"},
		{"no rows", parquetOf(t, []text{}), "rows_none"},
		{"too many rows", parquetOf(t, long), "rows_too_many"},
		{"a row that is too large", parquetOf(t, big), "row_too_large"},
		{"no text", parquetOf(t, []text{{"a"}, {"\xff"}}), "row_value"},
		{"rows that come to too much", parquetOf(t, bomb, parquet.Compression(&parquet.Zstd)), "data_too_large"},
		{"texts that grow by prefixes", parquetOf(t, []prefixed{{"a"}, {"ab"}}), "parquet_encoding"},
		{"another codec", parquetOf(t, []text{{"a"}}, parquet.Compression(&parquet.Brotli)), "parquet_codec"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := datafile.Look(t.Context(), core.FormatParquet, bytes.NewReader(tt.data), int64(len(tt.data)))
			var f *datafile.Fault
			if !errors.As(err, &f) || f.Code != tt.code {
				t.Errorf("%v, want %s", err, tt.code)
			}
		})
	}
}

// FuzzParquet: whatever a file claims, reading it ends, holds little and fails
// with a fault of the file.
func FuzzParquet(f *testing.F) {
	f.Add(parquetOf(f, records()))
	f.Add(parquetOf(f, records(), parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(2)))
	f.Add(parquetOf(f, records(), parquet.Compression(&parquet.Zstd)))
	f.Add(parquetOf(f, records(), parquet.Compression(&parquet.Gzip)))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, core.FormatParquet, data)
	})
}

// FuzzCSV and FuzzJSONL do the same.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\xef\xbb\xbfa,\"b\nc\"\r\n1,\"2\"\"3\"\r\n", "a,a\n", "a\n\"", "a,b\n1\n", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, core.FormatCSV, data) })
}

func FuzzJSONL(f *testing.F) {
	for _, s := range []string{"{\"a\":1}\n", "{}", "{\"a\":{\"b\":[1,null,\"x\"]}}\r\n\n{\"b\":true}", "[1]\n", "{\"a\":\"\\ud800\"}", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, core.FormatJSONL, data) })
}

func fuzzed(t *testing.T, format string, data []byte) {
	t.Helper()
	found, err := datafile.Look(context.Background(), format, bytes.NewReader(data), int64(len(data)))
	var fault *datafile.Fault
	if err != nil && !errors.As(err, &fault) {
		t.Fatalf("%v is no fault of the file", err)
	}
	if err == nil && (found.Rows < 1 || found.Rows > core.MaxSourceRows) || fault != nil && (fault.Code == "" || fault.Message == "") {
		t.Fatalf("%+v, %+v", found, fault)
	}
}
