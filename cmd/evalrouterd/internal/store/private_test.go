package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

var foreign = core.Scope{Workspace: "w2", Actor: "key-2"}

func code(c core.Code) error { return &core.Refusal{Code: c} }

// wants fails unless err is a refusal with that code.
func (d *db) wants(err error, c core.Code) {
	d.t.Helper()
	if !errors.Is(err, code(c)) {
		d.t.Errorf("%v, want %s", err, c)
	}
}

func newSource(id string, data []byte) core.DataSource {
	return core.DataSource{ID: core.SourceID(id), Workspace: "w1", FileName: "f.csv", Format: core.FormatCSV, Bytes: int64(len(data)), SHA256: "s", URI: "workspace://" + id + "/f.csv", Actor: "key-1"}
}

// ownProfile is a candidate of w1 with its tasks.
func (d *db) ownProfile(id string, n int) core.Profile {
	d.t.Helper()
	p := profile
	p.ID, p.Slug, p.Workspace, p.Status, p.TaskCount, p.ManifestSHA256 = core.ProfileID(id+"@1"), id, "w1", "candidate", n, "m-"+id
	d.must(d.PutProfile(context.Background(), "claim-"+id, p, func(yield func(bundle.Task, error) bool) {
		for i := range n {
			if !yield(bundle.Task{ID: fmt.Sprint("t", i), Input: []bundle.Message{{Role: bundle.User, Text: "q"}}, Target: []string{"1"}}, nil) {
				return
			}
		}
	}))
	return p
}

func once(key string) core.Once { return core.Once{Op: "benchmarks", Key: key, Hash: "h-" + key} }

func encoded(b core.OwnBenchmark) ([]byte, error) { return json.Marshal(b.Profile) }

func (d *db) makes(key string, p core.Profile) (core.Admitted, error) {
	return d.Private().AddBenchmark(context.Background(), scope, once(key), core.OwnBenchmark{
		Profile: p.ID, Name: "Mine", Task: "numeric", SourceURI: "u", ManifestSHA256: p.ManifestSHA256, TaskCount: p.TaskCount, Actor: "key-1",
	}, encoded)
}

// brought leaves one row or more in every table of what workspaces bring.
func (d *db) brought() {
	d.t.Helper()
	ctx, st := context.Background(), d.Private()
	data := []byte("q,a\n\x00\xff,2\n")
	for _, id := range []string{"whole", "begun", "failed"} {
		d.must(st.AddSource(ctx, newSource(id, data)))
		d.check(st.Append(ctx, scope, core.SourceID(id), 0, data[:4]))
	}
	for _, id := range []core.SourceID{"whole", "failed"} {
		d.check(st.Append(ctx, scope, id, 4, data[4:]))
	}
	d.check(st.Finish(ctx, scope, "whole", core.WhatFound{Rows: 1, Columns: []string{"q", "a"}}))
	d.check(st.Finish(ctx, scope, "failed", core.WhatFound{Error: "data_syntax", Reason: "line 2"}))
	d.must(st.AddImport(ctx, scope, core.DataImport{ID: "i1", Source: "hf://o/s@main", Paths: []string{"f.csv"}, Actor: "key-1"}))
	d.must(d.makes("brought", d.ownProfile("byob-1", 2)))
	d.must(d.Feedback().Add(ctx, said("said", "d")))
	d.write(d.agents(), arrival("a", talk(3)...))
	curated := d.curated("set", 1)
	d.check(curated.AddItems(ctx, scope, "set", []core.NewItem{newItem("item", "a", "1")}))
	d.approve(curated, "set", "item")
	d.must(curated.Seal(ctx, scope, "set", "v"))
	d.check(curated.Retract(ctx, scope, "set", 1, "r"))
}

