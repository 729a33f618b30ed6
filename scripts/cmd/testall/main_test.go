package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// workspace lays a tree of one module with the given test file and returns its root, "a tree" with a space.
func workspace(t *testing.T, test string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "a tree")
	for name, text := range map[string]string{
		"go.work":          "go 1.26.0\n\nuse (\n\t./app\n\t./cmd/tool\n)\n",
		"app/go.mod":       "module example.org/app\n\ngo 1.26.0\n",
		"app/app.go":       "package app\n",
		"app/app_test.go":  "package app\n\n" + test,
		"cmd/tool/main.go": "package main\n\nfunc main() {}\n",
		"cmd/tool/go.mod":  "module example.org/tool\n\ngo 1.26.0\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// needPostgres skips where the program would have nothing to start, or would have to install it.
func needPostgres(t *testing.T) {
	t.Helper()
	if _, ok := testpg.FindServer(testpg.DebianGlob); !ok {
		t.Skip("PostgreSQL is not installed: " + testpg.InstallHint)
	}
}

func environment(extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "CI=") || strings.HasPrefix(kv, "EVALROUTER_SHARED=")
	})
	return append(env, extra...)
}

func TestRunReportsEveryStage(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	root := workspace(t, "import (\n\t\"os\"\n\t\"testing\"\n)\n\n"+
		"func TestEnv(t *testing.T) {\n\tif os.Getenv(\"EVALROUTER_API_KEY\") != \"\" || os.Getenv(\"EVALROUTER_TEST_PG\") == \"\" {\n\t\tt.Error(os.Environ())\n\t}\n"+
		"\tif _, err := os.Stat(os.Getenv(\"EVALROUTER_TEST_BIN\") + \"/tool\"); err != nil {\n\t\tt.Error(err)\n\t}\n}\n")
	var out bytes.Buffer
	code := run(t.Context(), []string{"-root", root, "-only", "gofmt,build,vet,tests"}, environment("EVALROUTER_API_KEY=mine"), &out, &out)
	if code != 0 || !strings.HasSuffix(out.String(), "\n1 passed, 0 failed, 0 skipped\n") {
		t.Fatalf("exit %d:\n%s", code, &out)
	}
	if err := os.WriteFile(filepath.Join(root, "app", "app.go"), []byte("package app\nvar  x int\nfunc f() { println(\"%d\") ; undefined() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	code = run(t.Context(), []string{"-root", root, "-only", "gofmt,build,vet,tests"}, environment(), &out, &out)
	if code != 1 || !strings.Contains(out.String(), ": gofmt, build, vet, tests\n") {
		t.Errorf("exit %d, want 1 and all four stages named:\n%s", code, &out)
	}
}

// What compiles here alone is found: a command that cannot be built for Windows fails the stage, by the system's name.
func TestCross(t *testing.T) {
	t.Parallel()
	root := workspace(t, "")
	var out bytes.Buffer
	if code := run(t.Context(), []string{"-root", root, "-only", "cross"}, environment(), &out, &out); code != 0 {
		t.Fatalf("exit %d:\n%s", code, &out)
	}
	if err := os.WriteFile(filepath.Join(root, "cmd", "tool", "x_windows.go"), []byte("package main\n\nvar _ int = \"\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if code := run(t.Context(), []string{"-root", root, "-only", "cross"}, environment(), &out, &out); code != 1 || !strings.Contains(out.String(), "build for windows") || strings.Contains(out.String(), "build for darwin") {
		t.Errorf("exit %d:\n%s", code, &out)
	}
}

func TestSkipForSomethingPresentFailsUnderCI(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	root := workspace(t, "import \"testing\"\n\nfunc TestRuns(t *testing.T) {}\n\nfunc TestData(t *testing.T) { t.Skip(\"no ../shared folder\") }\n")
	shared := filepath.Join(filepath.Dir(root), "shared")
	args := []string{"-root", root, "-only", "tests"}
	var out bytes.Buffer
	if code := run(t.Context(), args, environment("CI=true"), &out, &out); code != 0 {
		t.Errorf("without the folder: exit %d\n%s", code, &out)
	}
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	code := run(t.Context(), args, environment("CI=true"), &out, &out)
	if code != 1 || !strings.Contains(out.String(), "example.org/app.TestData skipped although the shared folder is there") {
		t.Errorf("with the folder under CI: exit %d\n%s", code, &out)
	}
	out.Reset()
	code = run(t.Context(), args, environment(), &out, &out)
	if code != 0 || !strings.Contains(out.String(), "skipped: example.org/app.TestData: no ../shared folder\n") {
		t.Errorf("with the folder for a developer: exit %d\n%s", code, &out)
	}
}

// An interruption ends the tests and everything below them.
func TestInterruption(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	started := filepath.Join(t.TempDir(), "started")
	root := workspace(t, "import (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHangs(t *testing.T) {\n"+
		"\tif err := os.WriteFile("+"`"+started+"`"+", nil, 0o600); err != nil {\n\t\tt.Fatal(err)\n\t}\n\tselect {}\n}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"-root", root, "-only", "tests"}, environment(), &out, &out) }()
	await(t, func() bool { _, err := os.Stat(started); return err == nil })
	cancel()
	select {
	case code := <-ended:
		if code != 130 || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("exit %d:\n%s", code, &out)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the test under test did not start")
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	root := workspace(t, "")
	if code := run(t.Context(), []string{"-root", root, "-only", "vet,nope"}, environment(), &errs, &errs); code != 2 || !strings.Contains(errs.String(), `no stage "nope"`) {
		t.Errorf("unknown stage: exit %d, %s", code, &errs)
	}
	if code := run(t.Context(), []string{"-root", root, "./lib"}, environment(), &errs, &errs); code != 2 {
		t.Errorf("operand: exit %d", code)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"CI=true": true, "CI=1": true, "CI=": false, "CI=false": false, "CI=0": false, "CIX=1": false} {
		if isCI([]string{value}) != want {
			t.Errorf("isCI(%s) is not %v", value, want)
		}
	}
	got := childEnv([]string{"PATH=p", "EVALROUTER_API_KEY=k", "EVALROUTER_SHARED=old"}, "new")
	if diff := cmp.Diff([]string{"PATH=p", "EVALROUTER_SHARED=new"}, got); diff != "" {
		t.Errorf("environment of the tests (-want +got):\n%s", diff)
	}
}

// A run removes the folder of a run that was killed, and no other.
func TestMakeTempSweeps(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dead := exec.CommandContext(t.Context(), "true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left, err := makeTemp(root, dead.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	alive, err := makeTemp(root, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := makeTemp(root, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of a dead process is still there (%v)", err)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the folder of a running process is gone: %v", err)
	}
}
