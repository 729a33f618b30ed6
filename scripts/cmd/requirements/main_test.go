package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const list = "ZZA-01 cli F\nZZA-02 cli F\nZZB-01 srv S\nZZB-102 srv S\n"

// tree holds one name of each form. The ids are of areas that the real list does not have.
func tree(t *testing.T, change map[string]string) string {
	t.Helper()
	files := map[string]string{
		"repo/docs/requirements.txt":         list,
		"repo/docs/requirements-covered.txt": "ZZA-01\n",
		"repo/lib/a_test.go":                 "package a\n\n// ZZB-01 in a comment proves nothing.\nfunc TestRun_ZZA01_Repeats(t *testing.T) { t.Log(\"ZZB-01\") }\n",
	}
	for name, text := range change {
		if text == "" {
			delete(files, name)
			continue
		}
		files[name] = text
	}
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "repo")
}

func TestNamesThatCount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		want             string // ids found beside ZZA-01, as -update writes them
	}{
		{"fuzz function", "repo/x/b_test.go", "package b\n\nfunc FuzzZZB01(f *testing.F) {}\n", "ZZB-01"},
		{"several in one name", "repo/x/b_test.go", "package b\n\nfunc TestX_ZZA02_ZZB01(t *testing.T) {}\n", "ZZA-02 ZZB-01"},
		{"three digits", "repo/x/b_test.go", "package b\n\nfunc TestX_ZZB102(t *testing.T) {}\n", "ZZB-102"},
		{"part of a longer number", "repo/x/b_test.go", "package b\n\nfunc TestX_ZZB1022(t *testing.T) {}\n", ""},
		{"subtest", "repo/x/b_test.go", "package b\n\nfunc TestX(t *testing.T) { t.Run(\"ZZB-01 lists\", nil) }\n", "ZZB-01"},
		{"keyed row", "repo/x/b_test.go", "package b\n\nvar rows = []row{{name: \"ZZB-01 lists\"}}\n", "ZZB-01"},
		{"row without field names", "repo/x/b_test.go", "package b\n\nvar rows = []row{{\"ZZB-01 lists\", \"ZZA-02\"}}\n", "ZZB-01"},
		{"map of rows", "repo/x/b_test.go", "package b\n\nvar rows = map[string]row{\"ZZB-01\": {1}}\n", "ZZB-01"},
		{"other string", "repo/x/b_test.go", "package b\n\nvar s = \"ZZB-01\"\n", ""},
		{"other function", "repo/x/b_test.go", "package b\n\nfunc helpZZB01() {}\n", ""},
		{"no test file", "repo/x/b.go", "package b\n\nfunc TestZZB01() {}\n", ""},
		{"script comment", "repo/x/testdata/run.txtar", "# ZZB-01: lists\nexec x\n-- f --\n# ZZA-02\n", "ZZB-01"},
		{"script name", "repo/x/testdata/ZZB-01.txt", "exec x ZZA-02\n", "ZZB-01"},
		{"text outside testdata", "repo/docs/x.txt", "# ZZB-01\n", ""},
		{"table", "repo/x/testdata/t.jsonl", "{\"name\":\"ZZB-01 a\",\"in\":\"ZZA-02\"}\nbroken\n", "ZZB-01"},
		{"built binaries' folder", "repo/bin/b_test.go", "package b\n\nfunc TestX_ZZB01(t *testing.T) {}\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{tt.file: tt.text})
			var out bytes.Buffer
			if code := run([]string{"-root", root, "-update"}, "", &out, &out); code != 0 {
				t.Fatalf("exit %d:\n%s", code, &out)
			}
			written, err := os.ReadFile(filepath.Join(root, "docs", "requirements-covered.txt"))
			if err != nil {
				t.Fatal(err)
			}
			_, ids, _ := strings.Cut(string(written), "\n") // behind the comment line
			if got, want := strings.Join(strings.Fields(ids), " "), strings.TrimSpace("ZZA-01 "+tt.want); got != want {
				t.Errorf("covered ids %q, want %q", got, want)
			}
			if code := run([]string{"-root", root}, "", &out, &out); code != 0 {
				t.Errorf("exit %d after -update:\n%s", code, &out)
			}
		})
	}
}

