package pack_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
)

// broken is the table of broken packages, made once; nobody changes it.
var broken = sync.OnceValue(packtest.All)

func options() pack.Options { return pack.Options{Graders: families.Grader} }

func rules(all []pack.Finding, s pack.Severity) []string {
	var out []string
	for _, f := range all {
		if f.Severity == s && !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

func validate(t *testing.T, fsys fs.FS) pack.Report {
	t.Helper()
	rep, err := pack.Validate(context.Background(), fsys, options())
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestGood(t *testing.T) {
	t.Parallel()
	for _, template := range pack.Templates() {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			rep := validate(t, packtest.Good(template).FS())
			if !rep.Valid || rep.Errors+rep.Warnings+len(rep.Findings) > 0 {
				t.Fatalf("%+v", rep.Findings)
			}
			if rep.Tasks != 32 || rep.Fixtures < 6 || len(rep.Package) != 64 || len(rep.Components) != 4 {
				t.Errorf("%+v", rep)
			}
		})
	}
}

// Every broken package is refused by the rule that is meant and by no other,
// with a place and a remedy, and the finding repeats nothing of the package.
func TestBroken(t *testing.T) {
	t.Parallel()
	all := broken()
	if len(all) < 300 {
		t.Errorf("only %d broken packages", len(all))
	}
	names := map[string]bool{}
	for _, c := range all {
		if names[c.Name] {
			t.Errorf("two cases are called %q", c.Name)
		}
		names[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			rep := validate(t, c.Files.FS())
			if d := cmp.Diff([]string{c.Rule}, rules(rep.Findings, pack.Error)); d != "" {
				t.Fatalf("%s\n%v", d, rep.Findings)
			}
			if rep.Valid || rep.Errors == 0 || rep.Err() == nil {
				t.Error("not refused")
			}
			for _, f := range rep.Findings {
				if f.Message == "" || f.Remedy == "" || f.Path == "" {
					t.Errorf("a finding without words: %+v", f)
				}
			}
		})
	}
}

