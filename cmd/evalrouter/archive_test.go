package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
)

// offline is the command on another machine: an empty home, no service, and a
// network where nobody answers.
func offline(t *testing.T, home string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := ownProcess(t, home, "http://127.0.0.1:9", "no-token", []string{"EVALROUTER_LOCAL=off"}, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), 0
}

// archived copies an archive that an earlier version saved to a home of its own.
func archived(t *testing.T) (home, archive string) {
	t.Helper()
	home = t.TempDir()
	archive = filepath.Join(home, "saved")
	if err := os.CopyFS(archive, os.DirFS(filepath.Join("testdata", "archive", "first"))); err != nil {
		t.Fatal(err)
	}
	return home, archive
}

func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		sum := sha256.Sum256(b)
		out[name] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A saved archive does not change when the program does: this one was saved by a
// version that kept less of a run. It is checked and shown on a machine without a
// service or a network, and a new presentation is a new file.
func TestArchive_CHN22_OfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	home, archive := archived(t)
	before := hashes(t, archive)
	out, errs, code := offline(t, home, "compare", "--archive", "saved", "--output", "again.html")
	if code != 0 || !strings.Contains(out, "every source has its recorded SHA-256") || !strings.Contains(out, "not shown  mcnemar exact") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	if d := cmp.Diff(before, hashes(t, archive)); d != "" {
		t.Error("the archive changed:", d)
	}
	again, err := os.ReadFile(filepath.Join(home, "again.html"))
	if err != nil || !bytes.Contains(again, []byte("Practice solver 0.8")) || !bytes.Contains(again, []byte("Content-Security-Policy")) {
		t.Errorf("the new presentation: %v\n%s", err, again)
	}
	// What an earlier version did not say is no change; what it said is.
	doc := filepath.Join(archive, "comparison.json")
	b, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{`"graded": 6`, `"graded": 5`}, {`"verdict": "not shown"`, `"verdict": "better"`}, {`"p_holm": 1`, `"p_holm": 0`}, {`"label": "B"`, `"label": "C"`}} {
		if err := os.WriteFile(doc, bytes.Replace(b, []byte(c[0]), []byte(c[1]), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := offline(t, home, "compare", "--archive", "saved"); code != 2 || !strings.Contains(errs, "archive_changed") || out != "" {
			t.Errorf("%s in the document was taken for %s: exit %d\n%s%s", c[1], c[0], code, out, errs)
		}
	}
}

// One changed byte anywhere in sources/ is found, and nothing is shown.
func TestArchive_CMP26_OneByte(t *testing.T) {
	t.Parallel()
	home, archive := archived(t)
	files, err := filepath.Glob(filepath.Join(archive, "sources", "*"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, len(b) / 3, len(b) - 1} {
			for _, other := range [][]byte{append(append(bytes.Clone(b[:at]), b[at]^1), b[at+1:]...), append(bytes.Clone(b[:at]), b[at+1:]...), append(append(bytes.Clone(b[:at]), ' '), b[at:]...)} {
				if err := os.WriteFile(name, other, 0o600); err != nil {
					t.Fatal(err)
				}
				if out, errs, code := offline(t, home, "compare", "--archive", "saved"); code != 2 || out != "" || !strings.Contains(errs, filepath.Base(name)) || !strings.Contains(errs, "(archive_changed)") {
					t.Errorf("%s was changed at byte %d: exit %d\n%s%s", filepath.Base(name), at, code, out, errs)
				}
			}
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, errs, code := offline(t, home, "compare", "--archive", "saved"); code != 0 {
		t.Errorf("put back, it is refused: %s%s", out, errs)
	}
}

// What a chain's export does not record is unknown to whoever reads the report;
// nothing is computed in its place.
func TestArchive_CHN18_Unknown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	hash, n := strings.Repeat("ab", 32), 3
	chain := api.ChainExport{
		Schema: api.ChainExportSchema, Label: "original + 2 resumes", WorkspaceID: "w", TargetKind: api.ManagedKind, Planned: 5, Graded: 3,
		Chain: api.ChainRecord{RootRunID: "a", NewestRunID: "c", RunIDs: []string{"a", "b", "c"}, Version: hash, Supported: true, Status: api.StatusPartial},
		Runs:  []api.ChainRun{{RunID: "a", ResultVersion: 1, DecidedCells: 2}, {RunID: "b", ResultVersion: 1}, {RunID: "c", ResultVersion: 1, DecidedCells: 1}},
		Identities: api.ExportIdentities{
			ProfileID: "sob-text@6", ManifestSHA256: hash, DatasetAssetsSHA256: hash, PopulationCount: 5, PopulationSHA256: hash, SelectedCount: 5, TaskIDsHash: hash, OutputFormat: "free-text",
		},
		Model:       api.SelectedModel{Kind: api.ManagedKind, ModelID: "m", DisplayName: "Model"},
		ErrorCounts: map[string]int{"provider_timeout": 1}, Unscored: []api.PendingReason{{Code: "provider_error", Cells: 1}, {Code: "cancelled", Cells: 1}},
		Profiles: []api.ExportProfile{{
			ProfileID: "sob-text@6", Headline: api.ExportHeadline{Key: "accuracy", Name: "Accuracy", Denominator: 3, Value: new(1.0)}, Counts: api.CoverageCounts{Planned: 5, Graded: 3, Errors: 1, Cancelled: 1},
			Metrics: []api.MetricRecord{{Name: "Accuracy", Value: 1, SampleCount: &n}, {Name: "Truth Score", Value: 0.25}},
		}},
		ExportPolicy: api.ExportPolicy{Answers: "withheld"},
	}
	b, err := json.Marshal(chain)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	m := comparison.Member{Source: api.ComparedSource{Path: "sources/a.chain.json", SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(b)), Kind: api.SourceChain}}
	if m.Summary, m.Chain, err = comparison.ReadChain(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	doc, err := comparison.Make([]comparison.Member{m}, comparison.Options{GeneratedAt: time.Unix(0, 0), Version: "0"})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "chain", "sources"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"comparison.json": saved, "sources/a.chain.json": b} {
		if err := os.WriteFile(filepath.Join(home, "chain", name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := offline(t, home, "compare", "--archive", "chain")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{
		"sob-text@6, all 5 tasks, generation variant free-text", "A is original + 2 resumes: 100.0 %, 3 of 5 tasks graded", "A without a score, and in no figure: cancelled 1, provider error 1; errors by code: provider timeout 1",
		"Accuracy     100.0 %         3  unknown", "Truth Score   25.0 %   unknown  unknown",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}
