package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// handedOver says why the examples of a command are not run, "" if they are:
// another program does the work.
func handedOver(command string) string {
	switch command {
	case "benchmark", "verify":
		if os.Getenv("EVALROUTER_TEST_BIN") == "" {
			return "EVALROUTER_TEST_BIN names no folder with evalrouter-bench"
		}
	case "resume":
		return "the run of this test has ended completed; testdata/real/resume.txtar resumes one that stopped"
	case "traces", "datasets":
		return "the fake has no traces and datasets; scripts/e2e drives these commands against the service"
	case "mcp":
		return "it serves an agent until that leaves; scripts/e2e is one"
	case "approve":
		return "it asks a person at a terminal; scripts/e2e answers it"
	case "langsmith":
		return "it asks LangSmith, which is not here"
	}
	return ""
}

// desk is a home with a service on this machine, one finished run, one
// finished group, one connection, one quote and a file to quote from.
type desk struct {
	t                     *testing.T
	home, run, quote, end string
	dir                   string // where commands are run
	group                 string
	members               []string // of the group, two finished runs of the same tasks
}

// theirs are the benchmark commands that a service answers.
var theirs = []string{"upload", "import", "create", "list", "sources", "archive", "archive-source"}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir()}
	d.dir = d.home
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(endpoint.Close)
	d.end = endpoint.URL + "/v1"
	request := `{"model": {"kind": "managed", "route_id": "practice.solver-0.8"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 3, "seed": 42}, "max_charge_microusd": "1000000"}`
	if err := os.WriteFile(filepath.Join(d.home, "quote.json"), []byte(request), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.try("local stop") })
	d.run = strings.TrimSpace(d.must("demo --jq .id"))
	d.group = strings.TrimSpace(d.must("run arithmetic --model practice.solver-0.8 --model practice.echo --sample 4 --max-cost 1 --yes --jq .id"))
	d.members = strings.Fields(d.must("group status " + d.group + " --jq '.members[].run_id'"))
	d.must("connections create --name mine --endpoint " + d.end + " --model m --no-key")
	d.quote = strings.TrimSpace(d.must("quote --config quote.json --jq .id"))
	return d
}

func (d *desk) try(line string) (string, error) {
	cmd := exec.Command("sh", "-c", "evalrouter "+line)
	cmd.Dir = d.dir
	cmd.Env = []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH") + ":" + os.Getenv("EVALROUTER_TEST_BIN"), "KEY=a-provider-key", noExitPause[0] + "=" + noExitPause[1]}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s%s", err, out, stderr.String())
	}
	return string(out), err
}

func (d *desk) must(line string) string {
	d.t.Helper()
	out, err := d.try(line)
	if err != nil {
		d.t.Fatalf("evalrouter %s: %v", line, err)
	}
	return out
}

// id is what a command prints where that is an id; another answer ends the test
// with what the service says of itself.
func (d *desk) id(line string) string {
	d.t.Helper()
	id := strings.TrimSpace(d.must(line))
	if len(id) != 36 {
		said, err := d.try("doctor")
		list, _ := d.try("connections list --json")
		d.t.Fatalf("evalrouter %s: %q is no id\n%s\n%v\n%s", line, id, said, err, list)
	}
	return id
}

// Every example of a help page works as it is printed, with real ids in the
// place of the ones that only stand for some.
func TestEveryExampleRuns_H3(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, _, _ := quietApp()
	ran := 0
	walk([]*argv.Command{tree(a)}, func(path []*argv.Command) {
		for i, example := range path[len(path)-1].Examples {
			if own := len(path) > 2 && path[1].Name == "benchmark" && slices.Contains(theirs, path[2].Name); len(path) > 1 && !own {
				why := handedOver(path[1].Name)
				if why != "" {
					t.Logf("not run: %s (%s)", example, why)
					continue
				}
			}
			line, ok := strings.CutPrefix(example, "evalrouter ")
			if !ok {
				t.Errorf("%q is no command of evalrouter", example)
				continue
			}
			if err := d.example(line, i); err != nil {
				t.Errorf("%s: %v", example, err)
			}
			ran++
		}
	})
	if ran < 50 {
		t.Errorf("only %d examples were run", ran)
	}
}