// Every rule has a package that breaks it, or a test of its own.
func TestRules(t *testing.T) {
	t.Parallel()
	elsewhere := []string{
		"file_unreadable", "package_too_large", "files_too_many", "tasks_too_many", "fixtures_too_many", // TestLimits and TestUnreadable
		"license_not_granted", "package_synthetic", // warnings: TestDraft
	}
	shown := map[string]bool{}
	for _, c := range broken() {
		shown[c.Rule] = true
	}
	seen := map[string]bool{}
	for _, r := range pack.Rules() {
		if seen[r.ID] || r.Remedy == "" || r.Severity == "" {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
		if !shown[r.ID] && !slices.Contains(elsewhere, r.ID) && !strings.HasPrefix(r.ID, "zip") && !neverOf(r.ID) {
			t.Errorf("no case breaks %s", r.ID)
		}
	}
}

// neverOf lists rules that come of building the table of line rules for both
// files, and that lines of fixtures cannot break: they hold no nesting and no
// numbers where those could stand.
func neverOf(id string) bool { return id == "fixture_json_depth" || id == "fixture_json_number" }

func TestPlaces(t *testing.T) {
	t.Parallel()
	p := packtest.Good(pack.TemplateText)
	lines := bytes.SplitAfter(p[pack.TasksFile], []byte("\n"))
	lines[4] = []byte(`{"id":"g04","input":7,"target":"x"}` + "\n")
	p[pack.TasksFile] = bytes.Join(lines, nil)
	p.Seal()
	rep := validate(t, p.FS())
	want := pack.Finding{Rule: "task_field_type", Severity: pack.Error, Path: "tasks.jsonl", Line: 5, Field: "input",
		Message: "want text or an array of messages", Remedy: "write a value of the type that is wanted"}
	if d := cmp.Diff([]pack.Finding{want}, rep.Findings); d != "" {
		t.Error(d)
	}
	p = packtest.Good(pack.TemplateText)
	text := string(p[pack.ManifestFile])
	at := 1 + strings.Count(text[:strings.Index(text, `"kind"`)], "\n")
	p[pack.ManifestFile] = []byte(strings.Replace(text, `"exact_match"`, `7`, 1))
	rep = validate(t, p.FS())
	if len(rep.Findings) != 1 || rep.Findings[0].Line != at || rep.Findings[0].Field != "grader.kind" {
		t.Errorf("want line %d: %+v", at, rep.Findings)
	}
}

// A finding never carries what stands in the package.
func TestFindingsRepeatNothing(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, line := range []string{`{"id":"` + secret + ` x","input":"a","target":"b"}`, `{"id":"a","input":"` + secret, `{"id":"a","input":"b","target":{"` + secret + `":1}}`} {
		p := packtest.Good(pack.TemplateText)
		p[pack.TasksFile] = []byte(line + "\n")
		p.Seal()
		for _, f := range validate(t, p.FS()).Findings {
			if strings.Contains(f.String()+f.Remedy, secret) {
				t.Errorf("%s", f)
			}
		}
	}
}

// FuzzManifest: reading never panics, and a manifest that is accepted is
// written and read back equal.
func FuzzManifest(f *testing.F) {
	for _, template := range pack.Templates() {
		f.Add([]byte(packtest.Good(template)[pack.ManifestFile]))
	}
	for _, c := range broken() {
		if strings.HasPrefix(c.Name, "manifest") && len(c.Files[pack.ManifestFile]) < 4096 {
			f.Add([]byte(c.Files[pack.ManifestFile]))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, findings := pack.ReadManifest(raw, families.Grader)
		for _, x := range findings {
			if x.Rule == "" || x.Message == "" || x.Line > 1+bytes.Count(raw, []byte("\n")) {
				t.Errorf("%+v", x)
			}
			for _, r := range pack.Rules() {
				if r.ID == x.Rule && r.Severity == pack.Error {
					return
				}
			}
		}
		again, findings := pack.ReadManifest(m.Write(), families.Grader)
		if d := cmp.Diff(m, again); d != "" {
			t.Errorf("%s\n%v", d, findings)
		}
	})
}

// FuzzLines: any two lines are validated without a panic, and a package that
// is valid gives its tasks and fixtures.
func FuzzLines(f *testing.F) {
	for i, template := range pack.Templates() {
		p := packtest.Good(template)
		task, _, _ := bytes.Cut(p[pack.TasksFile], []byte("\n"))
		fixture, _, _ := bytes.Cut(p[pack.FixturesFile], []byte("\n"))
		f.Add(uint8(i), task, fixture)
	}
	for _, c := range broken() {
		if c.Line != "" && len(c.Line) < 4096 {
			f.Add(uint8(0), []byte(c.Line), []byte(c.Line))
		}
	}
	f.Fuzz(func(t *testing.T, template uint8, tasks, fixtures []byte) {
		all := pack.Templates()
		p := packtest.Good(all[int(template)%len(all)])
		p[pack.TasksFile], p[pack.FixturesFile] = slices.Clip(tasks), slices.Clip(fixtures)
		if tasks == nil {
			p[pack.TasksFile] = []byte{}
		}
		if fixtures == nil {
			p[pack.FixturesFile] = []byte{}
		}
		p.Seal()
		rep := validate(t, p.FS())
		m, _ := pack.ReadManifest(p[pack.ManifestFile], families.Grader)
		n := 0
		for task, err := range pack.Tasks(context.Background(), p.FS(), m) {
			if err != nil && rep.Valid {
				t.Fatal(err)
			}
			if err == nil && (task.ID == "" || len(task.Input) == 0 || len(task.Target) == 0) {
				t.Fatalf("%+v", task)
			}
			n++
		}
		if rep.Valid && n != rep.Tasks {
			t.Errorf("%d tasks, the report says %d", n, rep.Tasks)
		}
		for _, err := range pack.Fixtures(context.Background(), p.FS(), m) {
			if err != nil && rep.Valid {
				t.Fatal(err)
			}
		}
	})
}

// A cancelled context ends validation with its error.
func TestValidate_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := pack.Validate(ctx, packtest.Good(pack.TemplateText).FS(), options()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
