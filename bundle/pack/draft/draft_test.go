package draft_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/draft"
)

// BEN-08, BEN-09: every draft is valid, and its only findings are that it is
// synthetic and that it claims no licence.
func TestDraft_BEN08_BEN09(t *testing.T) {
	t.Parallel()
	for _, template := range pack.Templates() {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			files, err := draft.Files(draft.Draft{Namespace: "acme", Name: "my-benchmark", Template: template})
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			for _, f := range files {
				fsys[f.Path] = &fstest.MapFile{Data: f.Data}
			}
			rep, err := pack.Validate(context.Background(), fsys, pack.Options{Graders: families.Grader, Sealed: true})
			if err != nil || !rep.Valid {
				t.Fatalf("%v, %+v", err, rep.Findings)
			}
			var rules []string
			for _, f := range rep.Findings {
				rules = append(rules, f.Rule)
			}
			if d := cmp.Diff([]string{"license_not_granted", "package_synthetic"}, rules); d != "" {
				t.Error(d)
			}
			if rep.Tasks < 6 || rep.Fixtures < 5 {
				t.Errorf("%d tasks, %d fixtures", rep.Tasks, rep.Fixtures)
			}
			if !bytes.Contains(fsys[pack.ManifestFile].Data, []byte(`"synthetic": true`)) || !strings.Contains(string(fsys[pack.ReadmeFile].Data), "synthetic") {
				t.Error("the draft does not say that it is synthetic")
			}
			checkFixtures(t, fsys, files[0].Data)
		})
	}
}

// checkFixtures: the grader of a draft decides its own fixtures and golds as
// the draft says.
func checkFixtures(t *testing.T, fsys fstest.MapFS, manifest []byte) {
	t.Helper()
	m, _ := pack.ReadManifest(manifest, families.Grader)
	g, err := families.Grader(m.Config())
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := pack.TasksOf(context.Background(), fsys, m, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range pack.Fixtures(context.Background(), fsys, m) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := g.Grade(tasks[f.Task], f.Answer)
		if err != nil || v.Outcome != f.Expect {
			t.Errorf("fixture %d: %v, %v; want %s", f.Line, v.Outcome, err, f.Expect)
		}
	}
}

func TestDraft_UnknownTemplate(t *testing.T) {
	t.Parallel()
	if _, err := draft.Files(draft.Draft{Namespace: "a", Name: "b", Template: "c"}); err == nil {
		t.Error("no error")
	}
}