func TestPrivate_Sources(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.Private()
		data := bytes.Repeat([]byte{0, 1, 0xFE, '\n'}, 1000)
		src := newSource("s1", data)
		made, err := st.AddSource(ctx, src)
		d.check(err)
		src.Status, src.CreatedAt = core.SourcePending, made.CreatedAt
		read := func() core.DataSource {
			t.Helper()
			got, err := st.Source(ctx, scope, "s1")
			d.check(err)
			return got
		}
		src.Columns = []string{}
		if diff := cmp.Diff(src, read()); diff != "" {
			t.Error(diff)
		}
		d.check(st.Append(ctx, scope, "s1", 0, data[:1500]))
		for _, tt := range []struct {
			sc    core.Scope
			start int64
			data  []byte
		}{{scope, 0, data[:10]}, {scope, 1499, data[:1]}, {foreign, 1500, data[1500:]}, {scope, 1500, make([]byte, len(data))}} {
			if err := st.Append(ctx, tt.sc, "s1", tt.start, tt.data); !errors.Is(err, core.ErrMoved) {
				t.Errorf("a chunk that does not follow: %v", err)
			}
		}
		if err := st.Finish(ctx, scope, "s1", core.WhatFound{Rows: 1}); !errors.Is(err, core.ErrMoved) {
			t.Errorf("half a source is finished: %v", err)
		}
		d.check(st.StartOver(ctx, scope, "s1"))
		d.check(st.Append(ctx, scope, "s1", 0, data[:3999]))
		d.check(st.Append(ctx, scope, "s1", 3999, data[3999:]))
		d.clean()
		d.check(st.Finish(ctx, scope, "s1", core.WhatFound{Rows: 7, Columns: []string{"a", "b"}}))
		got := read()
		src.Status, src.Received, src.Rows, src.Columns = core.SourceCompleted, 4000, 7, []string{"a", "b"}
		if diff := cmp.Diff(src, got); diff != "" {
			t.Error(diff)
		}
		var out bytes.Buffer
		if d.check(st.Copy(ctx, got, &out)); !bytes.Equal(out.Bytes(), data) {
			t.Errorf("%d bytes came back that differ", out.Len())
		}
		if same, err := st.SourceByURI(ctx, scope, src.URI); err != nil || same.ID != "s1" {
			t.Errorf("by its name: %+v, %v", same, err)
		}
		_, err = st.Source(ctx, foreign, "s1")
		d.wants(err, core.NotFound)
		_, err = st.SourceByURI(ctx, foreign, src.URI)
		d.wants(err, core.NotFound)
		stolen := got
		stolen.Workspace = "w2"
		d.wants(st.Copy(ctx, stolen, &out), core.SourceNotReady)
		d.wants(st.ArchiveSource(ctx, foreign, "s1"), core.NotFound)
		d.check(st.ArchiveSource(ctx, scope, "s1"))
		d.check(st.ArchiveSource(ctx, scope, "s1"))
		d.wants(st.Copy(ctx, got, &out), core.SourceNotReady)
		d.clean()
	})
}

// Lists are paged by time and id, and a full workspace takes no more.
func TestPrivate_ListsAndQuotas(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.Private()
		d.brought()
		var ids []core.SourceID
		for after := (*core.Place)(nil); ; {
			page, err := st.Sources(ctx, scope, "", after, 2)
			d.check(err)
			for _, s := range page {
				ids = append(ids, s.ID)
			}
			if len(page) < 2 {
				break
			}
			after = &core.Place{At: page[1].CreatedAt, ID: string(page[1].ID)}
		}
		if len(ids) != 3 {
			t.Errorf("paged: %v", ids)
		}
		for status, want := range map[string]int{"pending": 1, "verifying": 0, "completed": 1, "failed": 1, "archived": 0} {
			if page, err := st.Sources(ctx, scope, status, nil, 10); err != nil || len(page) != want {
				t.Errorf("%s: %d, %v", status, len(page), err)
			}
		}
		d.must(d.raw.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 998)
			INSERT INTO benchmark_sources (id, workspace_id, file_name, format, bytes, sha256, status, uri, actor, created_at) SELECT 'x' || i, 'w1', 'f', 'csv', 1, 's', 'pending', 'u', 'a', 1 FROM n`))
		_, err := st.AddSource(ctx, newSource("more", []byte("x")))
		d.wants(err, core.SourceQuota)
		d.check(st.ArchiveSource(ctx, scope, "x7"))
		d.must(st.AddSource(ctx, newSource("more", []byte("x"))))
		d.must(d.raw.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
			INSERT INTO profiles (id, workspace_id, slug, version, status, task_count, manifest_sha256, doc, created_at) SELECT 'x' || i, 'w1', 'x' || i, '1', 'active', 0, '', '{}', 1 FROM n`))
		d.must(d.raw.Exec(`INSERT INTO private_benchmarks (profile_id, workspace_id, name, task, source_uri, manifest_sha256, task_count, actor, created_at)
			SELECT id, 'w1', 'n', 't', 'u', '', 0, 'a', 1 FROM profiles WHERE id LIKE 'x%'`))
		d.wants(st.Room(ctx, scope), core.SourceQuota)
		late := d.ownProfile("byob-late", 1)
		_, err = d.makes("late", late)
		d.wants(err, core.SourceQuota)
		if _, err := d.Profile(ctx, scope, late.ID); !errors.Is(err, code(core.NotFound)) {
			t.Errorf("a benchmark that was refused is seen: %v", err)
		}
		d.check(st.Room(ctx, foreign))
		d.check(st.ArchiveBenchmark(ctx, scope, "x9"))
		d.must(d.makes("late", late))
		d.clean()
	})
}

