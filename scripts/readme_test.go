package scripts_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/distribution"
	"github.com/evalrouter/evalrouter/scripts/internal/modproxy"
)

// page is a file of the repository.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// line is the one indented line of a page that begins so.
func line(t *testing.T, text, begin string) string {
	t.Helper()
	var found []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSuffix(l, "\n"); strings.HasPrefix(l, "    "+begin) {
			found = append(found, strings.TrimPrefix(l, "    "))
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d lines begin with %q", len(found), begin)
	}
	return found[0]
}

// PKG-07: the README says what a reader needs, as go.work has it, and installs
// with one line a command that is there.
func TestReadme_PKG07_RequirementAndInstallLine(t *testing.T) {
	t.Parallel()
	readme := page(t, "README.md")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(page(t, "go.work"))
	for _, want := range []string{"You need Go " + version[1] + " or newer", "**With Go " + version[1] + " or newer**", "static binaries"} {
		if !strings.Contains(readme, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
	for _, name := range []string{"evalrouter", "evalrouterd"} {
		path := strings.TrimSuffix(strings.TrimPrefix(line(t, readme, "go install "+modproxy.Prefix+"cmd/"+name+"@"), "go install "), "@latest")
		mod := page(t, strings.TrimPrefix(path, modproxy.Prefix)+"/go.mod")
		if !strings.HasPrefix(mod, "module "+path+"\n") {
			t.Errorf("the module of %s is another one", path)
		}
	}
}

// PKG-08: after the README's line a shell finds what go install has put down,
// and the README says how to upgrade.
func TestReadme_PKG08_PathAndUpgrade(t *testing.T) {
	t.Parallel()
	readme := page(t, "README.md")
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "a path", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "a path", "bin", "evalrouter"), []byte("#!/bin/sh\necho found\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]bool{"evalrouter": false, line(t, readme, `export PATH="$PATH:$(go env GOPATH)`) + "\nevalrouter": true} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Dir = home
		cmd.Env = []string{"PATH=" + filepath.Dir(gobin) + ":/usr/bin:/bin", "HOME=" + home, "GOPATH=" + filepath.Join(home, "a path"), "GOFLAGS="}
		if out, _ := cmd.CombinedOutput(); (string(out) == "found\n") != want {
			t.Errorf("%q printed %q", script, out)
		}
	}
	for _, want := range []string{"**The shell does not find `evalrouter`.**", "open a new terminal", "**Upgrade** by running the same `go install` line again", "`evalrouter upgrade` prints"} {
		if !strings.Contains(readme, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
}

// published is a proxy of the modules of this tree as it stands, and of nothing
// else.
func published(t *testing.T, version string, only ...string) string {
	t.Helper()
	tree, proxy := t.TempDir(), t.TempDir()
	work := "go 1.26.0\n"
	for _, dir := range only {
		work += "use ./" + dir + "\n"
		if err := os.CopyFS(filepath.Join(tree, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"go.work": work, "LICENSE": page(t, "LICENSE")} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := modproxy.Release{Version: version, Time: time.Unix(1_750_000_000, 0)}
	if err := r.Prepare(tree); err != nil {
		t.Fatal(err)
	}
	if err := r.Publish(tree, proxy); err != nil {
		t.Fatal(err)
	}
	return proxy
}

// PKG-09: the README's line adds the library to an application, which then
// builds with two modules and nothing of the command line.
func TestReadme_PKG09_InAnApplication(t *testing.T) {
	t.Parallel()
	get := strings.Fields(line(t, page(t, "README.md"), "go get "+modproxy.Prefix+"lib"))
	work := t.TempDir()
	app := filepath.Join(work, "app")
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	program := "package main\n\nimport evalrouter \"github.com/evalrouter/evalrouter/lib\"\n\nfunc main() { _, _ = evalrouter.New(evalrouter.Config{}) }\n"
	if err := os.WriteFile(filepath.Join(app, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	in := distribution.Installer{Proxy: published(t, "v0.9.9", "lib"), Version: "v0.9.9", Work: work, Env: os.Environ(), Out: &out}
	for _, args := range [][]string{{"mod", "init", "example.org/app"}, get[1:], {"vet", "."}} {
		if err := in.Go(t.Context(), app, nil, args...); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
	}
	out.Reset()
	if err := in.Go(t.Context(), app, nil, "list", "-deps", "-f", "{{with .Module}}{{.Path}}@{{.Version}}{{end}}", "."); err != nil {
		t.Fatal(err)
	}
	modules := slices.Compact(slices.Sorted(strings.FieldsSeq(out.String())))
	want := []string{"example.org/app@", "github.com/evalrouter/evalrouter/lib@v0.9.9", "github.com/google/uuid@v1.6.0"}
	if !slices.Equal(modules, want) {
		t.Errorf("the application links %q, want %q", modules, want)
	}
}

// PKG-13: the four guides are linked by what they are, and are there.
func TestReadme_PKG13_Guides(t *testing.T) {
	t.Parallel()
	readme := page(t, "README.md")
	for guide, file := range map[string]string{
		"the CLI guide": "docs/cli.md", "the sign-in guide": "docs/sign-in.md", "the model API": "docs/model-api.md", "the private-benchmark guide": "docs/private-benchmarks.md",
	} {
		if !strings.Contains(readme, "]("+file+"): "+guide) {
			t.Errorf("the README does not link %s as %s", file, guide)
		}
		if text := page(t, file); !strings.HasPrefix(text, "# ") || len(text) < 2000 {
			t.Errorf("%s is no guide", file)
		}
	}
}

// PKG-01: one distribution, at one version, has every part.
func TestDistribution_PKG01_EveryPart(t *testing.T) {
	t.Parallel()
	modules, err := modproxy.Released("..")
	if err != nil {
		t.Fatal(err)
	}
	proxy := published(t, "v0.9.9", modules...)
	for _, part := range []string{
		"cmd/evalrouter-tui", // the terminal workspace
		"cmd/evalrouter",     // the scripting command line
		"lib",                // the typed client
		"tracing",            // trace capture
		"cmd/evalrouter-bench", "bundle",
		"cmd/evalrouter-langsmith", "langsmith", "cmd/evalrouterd", "tui",
	} {
		at := filepath.Join(proxy, filepath.FromSlash(modproxy.Prefix+part), "@v")
		if _, err := os.Stat(filepath.Join(at, "v0.9.9.zip")); err != nil {
			t.Errorf("%s is not released: %v", part, err)
		}
		mod, err := os.ReadFile(filepath.Join(at, "v0.9.9.mod"))
		if err != nil || bytes.Contains(mod, []byte(" v0.0.0\n")) {
			t.Errorf("%s requires what was never released (%v):\n%s", part, err, mod)
		}
	}
	commands, err := distribution.Commands("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"evalrouter", "evalrouterd", "evalrouter-tui", "evalrouter-bench", "evalrouter-langsmith", "evalrouter-mcp"} {
		if !slices.Contains(commands, name) || !strings.Contains(page(t, "README.md"), "| `"+name+"` |") {
			t.Errorf("%s is in no archive, or not in the README's table", name)
		}
	}
}

// An agent with trace capture in it stays small.
func TestDependencies_ASmallAgent(t *testing.T) {
	t.Parallel()
	const most = 9 << 20
	file := filepath.Join(t.TempDir(), "agent")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "./tracing/examples/agent")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the example: %v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > most || info.Size() < most/9 {
		t.Errorf("the example of capture has %v bytes, at most %d, %v", info.Size(), most, err)
	}
}

// PKG-11: what is optional is linked only where it was asked for.
func TestDependencies_PKG11_OptionalPartsStayOut(t *testing.T) {
	t.Parallel()
	const otel, keyring = "go.opentelemetry.io/otel", "github.com/zalando/go-keyring"
	const bundle, connector = modproxy.Prefix + "bundle", modproxy.Prefix + "langsmith"
	for _, tt := range []struct {
		name, pattern, tags string
		with, without       []string
	}{
		{"the client", "./lib/...", "", nil, []string{otel, keyring, bundle, connector}},
		{"the command line", "./cmd/evalrouter", "", []string{modproxy.Prefix + "lib"}, []string{otel, keyring, bundle, connector}},
		{"the command line with a keychain", "./cmd/evalrouter", "keyring", []string{keyring}, []string{otel, bundle, connector}},
		{"the workspace", "./cmd/evalrouter-tui", "", []string{"github.com/gdamore/tcell"}, []string{otel, keyring, bundle, connector}},
		{"trace capture", "./tracing", "", []string{otel}, []string{keyring, bundle, connector}},
		{"authoring", "./cmd/evalrouter-bench", "", []string{bundle}, []string{otel, keyring, connector}},
		{"the connector", "./cmd/evalrouter-langsmith", "", []string{connector}, []string{otel, keyring, bundle}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tt.tags, tt.pattern)
			cmd.Dir = ".."
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("list the dependencies: %v", err)
			}
			has := func(prefix string) bool {
				return slices.ContainsFunc(strings.Fields(string(out)), func(p string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") })
			}
			for _, p := range tt.with {
				if !has(p) {
					t.Errorf("%s is not linked, so that the list proves nothing", p)
				}
			}
			for _, p := range tt.without {
				if has(p) {
					t.Errorf("%s is linked", p)
				}
			}
		})
	}
}

// Every link of a document to another one leads to a file that is there, and to
// a heading that is in it.
func TestDocuments_LinksLead(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil || len(names) < 10 {
		t.Fatalf("%d documents (%v)", len(names), err)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, name := range append(names, filepath.Join("..", "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") {
				continue
			}
			target, path := text, filepath.Join(filepath.Dir(name), filepath.FromSlash(file))
			if info, err := os.Stat(path); err != nil {
				t.Errorf("%s links %s, which is not there", filepath.Base(name), m[1])
				continue
			} else if file != "" && !info.IsDir() {
				if target, err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
			if heading != "" && !slices.Contains(anchors(string(target)), heading) {
				t.Errorf("%s links %s, and there is no such heading", filepath.Base(name), m[1])
			}
		}
	}
}

// anchors are the names that headings get on a page.
func anchors(text string) (all []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "#") {
			title := strings.TrimSpace(strings.TrimLeft(l, "#"))
			all = append(all, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(title), ""), " ", "-"))
		}
	}
	return all
}
