package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	sets "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/datasets"
	"github.com/evalrouter/evalrouter/lib/api"
)

// curation is the part of the harness that makes benchmarks of traces.
func (h *harness) curation() *sets.Handlers {
	h.t.Helper()
	agents, err := h.store.Traces(h.id("9"))
	if err != nil {
		h.t.Fatal(err)
	}
	st := h.store.Datasets(datasets.VersionDigest)
	return &sets.Handlers{Service: &datasets.Service{Sets: st, Items: st, Versions: st, Traces: agents, NewID: h.id("6"), NewItemID: h.id("7")}, Findings: agents, Own: h.mine.Service}
}

func (h *harness) dataset(name string, policy object) (d api.DatasetRecord) {
	h.t.Helper()
	h.send("POST", "/v1/datasets", object{"name": name, "review_policy": policy}).want(h.t, 200).into(h.t, &d)
	return d
}

func (h *harness) addItems(id string, items ...object) []api.DatasetItem {
	h.t.Helper()
	var page api.Page[api.DatasetItem]
	h.send("POST", "/v1/datasets/"+id+"/items", object{"items": items}).want(h.t, 200).into(h.t, &page)
	return page.Data
}

func (h *harness) approveItem(set, id string) {
	h.t.Helper()
	h.send("POST", "/v1/datasets/"+set+"/items/"+id+"/review", object{"decision": "approved"}).want(h.t, 200)
}

// sealed is a dataset with one version of one item.
func (h *harness) sealed(name string) api.DatasetRecord {
	h.t.Helper()
	d := h.dataset(name, object{"allow_self": true})
	h.approveItem(d.ID, h.addItems(d.ID, object{"input": "1 + 1?", "expected": "2"})[0].ID)
	h.send("POST", "/v1/datasets/"+d.ID+"/versions", object{}).want(h.t, 200)
	return d
}

