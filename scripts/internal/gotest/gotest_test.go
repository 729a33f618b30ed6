package gotest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/scripts/internal/gotest"
)

// suite is a module whose tests pass, fail, skip, panic and do not compile, so that the events are the go command's
// own and not our idea of them.
func suite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/suite\n\ngo 1.26.0\n",
		"good/good_test.go": `package good

import "testing"

func TestQuiet(t *testing.T) { t.Log("chatter of a passing test") }

func TestTable(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) { t.Skip("needs ../shared, which is not there") })
}

func TestNoReason(t *testing.T) { t.SkipNow() }
`,
		"bad/bad_test.go": `package bad

import "testing"

func TestWrong(t *testing.T) { t.Error("got 1, want 2") }
`,
		"panics/panics_test.go": `package panics

import "testing"

func TestPanics(t *testing.T) { panic("out of cheese") }
`,
		"broken/broken_test.go": "package broken\n\nfunc f() { undefined() }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func collect(t *testing.T, dir string, packages ...string) (gotest.Summary, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-json"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	events, err := cmd.Output()
	if len(events) == 0 {
		t.Fatalf("no events: %v", err)
	}
	var out bytes.Buffer
	summary, err := (&gotest.Collector{Out: &out}).Read(bytes.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	return summary, out.String()
}

func TestCollect(t *testing.T) {
	t.Parallel()
	const pkg = "example.org/suite/"
	got, out := collect(t, suite(t), "./...")
	want := gotest.Summary{
		Passed: 3, Failed: 3, Skipped: 2,
		Failures: []string{pkg + "bad.TestWrong", pkg + "broken", pkg + "panics.TestPanics"},
		Skips: []gotest.Skip{
			{Package: pkg + "good", Test: "TestTable/two", Reason: "needs ../shared, which is not there"},
			{Package: pkg + "good", Test: "TestNoReason", Reason: "no reason given"},
		},
	}
	sort := cmp.Transformer("sorted", func(s []string) map[string]bool {
		set := map[string]bool{}
		for _, v := range s {
			set[v] = true
		}
		return set
	})
	if diff := cmp.Diff(want, got, sort); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	for _, text := range []string{"got 1, want 2", "out of cheese", "undefined: undefined", "ok    " + pkg + "good", "FAIL  " + pkg + "bad"} {
		if !strings.Contains(out, text) {
			t.Errorf("the output lacks %q:\n%s", text, out)
		}
	}
	if strings.Contains(out, "chatter") {
		t.Errorf("the output repeats what a passing test said:\n%s", out)
	}
}

func TestReadPassesOnOtherLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	_, err := (&gotest.Collector{Out: &out}).Read(strings.NewReader("go: errors parsing go.mod\n{\"x\":1}\nno newline"))
	if want := "go: errors parsing go.mod\n{\"x\":1}\nno newline"; err != nil || out.String() != want {
		t.Errorf("err %v, output %q", err, out.String())
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	skip := gotest.Skip{Package: "p", Test: "T", Reason: "no ../shared folder"}
	shared := gotest.Resource{Name: "the shared folder", Words: []string{"../shared"}}
	present := shared
	present.Present = true
	tests := []struct {
		name      string
		summary   gotest.Summary
		resources []gotest.Resource
		wantErr   string
	}{
		{"all passed", gotest.Summary{Passed: 2}, nil, ""},
		{"a failure", gotest.Summary{Passed: 2, Failed: 1, Failures: []string{"p.T"}}, nil, "1 failed"},
		{"no test ran", gotest.Summary{Skipped: 1, Skips: []gotest.Skip{skip}}, nil, "no test ran"},
		{"skipped for an absent resource", gotest.Summary{Passed: 1, Skipped: 1, Skips: []gotest.Skip{skip}}, []gotest.Resource{shared}, ""},
		{"skipped for a present resource", gotest.Summary{Passed: 1, Skipped: 1, Skips: []gotest.Skip{skip}}, []gotest.Resource{present}, "p.T skipped although the shared folder is there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := tt.summary.Verdict(&out, tt.resources)
			if got := errorText(err); got != tt.wantErr {
				t.Errorf("error %q, want %q", got, tt.wantErr)
			}
			for _, skip := range tt.summary.Skips {
				if want := "skipped: p.T: " + skip.Reason + "\n"; !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q:\n%s", want, &out)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