func (d *desk) example(line string, n int) error {
	if strings.HasPrefix(line, "demo") || strings.HasPrefix(line, "run ") && !strings.Contains(line, "--quote") {
		line += " --new"
	}
	line = strings.Replace(line, "demo --new", "demo", 1)
	line = strings.Replace(line, "demo --json --new", "demo --json", 1)
	defer func() { d.dir = d.home }()
	switch words := strings.Fields(line); words[0] {
	case "login", "logout", "whoami", "workspace":
		return d.signedIn(line)
	}
	if words := strings.Fields(line); words[0] == "benchmark" && slices.Contains(theirs, words[1]) {
		return d.brought(line)
	}
	switch {
	case strings.HasPrefix(line, "benchmark "), strings.HasPrefix(line, "verify "):
		d.dir = d.t.TempDir()
		if !strings.HasPrefix(line, "benchmark init") {
			d.must("benchmark init ./my-benchmark --namespace acme --name mine")
		}
		if strings.Contains(line, ".bundle.zip") { // the fake has none to export
			b, err := os.ReadFile("../evalrouter-bench/internal/rederive/testdata/likely.zip")
			if err == nil {
				err = os.WriteFile(filepath.Join(d.dir, "evalrouter-"+d.run[:8]+".bundle.zip"), b, 0o600)
			}
			if err != nil {
				return err
			}
		} else if strings.HasPrefix(line, "verify ") {
			d.must("benchmark bundle ./my-benchmark --output my-benchmark.zip")
		}
	case strings.HasPrefix(line, "connections disable"): // each has its own, so that later examples have theirs
		name := fmt.Sprintf("ends-%d", n)
		id := d.id("connections create --name " + name + " --endpoint " + d.end + " --model m --no-key --jq .id")
		line = strings.NewReplacer("mine", name, "3f2a9c", id[:8]).Replace(line)
	case strings.HasPrefix(line, "compare "):
		d.dir = d.t.TempDir()
		line = strings.NewReplacer("3f2a9c", d.members[0][:8], "77b01e", d.members[1][:8]).Replace(line)
	case strings.HasPrefix(line, "group resume "): // what its cap has stopped, each time another
		id, _ := d.try("run arithmetic --model practice.solver-0.8 --model practice.echo --sample 20 --max-cost 0.0024 --yes --new --jq .id") // ends with 4
		line = strings.Replace(line, "3f2a9c", strings.TrimSpace(id), 1)
	case strings.HasPrefix(line, "group "):
		d.dir = d.t.TempDir()
		line = strings.ReplaceAll(line, "3f2a9c", d.group[:8])
	case strings.HasPrefix(line, "connections "):
		id := d.id(`connections list --filter name=mine --jq '.data[0].id'`)
		line = strings.NewReplacer("3f2a9c", id[:8], "--name my ", fmt.Sprintf("--name my-%d ", n), "URL", d.end).Replace(line)
	case strings.HasPrefix(line, "feedback status "):
		id := strings.TrimSpace(d.must("feedback --kind bug --severity degraded --summary again --jq .feedback_id"))
		line = strings.Replace(line, "3f2a9c", id, 1)
	case strings.Contains(line, "--quote ID"):
		line = strings.NewReplacer("ID", d.quote, "KEY", "my-key").Replace(line)
	case strings.HasPrefix(line, "run ") && !strings.Contains(line, "--yes") && !strings.Contains(line, "--dry-run"):
		line += " --max-cost 1 --yes" // nobody is there to be asked
	}
	_, err := d.try(strings.ReplaceAll(line, "3f2a9c", d.run[:8]))
	var exit *exec.ExitError
	if strings.HasPrefix(line, "benchmark lint") && errors.As(err, &exit) && exit.ExitCode() == 2 && strings.Contains(err.Error(), "rights_draft") {
		return nil // a draft has findings, and that is what lint is for
	}
	return err
}

// signedIn runs an example about who is asking, at a service where people sign
// in: that of this machine knows its owner only.
func (d *desk) signedIn(line string) error {
	f := fakeService(d.t)
	where := " --base-url " + f.URL + " --allow-http"
	as := &desk{t: d.t, home: d.t.TempDir()}
	as.dir = as.home
	if err := os.WriteFile(filepath.Join(as.dir, "key"), []byte(f.Token+"\n"), 0o600); err != nil {
		return err
	}
	if !strings.HasPrefix(line, "login") {
		as.must("login --key-stdin" + where + " <key")
	}
	if strings.Contains(line, "--key-stdin") {
		line += " <key"
	}
	line = strings.Replace(line, " --base-url URL", "", 1)
	_, err := as.try(line + where)
	return err
}

// brought runs an example about what a workspace brings, with files of its own
// and the ids of what the fake has.
func (d *desk) brought(line string) error {
	d.dir = d.t.TempDir()
	for name, text := range map[string]string{
		"questions.csv": "q,a\n1 + 1,2\n" + line + ",3\n", "mine.zip": "PK" + line,
		"manifest.json": `{"name": "mine", "data": "questions.csv", "task": "exact_match", "columns": {"answer": "a", "q": "q"}, "prompt_template": "{{q}}", "max_output_tokens": 8, "data_license": "CC0-1.0", "rights_attestation": true}`,
	} {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if strings.HasPrefix(line, "benchmark archive ") {
		line = strings.Replace(line, "byob-3f2a9c", strings.TrimSpace(d.must("benchmark create manifest.json --jq .profile_id")), 1)
	}
	if strings.HasPrefix(line, "benchmark archive-source ") {
		line = strings.Replace(line, "3f2a9c", strings.TrimSpace(d.must("benchmark upload questions.csv --jq .id")), 1)
	}
	_, err := d.try(line)
	return err
}