// A step of a trace becomes an item that copies what it needs.
func TestDatasets_FromTraces(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tr := h.trace(h.traceConnection("otlp"))
	d := h.dataset("orders", object{})
	got := h.addItems(d.ID,
		object{"source": object{"trace_id": tr.ID, "span_id": "0000000000000003", "expected_from_output": true}, "metadata": object{"b": 1.50, "a": nil}},
		object{"source": object{"trace_id": tr.ID, "span_id": "0000000000000002"}, "expected": "42"},
	)
	if string(got[0].Input) != `{"a":6,"b":7}` || string(got[0].Expected) != `"42"` || string(got[0].Metadata) != `{"a":null,"b":1.5}` || got[0].Source.SpanID != "0000000000000003" || got[0].Source.SourceTraceID != tr.SourceTraceID {
		t.Errorf("%+v", got[0])
	}
	if !strings.Contains(string(got[1].Input), "What is 6 times 7?") || got[1].Review != "pending" || got[1].Author != "owner" || len(got[1].ReviewedBy) != 0 {
		t.Errorf("%+v", got[1])
	}
	for _, bad := range []object{
		{"source": object{"trace_id": tr.ID}}, // the root has no input
		{"source": object{"trace_id": "nowhere"}},
		{"source": object{"trace_id": tr.ID, "span_id": "nowhere"}},
		{"expected": "x"}, {"input": nil}, {"input": "x", "extra": 1}, {"input": strings.Repeat("x", 257<<10)},
	} {
		h.send("POST", "/v1/datasets/"+d.ID+"/items", object{"items": []object{{"input": "good"}, bad}}).refused(t, 422, "invalid_request")
	}
	h.send("POST", "/v1/datasets/"+d.ID+"/items", object{"items": []object{}}).refused(t, 422, "invalid_request")
	// Who may not read traces gets nothing of them by way of an item.
	blind := as(h.key(core.Local, nil, "datasets:read", "datasets:write"))
	h.send("POST", "/v1/datasets/"+d.ID+"/items", object{"items": []object{{"source": object{"trace_id": tr.ID, "span_id": "0000000000000004"}}}}, blind).refused(t, 403, "insufficient_scope")
	h.send("POST", "/v1/trace-findings/x/promote", object{"dataset_id": d.ID}, blind).refused(t, 403, "insufficient_scope")
	h.send("POST", "/v1/datasets/"+d.ID+"/items", object{"items": []object{{"input": "of one's own"}}}, blind).want(t, 200)
	h.send("DELETE", "/v1/traces/"+tr.ID, nil).refused(t, 409, "trace_held")
	var page api.Page[api.DatasetItem]
	h.send("GET", "/v1/datasets/"+d.ID+"/items?limit=1", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.NextCursor == nil || page.Data[0].ID != got[0].ID {
		t.Errorf("%+v", page)
	}
}

// Who reviews is a right of its own, and nobody reviews what they wrote unless
// the dataset says so.
func TestDatasets_TDS07_Review(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	d := h.dataset("orders", object{"reviewers_required": 2})
	x := h.addItems(d.ID, object{"input": "q", "expected": "a"})[0]
	path := "/v1/datasets/" + d.ID + "/items/" + x.ID
	writer := as(h.key(core.Local, nil, "datasets:read", "datasets:write"))
	one, two := as(h.key(core.Local, nil, httpapi.Scopes()...)), as(h.key(core.Local, nil, httpapi.Scopes()...))
	say := func(who tweak, body object) reply { return h.send("POST", path+"/review", body, who) }
	say(writer, object{"decision": "approved"}).refused(t, 403, "insufficient_scope")
	h.send("POST", path+"/review", object{"decision": "approved"}).refused(t, 403, "self_review")
	say(one, object{"decision": "maybe"}).refused(t, 422, "invalid_request")
	say(one, object{"decision": "approved", "digest": "of something else"}).refused(t, 409, "item_changed")
	say(one, object{"decision": "approved", "digest": x.Digest}).want(t, 200)
	h.send("POST", "/v1/datasets/"+d.ID+"/versions", object{}).refused(t, 422, "nothing_approved")
	say(two, object{"decision": "approved", "note": "fine"}).want(t, 200).into(t, &x)
	if x.Review != "approved" || len(x.ReviewedBy) != 2 || x.Note != "fine" {
		t.Errorf("%+v", x)
	}
	// Two keys that one person made are one person, and so are a key and its successor.
	for _, same := range []func(*core.APIKey){
		func(k *core.APIKey) { k.CreatedBy = "ada" },
		func(k *core.APIKey) { k.Lineage = "first" },
	} {
		y := h.addItems(d.ID, object{"input": fmt.Sprint("again ", h.ids.Add(1))})[0]
		for range 2 {
			h.send("POST", "/v1/datasets/"+d.ID+"/items/"+y.ID+"/review", object{"decision": "approved"}, as(h.key(core.Local, same, httpapi.Scopes()...))).want(t, 200).into(t, &y)
		}
		if y.Review != "pending" {
			t.Errorf("two keys of one person approved: %+v", y)
		}
	}
	h.send("PATCH", path, object{"expected": "b"}, one).want(t, 200).into(t, &x)
	if x.Review != "pending" || x.Revision != 2 || string(x.Input) != `"q"` {
		t.Errorf("an edit left the review: %+v", x)
	}
	h.send("PATCH", "/v1/datasets/"+d.ID, object{"review_policy": object{"reviewers_required": 4}}).refused(t, 422, "invalid_request")
	h.send("PATCH", "/v1/datasets/"+d.ID, object{"description": "new", "review_policy": object{"reviewers_required": 1}}).want(t, 200)
	say(two, object{"decision": "approved"}).want(t, 200)
	var v api.DatasetVersion
	h.send("POST", "/v1/datasets/"+d.ID+"/versions", object{"include": "all"}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/datasets/"+d.ID+"/versions", object{"include": "approved"}).want(t, 200).into(t, &v)
	if v.Version != 1 || v.ItemCount != 1 || v.SealedBy != "owner" {
		t.Errorf("%+v", v)
	}
}

// An export is the same bytes each time, and its hash is in a header.
func TestDatasets_TDS09_Exports(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	d := h.dataset("orders", object{"allow_self": true})
	items := []object{{"input": "=1+1", "expected": "2"}, {"input": []object{{"role": "user", "content": "a\nb"}}, "metadata": object{"n": 1e2}}}
	for i := range 250 { // more than are read at a time
		items = append(items, object{"input": fmt.Sprint("question ", i), "expected": fmt.Sprint(i)})
	}
	for _, x := range h.addItems(d.ID, items...) {
		h.approveItem(d.ID, x.ID)
	}
	h.send("POST", "/v1/datasets/"+d.ID+"/versions", object{}).want(t, 200)
	for format, part := range map[string]string{
		"jsonl": `"input":"=1+1","expected":"2","metadata":null,"digest":"`, "json": `{"schema":"evalrouter.dataset_version.v1","dataset_id":"` + d.ID + `","name":"orders","version":1`, "csv": ",'=1+1,2,",
	} {
		path := "/v1/datasets/" + d.ID + "/versions/1/export?format=" + format
		r := h.send("GET", path, nil).want(t, 200)
		sum := sha256.Sum256(r.body)
		if r.header.Get("X-Content-SHA256") != hex.EncodeToString(sum[:]) || !bytes.Contains(r.body, []byte(part)) || bytes.Count(r.body, []byte("question ")) != 250 {
			t.Errorf("%s: %s %.300s", format, r.header.Get("X-Content-SHA256"), r.body)
		}
		if again := h.send("GET", path, nil); !bytes.Equal(again.body, r.body) {
			t.Errorf("%s: other bytes the second time", format)
		}
	}
	var diff api.DatasetDiff
	h.send("GET", "/v1/datasets/"+d.ID+"/versions/1/diff/1", nil).want(t, 200).into(t, &diff)
	if !cmp.Equal(diff, api.DatasetDiff{From: 1, To: 1, Added: []string{}, Changed: []string{}, Removed: []string{}}) {
		t.Errorf("%+v", diff)
	}
	h.send("GET", "/v1/datasets/"+d.ID+"/versions/2", nil).refused(t, 404, "not_found")
}

// A version becomes a source of a private benchmark, once.
func TestDatasets_Package(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	d := h.sealed("orders")
	path := "/v1/datasets/" + d.ID + "/versions/1/package"
	var src, again api.BenchmarkSource
	h.send("POST", path, nil).want(t, 200).into(t, &src)
	h.send("POST", path, nil).want(t, 200).into(t, &again)
	if src.Status != "completed" || *src.RowCount != 1 || again.ID != src.ID || again.SHA256 != src.SHA256 || src.URI != "workspace://dataset-"+d.ID+"-v1/v1.jsonl" {
		t.Errorf("%+v, %+v", src, again)
	}
	made := h.made(object{
		"name": "Orders", "source": src.URI, "sha256": src.SHA256, "task": "numeric", "columns": object{"answer": "expected", "question": "question"}, "prompt_template": "{{question}}",
		"max_output_tokens": 32, "data_license": "CC0-1.0", "rights_attestation": true,
	})
	if made.TaskCount != 1 {
		t.Errorf("%+v", made)
	}
	for n := 2; n <= 3; n++ { // archived, the source has no bytes, and the version gets another
		h.send("POST", "/v1/benchmark-sources/"+again.ID+"/archive", nil).want(t, 200)
		h.send("POST", path, nil).want(t, 200).into(t, &again)
		if again.ID != fmt.Sprintf("%s-%d", src.ID, n) || again.Status != "completed" || again.SHA256 != src.SHA256 || again.URI != fmt.Sprintf("workspace://%s-%d/v1.jsonl", src.ID, n) {
			t.Errorf("%+v", again)
		}
	}
	h.send("POST", "/v1/datasets/"+d.ID+"/versions/1/retract", object{"reason": "wrong"}).want(t, 200)
	h.send("POST", path, nil).refused(t, 409, "version_retracted")
	h.send("POST", "/v1/datasets/"+d.ID+"/archive", nil).want(t, 200)
	h.send("POST", "/v1/datasets/"+d.ID+"/items", object{"items": []object{{"input": "x"}}}).refused(t, 409, "dataset_archived")
	h.send("GET", "/v1/datasets/"+d.ID+"/versions/0", nil).want(t, 200)
}
