package flow_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/google/go-cmp/cmp"
)

func journal(dir string, d flow.Disk, now func() time.Time) *flow.Journal {
	return &flow.Journal{Dir: dir, Disk: d, Now: now, Sleep: sleep}
}

func lock(t *testing.T, j *flow.Journal, fp string) *flow.Held {
	t.Helper()
	h, err := j.Lock(t.Context(), fp)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func operation() api.Operation {
	return api.Operation{Kind: flow.RunKind, BaseURL: "http://x", WorkspaceID: "w", QuoteID: "q1", IdempotencyKey: "k1", State: flow.Accepted, Options: map[string]bool{}}
}

func TestJournalKeeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	j := journal(dir, flow.OS{}, func() time.Time { return at })
	h := lock(t, j, "fp")
	if op, err := h.Load(); op != nil || err != nil {
		t.Fatalf("an empty journal holds %v, %v", op, err)
	}
	want := operation()
	if err := h.Save(want); err != nil {
		t.Fatal(err)
	}
	if err := h.Unlock(); err != nil {
		t.Fatal(err)
	}
	want.Schema, want.Fingerprint, want.CreatedAt, want.UpdatedAt = api.OperationSchema, "fp", at, at
	got, err := j.Peek("fp")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	// A fingerprint that begins like another is another.
	if op, err := j.Peek("f"); op != nil || err != nil {
		t.Errorf("another fingerprint holds %v, %v", op, err)
	}
	for path, mode := range map[string]os.FileMode{"operations": 0o700, "operations/fp.json": 0o600, "operations/fp.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v; want %v", path, info.Mode().Perm(), err, mode)
		}
	}
}

func TestJournalGenerations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := journal(dir, flow.OS{}, time.Now)
	for i := range 12 {
		h := lock(t, j, "fp")
		if _, err := h.Load(); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			h.Separate()
		}
		op := operation()
		op.QuoteID = strings.Repeat("q", i+1)
		if err := errors.Join(h.Save(op), h.Unlock()); err != nil {
			t.Fatal(err)
		}
		got, err := j.Peek("fp")
		if err != nil || got.QuoteID != op.QuoteID {
			t.Fatalf("generation %d is not the newest: %+v, %v", i+1, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "operations", "fp.json")); err != nil {
		t.Errorf("the first generation is gone: %v", err)
	}
}

// A record that cannot be understood is never taken for a missing one.
func TestJournalRefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	const good = `{"schema":"evalrouter.operation.v1","fingerprint":"fp","quote_id":"q","idempotency_key":"k","state":"accepted"}`
	tests := []struct{ name, content string }{
		{"empty", ""},
		{"not JSON", "{"},
		{"a list", "[]"},
		{"null", "null"},
		{"zeros, as after a power failure", strings.Repeat("\x00", 200)},
		{"cut off", good[:60]},
		{"something behind it", good + "{}"},
		{"another version", strings.Replace(good, "v1", "v2", 1)},
		{"another fingerprint", strings.Replace(good, `"fp"`, `"fq"`, 1)},
		{"no key", strings.Replace(good, `"k"`, `""`, 1)},
		{"no quote", strings.Replace(good, `"q"`, `""`, 1)},
		{"an unknown state", strings.Replace(good, "accepted", "sent", 1)},
		{"submitted without a run", strings.Replace(good, "accepted", "submitted", 1)},
		{"too large", good + strings.Repeat(" ", 70<<10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "operations", "fp.json")
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(tt.content), 0o600)); err != nil {
				t.Fatal(err)
			}
			op, err := journal(dir, flow.OS{}, time.Now).Peek("fp")
			if op != nil || !errors.Is(err, api.StateCorrupt) || !strings.Contains(err.Error(), path) {
				t.Errorf("read %v, %v; want state_corrupt with the path", op, err)
			}
		})
	}
	t.Run("a link to elsewhere", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		other := filepath.Join(dir, "other")
		if err := errors.Join(os.WriteFile(other, []byte(good), 0o600), os.Mkdir(filepath.Join(dir, "operations"), 0o700),
			os.Symlink(other, filepath.Join(dir, "operations", "fp.json"))); err != nil {
			t.Fatal(err)
		}
		if op, err := journal(dir, flow.OS{}, time.Now).Peek("fp"); op != nil || !errors.Is(err, api.StateCorrupt) {
			t.Errorf("read %v, %v; want state_corrupt", op, err)
		}
	})
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	n, seed := 25, uint32(42)
	base := flow.Request{
		Origin: "http://x", Workspace: "w", Kind: flow.RunKind, ProfileID: "a@1",
		Models:   []flow.ModelSetting{{Model: api.ModelRef{Kind: api.ManagedKind, RouteID: "r"}}},
		Coverage: api.Coverage{Mode: api.Sample, SampleCount: &n, Seed: &seed},
	}
	changes := []struct {
		name   string
		change func(*flow.Request)
	}{
		{"origin", func(r *flow.Request) { r.Origin = "http://y" }},
		{"workspace", func(r *flow.Request) { r.Workspace = "v" }},
		{"kind", func(r *flow.Request) { r.Kind = flow.ResumeKind }},
		{"benchmark version", func(r *flow.Request) { r.ProfileID = "a@2" }},
		{"model", func(r *flow.Request) { r.Models[0].Model.RouteID = "s" }},
		{"connection instead of route", func(r *flow.Request) { r.Models[0].Model = api.ModelRef{Kind: api.ConnectionKind, ConnectionID: "r"} }},
		{"reasoning", func(r *flow.Request) { r.Models[0].Reasoning = &api.ReasoningChoice{Mode: "off"} }},
		{"concurrency", func(r *flow.Request) { r.Models[0].Concurrency = "4" }},
		{"output format", func(r *flow.Request) { r.Models[0].OutputFormat = "json_schema" }},
		{"sample size", func(r *flow.Request) { m := 26; r.Coverage.SampleCount = &m }},
		{"seed", func(r *flow.Request) { s := uint32(43); r.Coverage.Seed = &s }},
		{"cap given as a flag", func(r *flow.Request) { m := 5 * usd.Dollar; r.Cap = &m }},
		{"consents", func(r *flow.Request) { r.Consents = map[string]bool{"retry_unknown": true} }},
		{"source run", func(r *flow.Request) { r.SourceRunID = "x" }},
	}
	seen := map[string]string{}
	first, err := base.Fingerprint()
	if err != nil || len(first) != 64 {
		t.Fatalf("fingerprint %q, %v", first, err)
	}
	if again, _ := base.Fingerprint(); again != first {
		t.Fatal("the same request has two fingerprints")
	}
	seen[first] = "nothing"
	for _, c := range changes {
		r := base
		r.Models = append([]flow.ModelSetting{}, base.Models...)
		c.change(&r)
		fp, err := r.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[fp]; ok {
			t.Errorf("changing %s and %s give one fingerprint", c.name, other)
		}
		seen[fp] = c.name
	}
}

// A record is never renamed over something that is not a file of its own kind.
func TestRenameReplacesRegularFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, target, link := filepath.Join(dir, "from"), filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(from, []byte("new"), 0o600), os.WriteFile(target, []byte("old"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := (flow.OS{}).Rename(from, link); err == nil {
		t.Error("a link was replaced")
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	if err := (flow.OS{}).Rename(from, target); err != nil {
		t.Errorf("a regular file: %v", err)
	}
}
