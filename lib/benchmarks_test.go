package evalrouter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

// keeper is a service that keeps one source, and on demand loses what it is
// sent, or its answers.
type keeper struct {
	t    *testing.T
	size int
	mu   sync.Mutex
	got  []byte
	puts int
	// before is asked before each part is taken: how many of its bytes come,
	// and whether its answer gets lost.
	before func(put, n int) (take int, lose bool)
}

func (k *keeper) record() api.BenchmarkSource {
	s := api.BenchmarkSource{ID: "s1", Bytes: int64(k.size), ReceivedBytes: int64(len(k.got)), Status: api.SourcePending}
	if len(k.got) == k.size {
		s.Status = api.SourceCompleted
	}
	return s
}

// A request that was broken off may still be at work when its client has its
// error: whoever looks from outside takes the lock.

func (k *keeper) source() api.BenchmarkSource {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.record()
}

func (k *keeper) sent() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.puts
}

func (k *keeper) kept() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.got)
}

func (k *keeper) heal() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.before = nil
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Method == http.MethodPut {
		k.puts++
		var first, last, size int
		if _, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size); err != nil || size != k.size {
			k.t.Errorf("Content-Range %q", r.Header.Get("Content-Range"))
		}
		data, err := io.ReadAll(r.Body)
		if err != nil || len(data) != last-first+1 || r.Header.Get("Content-Type") != "application/octet-stream" {
			k.t.Errorf("a part of %d bytes with %v", len(data), r.Header)
		}
		if first != len(k.got) {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"error":{"code":"source_offset","message":"not there"}}`)
			return
		}
		take, lose := len(data), false
		if k.before != nil {
			take, lose = k.before(k.puts, len(data))
		}
		k.got = append(k.got, data[:take]...)
		if lose {
			panic(http.ErrAbortHandler)
		}
	}
	if err := json.NewEncoder(w).Encode(k.record()); err != nil {
		k.t.Error(err)
	}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789abcdef"), 600_000) // three parts
	for _, tt := range []struct {
		name   string
		before func(put, n int) (int, bool)
		puts   int
		fails  bool
	}{
		{name: "nothing happens", puts: 3},
		{name: "an answer is lost", before: func(put, n int) (int, bool) { return n, put == 2 }, puts: 3},
		{name: "a part breaks off", before: func(put, n int) (int, bool) {
			if put == 2 {
				return n / 8, true
			}
			return n, false
		}, puts: 4},
		{name: "the last answer is lost", before: func(put, n int) (int, bool) { return n, put == 3 }, puts: 3},
		{name: "nothing comes through any more", before: func(put, n int) (int, bool) {
			if put > 1 {
				return 0, true
			}
			return n, false
		}, puts: 7, fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := &keeper{t: t, size: len(data), before: tt.before}
			srv := httptest.NewServer(k)
			defer srv.Close()
			c, err := evalrouter.New(evalrouter.Config{BaseURL: srv.URL, AllowHTTP: true, APIKey: "k", Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			last := int64(0)
			got, err := c.Sources.Upload(t.Context(), k.source(), bytes.NewReader(data), func(n int64) {
				if n < last {
					t.Errorf("went back from %d to %d", last, n)
				}
				last = n
			})
			if k.sent() != tt.puts || (err != nil) != tt.fails {
				t.Errorf("%d parts were sent, want %d; %v", k.sent(), tt.puts, err)
			}
			if tt.fails {
				k.heal() // the network is back, and another upload goes on
				if got, err = c.Sources.Upload(t.Context(), k.source(), bytes.NewReader(data), nil); err != nil || k.sent() != tt.puts+2 {
					t.Errorf("%d parts after another upload, %v", k.sent(), err)
				}
			}
			if got.Status != api.SourceCompleted || !bytes.Equal(k.kept(), data) {
				t.Errorf("%+v with %d bytes", got, len(k.kept()))
			}
		})
	}
}

// A file that became shorter is not sent as another one.
func TestUpload_AnotherFile(t *testing.T) {
	t.Parallel()
	k := &keeper{t: t, size: 100}
	srv := httptest.NewServer(k)
	defer srv.Close()
	c, err := evalrouter.New(evalrouter.Config{BaseURL: srv.URL, AllowHTTP: true, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Sources.Upload(t.Context(), k.source(), bytes.NewReader(make([]byte, 99)), nil)
	if !errors.Is(err, api.InvalidInput) || k.sent() != 0 {
		t.Errorf("%v after %d parts", err, k.sent())
	}
}

func TestColumnNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, doc, back string
	}{
		{"one", `"a"`, `"a"`}, {"a list", `["a","b"]`, `["a","b"]`}, {"a list of one", `["a"]`, `"a"`}, {"none", `[]`, ""}, {"a number", `1`, ""}, {"null", `null`, ""},
	} {
		var c api.ColumnNames
		err := json.Unmarshal([]byte(`{"x":`+tt.doc+`}`), &struct{ X *api.ColumnNames }{&c})
		if tt.back == "" {
			if err == nil && len(c) > 0 {
				t.Errorf("%s: %v", tt.name, c)
			}
			continue
		}
		if out, bad := json.Marshal(c); err != nil || bad != nil || string(out) != tt.back {
			t.Errorf("%s: %s, %v", tt.name, out, err)
		}
	}
}