func TestBooks(t *testing.T) {
	t.Parallel()
	const spec = "- [ ] ZZA-01 [cli,F] a\n- [ ] ZZA-02 [cli,F] b\n- [x] ZZB-01 [srv,S] c\n- [ ] ZZB-102 [srv,S] d\n"
	tests := []struct {
		name   string
		change map[string]string
		args   []string
		code   int
		want   string
	}{
		{"right", nil, nil, 0, "1 of 4 requirements are named by a test"},
		{"missing ids are listed", nil, []string{"-missing"}, 0, "ZZB   0 of   2  no test names 01 102"},
		{"lost", map[string]string{"repo/lib/a_test.go": ""}, nil, 1, "ZZA-01 was named by a test and is no longer"},
		{"lost and updated", map[string]string{"repo/lib/a_test.go": ""}, []string{"-update"}, 0, "dropped ZZA-01"},
		{"gained", map[string]string{"repo/lib/b_test.go": "package a\n\nfunc TestZZB01(t *testing.T) {}\n"}, nil, 1, "covered list lacks: ZZB-01"},
		{"unknown", map[string]string{"repo/lib/b_test.go": "package a\n\nfunc TestZZB77(t *testing.T) {}\n"}, nil, 1, "ZZB-77 is no requirement"},
		{"unknown is no update", map[string]string{"repo/lib/b_test.go": "package a\n\nfunc TestZZB77(t *testing.T) {}\n"}, []string{"-update"}, 1, "lib/b_test.go: TestZZB77"},
		{"equal to the text", map[string]string{"shared/spec/requirements.md": spec}, nil, 0, "1 of 4"},
		{"another owner in the text", map[string]string{"shared/spec/requirements.md": strings.Replace(spec, "srv,S", "cli,S", 1)}, nil, 1, "ZZB-01 [cli,S] is in the requirement text only"},
		{"gone from the text", map[string]string{"shared/spec/requirements.md": spec[:50]}, nil, 1, "ZZB-102 [srv,S] is in the committed list only"},
		{"written from the text", map[string]string{"shared/spec/requirements.md": spec, "repo/docs/requirements.txt": "ZZA-01 srv S\n"}, []string{"-sync"}, 0, "1 of 4"},
		{"nothing to write from", map[string]string{"shared/spec/requirements.md": "text\n"}, []string{"-sync"}, 1, "no requirement in"},
		{"bad list", map[string]string{"repo/docs/requirements.txt": "ZZA-1 cli F\n"}, nil, 1, "line 1 is not"},
		{"repeated id", map[string]string{"repo/docs/requirements.txt": list + "ZZA-01 cli F\n"}, nil, 1, "line 5 repeats ZZA-01"},
		{"no covered list", map[string]string{"repo/docs/requirements-covered.txt": ""}, nil, 1, "read covered ids"},
		{"where", nil, []string{"-where", "ZZA-01"}, 0, "lib/a_test.go: TestRun_ZZA01_Repeats"},
		{"nowhere", nil, []string{"-where", "ZZB-01"}, 1, "no test names ZZB-01"},
		{"wrong flag", nil, []string{"-nope"}, 2, "not defined"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := run(append([]string{"-root", tree(t, tt.change)}, tt.args...), "", &out, &out)
			if code != tt.code || !strings.Contains(out.String(), tt.want) {
				t.Errorf("exit %d, want %d and %q in:\n%s", code, tt.code, tt.want, &out)
			}
		})
	}
}

// A closed step owes nothing; an open one may.
func TestPlan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, plan string
		code       int
		want       string
	}{
		{"no plan", "", 0, ""},
		{"an open step", "step 1 ZZA\n", 0, ""},
		{"a closed step that owes", "step 1 ZZA\nclosed 1\n", 1, "ZZA-02 belongs to step 1, which is closed, and no test names it"},
		{"given to a later step", "step 1 ZZA\nlater 2 ZZA-02 # why\nclosed 1\n", 0, ""},
		{"until that one is closed", "step 1 ZZA\nlater 2 ZZA-02\nclosed 1 2\n", 1, "ZZA-02 belongs to step 2"},
		{"an id that does not exist", "later 2 ZZA-99\n", 1, "the plan names ZZA-99, which is no requirement"},
		{"an area that does not exist", "step 2 ZZQ\n", 1, "the plan names ZZQ"},
		{"twice", "step 1 ZZA\nstep 2 ZZA\n", 1, "line 2: ZZA stands twice"},
		{"another word", "steps 1 ZZA\n", 1, "line 1: want step N"},
		{"no number", "step one ZZA\n", 1, "is no step"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"repo/docs/requirements-steps.txt": tt.plan})
			var out, errs bytes.Buffer
			if code := run([]string{"-root", root}, "", &out, &errs); code != tt.code || !strings.Contains(out.String()+errs.String(), tt.want) {
				t.Errorf("code %d, want %d and %q:\n%s%s", code, tt.code, tt.want, &out, &errs)
			}
		})
	}
	root := tree(t, map[string]string{"repo/docs/requirements-steps.txt": "step 1 ZZA\nstep 2 ZZB\n"})
	var out bytes.Buffer
	if code := run([]string{"-root", root, "-owed", "2"}, "", &out, &out); code != 0 || out.String() != "ZZB-01\nZZB-102\n" {
		t.Errorf("owed: code %d, %q", code, out.String())
	}
}
