package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/handbook"
)

// document is a page of docs, or the README.
func document(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// follow types a script at a shell of this machine, as a reader does.
func (s *site) follow(shell, script string, env ...string) output {
	s.t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		s.t.Skipf("%s is not installed here", shell)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	flags := "-euc"
	if shell == "fish" { // which has no such options
		flags = "-c"
	}
	cmd := exec.CommandContext(ctx, path, flags, script)
	cmd.Dir = s.home
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + s.bin + ":/usr/bin:/bin", "LANG=C.UTF-8"}, append(s.env, env...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%v\n%s\nstdout:\n%s\nstderr:\n%s", err, script, stdout.String(), stderr.String())
	}
	return output{stdout.String(), stderr.String(), 0}
}

// Getting started leads from the programs to a report, and does what it says.
// scripts/prove newcomer begins with the clone.
func TestPages_GettingStarted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := document(t, "docs/getting-started.md")
	out := s.follow("sh", handbook.Script(text, "Run a benchmark", "Look at it", "Two models", "A real model", "Where to go on"))
	contains(t, "getting started", out.stdout, "95 % interval", "25 answers graded again", "Practice solver 0.9")
	for _, name := range []string{"first-report.html", "first-report.bundle.zip"} {
		if _, err := os.Stat(filepath.Join(s.home, name)); err != nil {
			t.Errorf("%s is not there: %v", name, err)
		}
	}
	s.audit()
}

