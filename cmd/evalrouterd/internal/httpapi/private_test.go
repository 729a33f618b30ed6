package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/private"
	"github.com/evalrouter/evalrouter/lib/api"
)

// csvRows are three questions with a line end in a cell, in CRLF.
const csvRows = "q,a\r\n\"1+1?\nThink.\",2\r\n2+2?,4\r\n3+3?,6\r\n"

func hexSum(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// announced makes a source without bytes.
func (h *harness) announced(name, format, data string, tweaks ...tweak) api.BenchmarkSource {
	h.t.Helper()
	var s api.BenchmarkSource
	h.send("POST", "/v1/benchmark-sources", object{"file_name": name, "format": format, "bytes": len(data), "sha256": hexSum(data)}, tweaks...).want(h.t, 200).into(h.t, &s)
	return s
}

// content sends bytes of a source.
func (h *harness) content(id, data string, tweaks ...tweak) reply {
	h.t.Helper()
	return h.send("PUT", "/v1/benchmark-sources/"+id+"/content", data, append([]tweak{header("Content-Type", "application/octet-stream")}, tweaks...)...)
}

// uploaded makes a whole source.
func (h *harness) uploaded(name, format, data string, tweaks ...tweak) api.BenchmarkSource {
	h.t.Helper()
	s := h.announced(name, format, data, tweaks...)
	h.content(s.ID, data, tweaks...).want(h.t, 200).into(h.t, &s)
	if s.Status != api.SourceCompleted {
		h.t.Fatalf("the source is %s: %v, %v", s.Status, text(s.ErrorCode), text(s.ErrorMessage))
	}
	return s
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestSources_UploadAndList(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	lines := `{"q":"1+1?","a":"2"}` + "\n" + `{"q":"2+2?","a":"4","note":null}` + "\n"
	jl, cs := h.uploaded("rows.jsonl", "jsonl", lines), h.uploaded("rows.csv", "csv", csvRows)
	if *jl.RowCount != 2 || !cmp.Equal(jl.Columns, []string{"q", "a", "note"}) || jl.URI != "workspace://"+jl.ID+"/rows.jsonl" {
		t.Errorf("%+v", jl)
	}
	if *cs.RowCount != 3 || !cmp.Equal(cs.Columns, []string{"q", "a"}) {
		t.Errorf("%+v", cs)
	}
	pending := h.announced("later.csv", "csv", csvRows)
	var page api.Page[api.BenchmarkSource]
	list := func(query string) (ids []string) {
		h.send("GET", "/v1/benchmark-sources"+query, nil).want(t, 200).into(t, &page)
		for _, s := range page.Data {
			ids = append(ids, s.ID)
		}
		return ids
	}
	if got := list("?status=pending"); !cmp.Equal(got, []string{pending.ID}) {
		t.Errorf("pending: %v", got)
	}
	if got := list("?limit=2"); len(got) != 2 || page.NextCursor == nil {
		t.Errorf("a page of two: %v", got)
	} else if rest := list("?limit=2&cursor=" + *page.NextCursor); len(rest) != 1 || page.NextCursor != nil {
		t.Errorf("the page behind it: %v", rest)
	}
	var gone api.BenchmarkSource
	for range 2 {
		h.send("POST", "/v1/benchmark-sources/"+jl.ID+"/archive", nil).want(t, 200).into(t, &gone)
	}
	if gone.Status != api.SourceArchived || gone.ArchivedAt == nil {
		t.Errorf("%+v", gone)
	}
	if got := list("?status=archived"); !cmp.Equal(got, []string{jl.ID}) {
		t.Errorf("archived: %v", got)
	}
	h.content(jl.ID, lines).refused(t, 409, "source_not_ready")
}

// An upload that breaks off goes on where it stopped, in pieces of any size,
// and ends as one that did not.
func TestSources_UploadGoesOn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	data := "q,a\n" + strings.Repeat("what is one and one,two\n", 60_000)
	for _, step := range []int{300_000, 1 << 20, 1_000_001} {
		s := h.announced("rows.csv", "csv", data)
		for at := 0; at < len(data); at += step {
			end := min(at+step, len(data))
			part := header("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, end-1, len(data)))
			h.content(s.ID, data[at:end], part).want(t, 200).into(t, &s)
			if s.ReceivedBytes != int64(end) {
				t.Fatalf("%d bytes were sent and %d received", end, s.ReceivedBytes)
			}
			if end == len(data) {
				h.content(s.ID, data[at:end], part).want(t, 200).into(t, &s) // its answer was lost
				continue
			}
			p := h.content(s.ID, data[at:end], part).refused(t, 409, "source_offset") // a piece again
			if p.Error.Details["received_bytes"] != float64(end) {
				t.Errorf("%v", p.Error.Details)
			}
		}
		if s.Status != api.SourceCompleted || *s.RowCount != 60_000 {
			t.Errorf("in steps of %d: %+v, %s", step, s, text(s.ErrorMessage))
		}
	}
	s := h.announced("rows.csv", "csv", data)
	req, err := http.NewRequest("PUT", h.URL+"/v1/benchmark-sources/"+s.ID+"/content", io.MultiReader(strings.NewReader(data[:500_000]), broken{}))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(data))
	req.Header.Set("Authorization", "Bearer "+owner)
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
	}
	whole := h.content(s.ID, data) // from the start
	for whole.status == 409 {      // the service has not noticed yet that the first sender died
		whole.refused(t, 409, "source_offset")
		whole = h.content(s.ID, data)
	}
	whole.want(t, 200).into(t, &s)
	if s.Status != api.SourceCompleted {
		t.Errorf("%+v", s)
	}
}

