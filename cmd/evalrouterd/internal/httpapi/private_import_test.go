package httpapi_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob/hub"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/lib/api"
)

// pinned is the commit that the harness's hub has.
const pinned = "89abcdef0123456789abcdef0123456789abcdef"

// playHub speaks the hub's API for one data set, org/set.
type playHub struct {
	files   atomic.Pointer[map[string]string]
	fetched atomic.Int64
}

func (p *playHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/datasets/org/set/revision/main" || r.URL.Path == "/api/datasets/org/set/revision/"+pinned {
		_, _ = w.Write([]byte(`{"id":"org/set","sha":"` + pinned + `","private":false}`))
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/datasets/org/set/resolve/"+pinned+"/")
	data, found := (*p.files.Load())[name]
	if !ok || !found {
		http.NotFound(w, r)
		return
	}
	p.fetched.Add(1)
	_, _ = w.Write([]byte(data))
}

// importFrom lets the harness import from a server of its own.
func (h *harness) importFrom(files map[string]string) *playHub {
	h.t.Helper()
	p := &playHub{}
	p.files.Store(&files)
	srv := httptest.NewServer(p)
	h.t.Cleanup(srv.Close)
	base, err := url.Parse(srv.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	transport := netguard.Transport(netguard.Policy{AllowPrivate: []string{base.Host}})
	h.t.Cleanup(transport.CloseIdleConnections)
	h.mine.Importer = &byob.Importer{
		Service: h.mine.Service, Imports: h.store.Private(), Hub: &hub.Hub{Base: base, Transport: transport, UserAgent: "test"},
		Now: func() core.Micros { return core.Micros(h.now.Load()) }, Wait: func() <-chan time.Time { return nil }, Log: slog.New(slog.NewJSONHandler(h.log, nil)),
	}
	h.t.Cleanup(h.mine.Importer.Close)
	return p
}

func (h *harness) imported(source string, files ...string) api.BenchmarkImport {
	h.t.Helper()
	var im api.BenchmarkImport
	h.send("POST", "/v1/benchmark-imports", object{"source": source, "files": files}).want(h.t, 200).into(h.t, &im)
	return im
}

// An import pins a commit, says what it fetched, and says it again; a hub that
// answers otherwise for the same commit is found out.
func TestImports(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	files := map[string]string{"data/sums.csv": csvRows, "rows.jsonl": "{\"q\":\"1+1?\",\"a\":2}\n", "bad.csv": "a,b\n1\n", "empty.csv": ""}
	served := h.importFrom(files)
	im := h.imported("hf://org/set@main", "data/sums.csv", "rows.jsonl")
	if im.Status != api.ImportCompleted || text(im.Commit) != pinned || len(im.Files) != 2 || im.EndedAt == nil {
		t.Fatalf("%+v, %s", im, text(im.ErrorMessage))
	}
	uri := "hf://org/set@" + pinned + "/data/sums.csv"
	if f := im.Files[0]; f.URI != uri || f.SHA256 != hexSum(csvRows) || f.Bytes != int64(len(csvRows)) {
		t.Errorf("%+v", f)
	}
	var again, read api.BenchmarkImport
	again = h.imported("hf://org/set@"+pinned, "data/sums.csv", "rows.jsonl")
	if d := cmp.Diff(im.Files, again.Files); d != "" || again.ID == im.ID || served.fetched.Load() != 4 {
		t.Errorf("again, after %d fetches: %s", served.fetched.Load(), d)
	}
	h.send("GET", "/v1/benchmark-imports/"+im.ID, nil).want(t, 200).into(t, &read)
	if d := cmp.Diff(im, read); d != "" {
		t.Error(d)
	}
	b := h.made(sums(uri, object{"sha256": im.Files[0].SHA256, "bytes": im.Files[0].Bytes}))
	if b.TaskCount != 3 || b.SourceURI != uri {
		t.Errorf("%+v", b)
	}
	for _, tt := range []struct{ name, source, file, code string }{
		{"no such file", "hf://org/set@main", "none.csv", "hub_not_found"},
		{"no such set", "hf://org/none@main", "a.csv", "hub_not_found"},
		{"no such revision", "hf://org/set@v2", "a.csv", "hub_not_found"},
		{"no CSV", "hf://org/set@main", "bad.csv", "data_syntax"},
		{"nothing in it", "hf://org/set@main", "empty.csv", "source_invalid"},
	} {
		if im := h.imported(tt.source, tt.file); im.Status != api.ImportFailed || text(im.ErrorCode) != tt.code || text(im.ErrorMessage) == "" || len(im.Files) != 0 {
			t.Errorf("%s: %+v", tt.name, im)
		}
	}
	served.files.Store(&map[string]string{"data/sums.csv": csvRows + "4+4?,8\r\n"})
	if im := h.imported("hf://org/set@main", "data/sums.csv"); text(im.ErrorCode) != "source_changed" {
		t.Errorf("%+v", im)
	}
	for _, tt := range []struct {
		source string
		files  []string
	}{
		{"hf://org/set", []string{"a.csv"}}, {"https://example.com/a@b", []string{"a.csv"}}, {"hf://org/set@main", nil}, {"hf://org/set@main", []string{"a.xlsx"}},
		{"hf://org/set@main", []string{"../a.csv"}}, {"hf://org/set@main", []string{"a.csv", "a.csv"}}, {"hf://org/set@main", make([]string, 21)},
	} {
		h.send("POST", "/v1/benchmark-imports", object{"source": tt.source, "files": tt.files}).refused(t, 422, "invalid_request")
	}
}

// A service that imports nothing says so; an import whose process died is over
// when no import can still be at work.
func TestImports_OffAndDead(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.send("POST", "/v1/benchmark-imports", object{"source": "hf://org/set@main", "files": []string{"a.csv"}}).refused(t, 404, "feature_unavailable")
	h.importFrom(nil)
	if _, err := h.store.Private().AddImport(t.Context(), core.Scope{Workspace: core.Local}, core.DataImport{ID: "dead", Source: "hf://org/set@main", Paths: []string{"a.csv"}}); err != nil {
		t.Fatal(err)
	}
	var im api.BenchmarkImport
	if h.send("GET", "/v1/benchmark-imports/dead", nil).want(t, 200).into(t, &im); im.Status != api.ImportRunning {
		t.Errorf("%+v", im)
	}
	h.now.Add((12 * time.Minute).Microseconds())
	if h.send("GET", "/v1/benchmark-imports/dead", nil).want(t, 200).into(t, &im); im.Status != api.ImportFailed || text(im.ErrorCode) != "interrupted" {
		t.Errorf("%+v", im)
	}
	h.mine.Importer.Close()
	if im := h.imported("hf://org/set@main", "a.csv"); text(im.ErrorCode) != "interrupted" {
		t.Errorf("%+v", im)
	}
}