// The guide of the model API works as it stands with curl, and what it says
// about a lost answer is so: the quote's id and the key are on the disk before
// the submission, and the same submission again gives the same run.
func TestPages_LIB07_ModelAPI(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed here")
	}
	s := newSite(t)
	s.ok("evalrouter", "local", "start")
	token, err := os.ReadFile(filepath.Join(s.data(), "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	text := document(t, "docs/model-api.md")
	contains(t, "the guide", text, "**Before you submit, write down the quote's id and the idempotency key, where a crash cannot reach them.**", "**A quote starts nothing.**")
	script := handbook.Script(text, "From a quote to a result")
	submit := ""
	for l := range strings.Lines(script) {
		if strings.Contains(l, "/v1/runs\"") {
			submit = l
		}
	}
	before, _, ok := strings.Cut(script, submit)
	if !ok || submit == "" || !strings.Contains(before, "> quote.id") || !strings.Contains(before, "> submission.key") {
		t.Fatalf("the guide submits before it keeps quote and key:\n%s", script)
	}
	ask, _, _ := strings.Cut(script, "\n")
	again := ask + "\n" + strings.Replace(submit, "run.json", "again.json", 1)
	env := []string{
		"EVALROUTER_BASE_URL=" + s.serviceURL(), "EVALROUTER_API_KEY=" + strings.TrimSpace(string(token)), "EVALROUTER_WORKSPACE_ID=" + s.workspaceID(), "NO_PROXY=*",
	}
	s.follow("sh", script, env...)
	s.follow("sh", again, env...)
	read := func(name string) (v struct {
		ID      string `json:"id"`
		RunID   string `json:"run_id"`
		Summary struct {
			Outcomes map[string]int `json:"outcomes"`
		} `json:"summary"`
	}) {
		b, err := os.ReadFile(filepath.Join(s.home, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	run, result := read("run.json"), read("result.json")
	sum := 0
	for _, n := range result.Summary.Outcomes {
		sum += n
	}
	if run.ID == "" || read("again.json").ID != run.ID || result.RunID != run.ID || read("receipt.json").RunID != run.ID || sum != 5 {
		t.Errorf("run %+v, again %+v, result %+v", run, read("again.json"), result)
	}
	s.audit()
}

// workspaceID is that of the local service.
func (s *site) workspaceID() string {
	s.t.Helper()
	return strings.TrimSpace(s.ok("evalrouter", "whoami", "--jq", ".workspace.id").stdout)
}

// The pages about reports, authoring and the command line work as they stand.
func TestPages_OneMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.8", "--sample", "3", "--max-cost", "1", "--yes")
	run := strings.TrimSpace(s.ok("evalrouter", "status", "--limit", "1", "--jq", ".data[0].id").stdout)
	named := func(name string, headings ...string) string {
		return regexp.MustCompile(`\bRUN\b`).ReplaceAllString(handbook.Script(document(t, "docs/"+name), headings...), run)
	}
	summary := filepath.Join(s.home, "summary.md")
	reports := "RUN=" + run + "\n" + strings.ReplaceAll(named("reports.md"), `"$`+run+`"`, `"$RUN"`)
	contains(t, "reports", s.follow("sh", reports, "GITHUB_STEP_SUMMARY="+summary).stdout, "3 answers graded again")
	if b, err := os.ReadFile(summary); err != nil || !bytes.Contains(b, []byte("arithmetic")) {
		t.Errorf("the summary of the step: %v\n%s", err, b)
	}
	// The draft is no good benchmark, and lint says so.
	first := strings.Replace(handbook.Blocks(document(t, "docs/authoring.md"))[0].Text, "evalrouter-bench lint", "! evalrouter-bench lint", 1)
	contains(t, "authoring", s.follow("sh", first).stdout, "evalrouter-bundle-acme-my-benchmark")
	for _, l := range strings.Split(handbook.Blocks(document(t, "docs/cli.md"))[0].Text, "\n") {
		for _, shell := range []string{"bash", "zsh", "fish"} {
			if _, err := exec.LookPath(shell); err == nil && strings.Contains(l, "completion "+shell) {
				s.follow(shell, map[string]string{"zsh": "autoload -U compinit; compinit -D; "}[shell]+l)
			}
		}
	}
}

// What the pages type in a script, of a package and of files works as it stands,
// with ids in the place of the words that stand for them.
func TestPages_ScriptsPackagesFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	script := func(page, heading string, ids ...string) string {
		blocks := indented(document(t, page), heading)
		if len(blocks) == 0 {
			t.Fatalf("nothing is typed in %s under %q", page, heading)
		}
		return strings.NewReplacer(ids...).Replace(strings.Join(blocks, "\n"))
	}
	request, _, _ := strings.Cut(document(t, "docs/skill/SKILL.md")[strings.Index(document(t, "docs/skill/SKILL.md"), "```json\n")+len("```json\n"):], "```")
	s.write("quote.json", []byte(request))
	quote := strings.TrimSpace(s.ok("evalrouter", "quote", "--config", filepath.Join(s.home, "quote.json"), "--jq", ".id").stdout)
	run, second := s.submit(request).ID, s.submit(request).ID
	s.ok("evalrouter", "wait", run)
	s.ok("evalrouter", "wait", second)
	s.follow("sh", script("docs/cli.md", "From a script", "QUOTE", quote, "KEY", "a-key-of-mine", "RUN", run, "--max-cost 5", "--max-cost 5 --sample 5"))
	s.follow("sh", script("docs/skill/SKILL.md", "What you may always do", "RUN RUN", run+" "+second, "RUN", run))

	s.ok("evalrouter-bench", "init", filepath.Join(s.home, "mine"), "--namespace", "acme", "--name", "mine")
	contains(t, "a package", s.follow("sh", script("docs/private-benchmarks.md", "From a package")).stdout, "(byob-")
	s.write("questions.csv", []byte("Number,Question,Answer\n1,What colour is grass?,green\n"))
	source := strings.TrimSpace(s.ok("evalrouter", "benchmark", "upload", filepath.Join(s.home, "questions.csv"), "--jq", ".id").stdout)
	slug, _, _ := strings.Cut(strings.TrimSpace(s.ok("evalrouter", "benchmark", "list", "--jq", ".data[0].profile_id").stdout), "@")
	s.follow("sh", script("docs/private-benchmarks.md", "Files", "3f2a9c", source, "byob-…", slug))
	if left := strings.TrimSpace(s.ok("evalrouter", "benchmark", "list", "--jq", "[.data[] | select(.status == \"active\")] | length").stdout); left != "0" {
		t.Errorf("%s benchmarks are left after the only one was archived", left)
	}
	s.audit()
}

// programs are those of the product, as a line of a document begins.
var programs = []string{"evalrouter", "evalrouterd", "evalrouter-bench", "evalrouter-langsmith", "evalrouter-mcp", "evalrouter-tui"}

// Every line of a document that begins with one of our programs names a command
// that is there, and flags that it has.
func TestPages_EveryCommandIsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	names, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen, flag := map[string]bool{}, regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)
	for _, name := range append(names, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "docs", "skill", "SKILL.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		prose, _, _ := strings.Cut(string(text), "<!-- reference:") // made from the program itself
		prose = strings.ReplaceAll(prose, "\n        ", "\n    ")   // a block in a list
		for _, b := range handbook.Blocks(prose) {
			for l := range strings.Lines(b.Text) {
				l, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(l, "$ ")), " #")
				words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(l, "sudo -u evalrouter "), "bin/"))
				if len(words) == 0 || !slices.Contains(programs, words[0]) || seen[l] {
					continue
				}
				seen[l] = true
				args := slices.Clone(words[1:])
				for i, w := range args {
					if !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(w) {
						args = args[:i]
						break
					}
				}
				help := s.run(words[0], append(args, "--help", "--all")...)
				if help.code != 0 {
					help = s.run(words[0], append(args, "--help")...)
				}
				if help.code != 0 {
					t.Errorf("%s: %q: there is no such command (%s)", filepath.Base(name), l, help.stderr)
				}
				for _, m := range flag.FindAllStringSubmatch(l, -1) {
					if m[1] != "--help" && !strings.Contains(help.stdout+help.stderr, m[1]) {
						t.Errorf("%s: %q: there is no flag %s", filepath.Base(name), l, m[1])
					}
				}
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d lines were looked at", len(seen))
	}
}