// broken is a sender that dies.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestSources_Refused(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	good := object{"file_name": "a.csv", "format": "csv", "bytes": 10, "sha256": strings.Repeat("a", 64)}
	for _, tt := range []struct {
		name, field string
		value       any
		status      int
		code        string
	}{
		{"too large", "bytes", 64<<20 + 1, 413, "source_too_large"},
		{"no bytes", "bytes", 0, 422, "invalid_request"},
		{"a hash in capitals", "sha256", strings.Repeat("A", 64), 422, "invalid_request"},
		{"a path", "file_name", "../a.csv", 422, "invalid_request"},
		{"a folder", "file_name", "x/a.csv", 422, "invalid_request"},
		{"no name", "file_name", "", 422, "invalid_request"},
		{"another format", "format", "xlsx", 422, "invalid_request"},
		{"a package may be larger", "format", "package", 200, ""},
		{"an unknown field", "size", 1, 422, "invalid_request"},
	} {
		body := object{}
		for k, v := range good {
			body[k] = v
		}
		body[tt.field] = tt.value
		if tt.status == 200 {
			body["bytes"] = 100 << 20
			h.send("POST", "/v1/benchmark-sources", body).want(t, 200)
			continue
		}
		r := h.send("POST", "/v1/benchmark-sources", body)
		if p := r.refused(t, tt.status, tt.code); bytes.Contains(r.body, []byte("../")) {
			t.Errorf("%s: %v", tt.name, p)
		}
	}
	for _, tt := range []struct{ name, format, data, sent, code string }{
		{"another file", "csv", csvRows, strings.ToUpper(csvRows), "sha256_mismatch"},
		{"no CSV", "csv", "a,b\n1\n", "", "data_syntax"},
		{"two columns of one name", "csv", "a,a\n1,2\n", "", "data_shape"},
		{"no rows", "csv", "a,b\n", "", "rows_none"},
		{"no JSON", "jsonl", "{\"a\":1}\n{\"a\":\n", "", "row_json_syntax"},
		{"a key twice", "jsonl", `{"a":1,"a":2}`, "", "row_json_duplicate_key"},
		{"no object", "jsonl", `[1]`, "", "row_field_type"},
		{"UTF-16", "csv", "\xff\xfea,b", "", "data_encoding"},
		{"no Parquet", "parquet", "PAR1 and nothing else PAR1", "", "parquet_broken"},
		{"no zip", "package", "PK but not a zip file", "", "zip_end"},
	} {
		s := h.announced("f", tt.format, tt.data)
		sent := tt.sent
		if sent == "" {
			sent = tt.data
		}
		h.content(s.ID, sent).want(t, 200).into(t, &s)
		if s.Status != api.SourceFailed || text(s.ErrorCode) != tt.code || text(s.ErrorMessage) == "" || s.RowCount != nil {
			t.Errorf("%s: %s with %s: %s", tt.name, s.Status, text(s.ErrorCode), text(s.ErrorMessage))
		}
	}
	s := h.announced("f", "csv", csvRows)
	for _, r := range []string{"bytes 0-5/7", "bytes=0-5/" + fmt.Sprint(len(csvRows)), "bytes 5-3/9", "bytes -1-3/9", "bytes 00-3/9", "bytes 0-9/9"} {
		h.content(s.ID, "abcdef", header("Content-Range", r)).refused(t, 422, "invalid_request")
	}
	h.content(s.ID, csvRows[:5]).refused(t, 422, "invalid_request")
	h.content(s.ID, csvRows+"more").refused(t, 422, "invalid_request")
}

// An operator who has switched benchmarks of one's own off is heard.
func TestSources_SwitchedOff(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *httpapi.Options) {
		off := &private.Handlers{}
		o.Subjects = []httpapi.Subject{off}
	})
	p := h.send("POST", "/v1/benchmark-sources", object{"file_name": "a.csv", "format": "csv", "bytes": 10, "sha256": strings.Repeat("a", 64)}).refused(t, 404, "feature_unavailable")
	if p.Error.Details["feature"] != "private_benchmarks" {
		t.Errorf("%v", p.Error.Details)
	}
	var meta api.MetaRecord
	h.send("GET", "/v1/meta", nil).want(t, 200).into(t, &meta)
	if meta.Features["private_benchmarks"] {
		t.Error("the service claims a feature that is off")
	}
}