// A benchmark is made once for a request, is seen by its workspace alone, and
// has no tasks of which nothing is known.
func TestPrivate_Benchmarks(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.Private()
		p := d.ownProfile("byob-1", 3)
		for _, sc := range []core.Scope{scope, foreign, {}} {
			if _, err := d.Profile(ctx, sc, p.ID); !errors.Is(err, code(core.NotFound)) {
				t.Errorf("%q sees what is not made yet: %v", sc.Workspace, err)
			}
		}
		first, err := d.makes("k", p)
		d.check(err)
		again, err := d.makes("k", p)
		if err != nil || !again.Replayed || !bytes.Equal(first.Body, again.Body) {
			t.Errorf("again: %+v, %v", again, err)
		}
		_, err = st.AddBenchmark(ctx, scope, core.Once{Op: "benchmarks", Key: "k", Hash: "other"}, core.OwnBenchmark{}, encoded)
		d.wants(err, core.IdempotencyConflict)
		if out, ok, err := d.Recall(ctx, scope, "benchmarks", "k", "h-k"); err != nil || !ok || !bytes.Equal(out.Body, first.Body) {
			t.Errorf("recalled: %+v, %v, %v", out, ok, err)
		}
		if got, err := d.Profile(ctx, scope, p.ID); err != nil || got.Status != "active" {
			t.Errorf("%+v, %v", got, err)
		}
		_, err = d.Profile(ctx, foreign, p.ID)
		d.wants(err, core.NotFound)
		_, err = st.Benchmark(ctx, foreign, p.ID)
		d.wants(err, core.NotFound)
		d.wants(st.ArchiveBenchmark(ctx, foreign, p.ID), core.NotFound)
		d.clean()
		d.check(st.ArchiveBenchmark(ctx, scope, p.ID))
		b, err := st.Benchmark(ctx, scope, p.ID)
		d.check(err)
		d.time.Add(1_000_000)
		d.check(st.ArchiveBenchmark(ctx, scope, p.ID))
		if later, err := st.Benchmark(ctx, scope, p.ID); err != nil || later.ArchivedAt != b.ArchivedAt || b.ArchivedAt == 0 {
			t.Errorf("%+v, %v", later, err)
		}
		for status, want := range map[string]int{"": 1, "active": 0, "archived": 1} {
			if page, err := st.Benchmarks(ctx, scope, status, nil, 5); err != nil || len(page) != want {
				t.Errorf("%s: %d, %v", status, len(page), err)
			}
		}
		d.clean()
	})
}

func TestPrivate_Imports(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.Private()
		im, err := st.AddImport(ctx, scope, core.DataImport{ID: "i", Source: "hf://o/s@main", Paths: []string{"a.csv", "b.csv"}, Actor: "key-1"})
		d.check(err)
		_, err = st.Import(ctx, foreign, "i")
		d.wants(err, core.NotFound)
		im.Status, im.Commit, im.Files = core.ImportCompleted, "c", []core.ImportedFile{{URI: "u", SHA256: "s", Bytes: 5, Source: "x"}}
		im, err = st.EndImport(ctx, scope, im)
		d.check(err)
		got, err := st.Import(ctx, scope, "i")
		if diff := cmp.Diff(im, got); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
		if _, err := st.EndImport(ctx, scope, im); !errors.Is(err, core.ErrMoved) {
			t.Errorf("ended twice: %v", err)
		}
	})
}

// An upload that nobody goes on with is given up, bytes and all; one that is
// whole, or younger, is not.
func TestPrivate_Abandon(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.Private()
		data := []byte("q,a\n\x00\xff,2\n")
		for _, id := range []string{"whole", "begun", "announced"} {
			d.must(st.AddSource(ctx, newSource(id, data)))
		}
		d.check(st.Append(ctx, scope, "whole", 0, data))
		d.check(st.Append(ctx, scope, "begun", 0, data[:4]))
		then := d.Now()
		d.must(st.AddSource(ctx, newSource("young", data)))
		d.must(d.raw.Exec(`UPDATE benchmark_sources SET created_at = $1 WHERE id = 'young'`, int64(then)+1))
		d.check(st.Append(ctx, scope, "young", 0, data[:4]))
		for _, want := range []int{2, 0} {
			if n, err := st.Abandon(ctx, then); err != nil || n != want {
				t.Errorf("%d are given up, %v; want %d", n, err, want)
			}
		}
		for id, want := range map[core.SourceID]string{"whole": core.SourcePending, "begun": core.SourceFailed, "announced": core.SourceFailed, "young": core.SourcePending} {
			got, err := st.Source(ctx, scope, id)
			d.check(err)
			if got.Status != want || (got.Error == core.UploadAbandoned) != (want == core.SourceFailed) {
				t.Errorf("%s is %s (%s)", id, got.Status, got.Error)
			}
		}
		var left int
		d.check(d.raw.QueryRow(`SELECT count(*) FROM benchmark_source_chunks WHERE source_id = 'begun'`).Scan(&left))
		if left != 0 {
			t.Errorf("%d pieces of it are left", left)
		}
		d.check(st.Append(ctx, scope, "young", 4, data[4:]))
		if err := st.Append(ctx, scope, "begun", 4, data[4:]); err == nil {
			t.Error("an upload that was given up goes on")
		}
	})
}
