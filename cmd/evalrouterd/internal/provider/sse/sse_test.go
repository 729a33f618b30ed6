package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/sse"
)

type event struct {
	Name, Data string
	Bare, Cut  bool
}

func read(t testing.TB, r io.Reader) (list []event, err error) {
	t.Helper()
	in := sse.NewReader(r)
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, event{e.Name, string(e.Data), e.Bare, e.Partial})
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []event
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []event{{Data: "a"}}},
		{"no space after the colon", "data:a\n\n", []event{{Data: "a"}}},
		{"only one space is taken", "data:  a\n\n", []event{{Data: " a"}}},
		{"carriage returns", "data: a\r\rdata: b\r\r", []event{{Data: "a"}, {Data: "b"}}},
		{"both", "data: a\r\n\r\ndata: b\r\n\r\n", []event{{Data: "a"}, {Data: "b"}}},
		{"mixed", "data: a\n\r\ndata: b\r\n\n", []event{{Data: "a"}, {Data: "b"}}},
		{"several lines are one", "data: a\ndata: b\ndata\n\n", []event{{Data: "a\nb\n"}}},
		{"a name", "event: error\ndata: a\n\n", []event{{Name: "error", Data: "a"}}},
		{"a name without data is forgotten", "event: error\n\ndata: a\n\n", []event{{Data: "a"}}},
		{"comments", ": wait\n\n: wait\ndata: a\n\n", []event{{Data: "a"}}},
		{"unknown fields", "id: 7\nretry: 9\nfuture\ndata: a\n\n", []event{{Data: "a"}}},
		{"a byte order mark", "\xef\xbb\xbfdata: a\n\n", []event{{Data: "a"}}},
		{"bytes are not looked at", "data: \xff\u00e9\n\n", []event{{Data: "\xff\u00e9"}}},
		{"cut within a line", "data: a\n\ndata: b", []event{{Data: "a"}, {Data: "b", Cut: true}}},
		{"cut before the end of an event", "data: a\n", []event{{Data: "a", Cut: true}}},
		{"cut before its data", "event: error\n", nil},
		{"JSON without a field name", "data: a\n\n{\"error\": {\"code\": 503}}\n", []event{{Data: "a"}, {Data: `{"error": {"code": 503}}`, Bare: true, Cut: true}}},
		{"JSON over several lines", "{\n  \"error\": 1\n}\n\ndata: a\n\n", []event{{Data: "{\n  \"error\": 1\n}", Bare: true}, {Data: "a"}}},
		{"JSON after data is data's", "data: a\n{}\n\n", []event{{Data: "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for way, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)), "data with the end": iotest.DataErrReader(strings.NewReader(c.in))} {
				got, err := read(t, r)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("%s:\n%s", way, d)
				}
			}
		})
	}
}

func TestReader_Bounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", sse.MaxEvent)
	for _, c := range []struct {
		name, in string
		ok       bool
	}{
		{"as long as it may be", "data:" + long[5:] + "\n\n", true},
		{"longer", "data:" + long + "\n\n", false},
		{"longer in lines", strings.Repeat("data: "+long[:1<<20]+"\n", 5), false},
		{"many small ones", strings.Repeat("data: "+long[:1<<16]+"\n\n", 66), true},
		{"an endless comment", ":" + long, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := read(t, strings.NewReader(c.in)); (err == nil) != c.ok || err != nil && !errors.Is(err, sse.ErrTooLong) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"data: x": true, "event: x": true, ": x": true, "id: 1": true, "retry: 1": true, "\n\ndata:x": true, "\xef\xbb\xbfdata:x": true,
		"": false, "{}": false, "[]": false, "<html>": false, "dat": false, "database": false, " data: x": false,
	} {
		if got := sse.Looks([]byte(in)); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// Where a stream is split never matters, and no event is larger than allowed.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\rdata: a\r\rdata: b", ": c\n\n{\"error\":1}\n", "\xef\xbb\xbfdata:\r\n\r\n", "data\n\n\n\nid"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := read(t, bytes.NewReader(in))
		if err != nil {
			t.Skip("longer than an event may be")
		}
		bytewise, err := read(t, iotest.OneByteReader(bytes.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, bytewise); d != "" {
			t.Fatal(d)
		}
		for _, e := range whole {
			if strings.ContainsAny(e.Data, "\r") || !e.Bare && strings.ContainsAny(e.Name, "\r\n") {
				t.Fatalf("a line end within %+v", e)
			}
		}
	})
}
