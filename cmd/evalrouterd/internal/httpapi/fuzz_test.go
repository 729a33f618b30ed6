package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// ask goes to the handler itself: a client would refuse to send most of what
// a fuzzer makes.
func (h *harness) ask(method, path string, q url.Values, body string, head http.Header) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.URL.RawQuery = q.Encode()
	for k, v := range head {
		req.Header[k] = v
	}
	req.Header.Set("Authorization", "Bearer "+owner)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res := httptest.NewRecorder()
	h.api.ServeHTTP(res, req)
	return res
}

// sane says that an answer is a success, or a refusal in the envelope that
// is our caller's doing and does not repeat what was sent.
func sane(t *testing.T, res *httptest.ResponseRecorder, sent string) {
	t.Helper()
	if res.Code == http.StatusOK {
		return
	}
	var p problem
	if err := json.Unmarshal(res.Body.Bytes(), &p); err != nil || p.Error.Code == "" || p.Error.Message == "" {
		t.Fatalf("status %d without the envelope: %s", res.Code, res.Body)
	}
	if res.Code >= 500 {
		t.Fatalf("status %d for %q: %s", res.Code, sent, res.Body)
	}
	if said := fmt.Sprint(p.Error.Code, p.Error.Message, p.Error.Details); len(sent) >= 12 && strings.Contains(said, sent) {
		t.Fatalf("the refusal repeats %q: %s", sent, res.Body)
	}
}

// FuzzCursor sends any text as the place to go on from, in a list and in a
// run's log.
func FuzzCursor(f *testing.F) {
	h := newHarness(f)
	run := h.finished(nil)
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	h.finished(nil)
	h.send("GET", "/v1/runs?limit=1", nil).want(f, 200).into(f, &page)
	for _, s := range []string{page.NextCursor, "", "0", "1", "-1", "9223372036854775807", "9223372036854775808", "1e3", "0x1", "cnVucwox", "cnVucwoxCjI", "=", "%00", "a\x00b", "../..", "cnVucwotMQox", strings.Repeat("A", 600)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sane(t, h.ask("GET", "/v1/runs", url.Values{"cursor": {s}}, "", nil), s)
		res := h.ask("GET", "/v1/runs/"+run+"/events", url.Values{"after": {s}}, "", nil)
		sane(t, res, s)
		if res.Code != http.StatusOK {
			return
		}
		var log struct {
			Data []struct{ Sequence int64 }
			Next int64 `json:"next_sequence"`
		}
		if err := json.Unmarshal(res.Body.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for _, e := range log.Data {
			if e.Sequence <= last {
				t.Fatalf("after %q: %d comes after %d", s, e.Sequence, last)
			}
			last = e.Sequence
		}
		if len(log.Data) > 0 && log.Next != last {
			t.Fatalf("after %q: the next place is %d behind %d", s, log.Next, last)
		}
	})
}

// FuzzIDPrefix sends any text as the beginning of a run id: what is found
// begins with it.
func FuzzIDPrefix(f *testing.F) {
	h := newHarness(f)
	run := h.finished(nil)
	for _, s := range []string{run, run[:4], run[:8], "", "abc", "a000", "A000", "a00%", "a00_", "a000' OR 1=1 --", "a000\x00", "ffff", "é000", strings.Repeat("a", 37)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		res := h.ask("GET", "/v1/runs", url.Values{"id_prefix": {s}}, "", nil)
		sane(t, res, s)
		var page struct{ Data []struct{ ID string } }
		if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Data {
			if !strings.HasPrefix(r.ID, s) {
				t.Fatalf("%q found %q", s, r.ID)
			}
		}
	})
}

// FuzzIdempotencyKey sends any text as a key. Only 1 to 128 printable ASCII
// characters are one, and then the quote is what is missing.
func FuzzIdempotencyKey(f *testing.F) {
	h := newHarness(f)
	for _, s := range []string{"k", "", " ", strings.Repeat("k", 128), strings.Repeat("k", 129), "a\nb", "\x7f", "ключ", "a\x00b", "~!@#$%^&*()", "key, key"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		body := `{"quote_id":"00000000-0000-4000-8000-000000000009","name":"n"}`
		res := h.ask("POST", "/v1/runs", nil, body, http.Header{"Idempotency-Key": {key}})
		sane(t, res, key)
		good := len(key) >= 1 && len(key) <= 128 && strings.IndexFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0
		want := http.StatusNotFound
		switch {
		case key == "":
			want = http.StatusBadRequest
		case !good:
			want = http.StatusUnprocessableEntity
		}
		if res.Code != want {
			t.Fatalf("key %q: status %d, want %d: %s", key, res.Code, want, res.Body)
		}
	})
}
