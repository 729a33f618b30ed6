package distribution_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/distribution"
	"github.com/evalrouter/evalrouter/scripts/internal/modproxy"
)

const version = "v0.9.9"

// small is a tree with two programs, each of which says its version as ours do,
// and what every archive holds.
func small() map[string]string {
	program := func(name string) string {
		return `package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"` + modproxy.Prefix + `lib"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	switch lib.Word(os.Args) {
	case "completion":
		fmt.Println("#compdef evalrouter\n: completes in", os.Args[2])
	case "demo":
		fmt.Println("95 %")
	case "upgrade":
		fmt.Println("\"archive\" ` + distribution.Host().Archive() + `")
	case "--version":
		fmt.Println("` + name + `", info.Main.Version)
	}
}
`
	}
	mod := func(dir, rest string) string { return "module " + modproxy.Prefix + dir + "\n\ngo 1.26.0\n" + rest }
	need := "\nrequire " + modproxy.Prefix + "lib v0.0.0\n"
	return map[string]string{
		"go.work": "go 1.26.0\n\nuse (\n\t./cmd/evalrouter\n\t./cmd/evalrouterd\n\t./lib\n\t./scripts\n)\n",
		"LICENSE": "ours\n", "README.md": "# It\n", "bundle/NOTICE": "theirs\n",
		"docs/man/evalrouter.1": `.TH EVALROUTER 1 "" "EvalRouter" "EvalRouter manual"` + "\n.SH NAME\nevalrouter \\- it\n",
		"lib/go.mod":            mod("lib", ""), "lib/lib.go": "package lib\n\n// Word is the first one.\nfunc Word(args []string) string { return args[1] }\n",
		"cmd/evalrouter/go.mod": mod("cmd/evalrouter", need), "cmd/evalrouter/main.go": program("evalrouter"),
		"cmd/evalrouterd/go.mod": mod("cmd/evalrouterd", need), "cmd/evalrouterd/main.go": program("evalrouterd"),
		"scripts/go.mod": mod("scripts", ""),
	}
}

// made is a release of the small tree for this machine.
func made(t *testing.T, platforms ...distribution.Platform) (folder string, check distribution.Check) {
	t.Helper()
	work := t.TempDir()
	tree, proxy, folder := filepath.Join(work, "tree"), filepath.Join(work, "a proxy"), filepath.Join(work, "made")
	for name, text := range small() {
		path := filepath.Join(tree, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := modproxy.Release{Version: version, Time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	if err := r.Prepare(tree); err != nil {
		t.Fatal(err)
	}
	if err := r.Publish(tree, proxy); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := distribution.Release{
		Installer: distribution.Installer{Proxy: proxy, Version: version, Work: work, Env: os.Environ(), Out: &out}, Tree: tree, Time: r.Time, Platforms: platforms,
	}
	if err := d.Make(t.Context(), folder); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return folder, distribution.Check{Folder: folder, Version: version, Commands: []string{"evalrouter", "evalrouterd"}, Work: t.TempDir(), Env: os.Environ(), Out: &out}
}

// A release of a small tree, twice from different folders, is the same bytes,
// passes its own check, and says in its papers which version it is.
func TestRelease_TwiceTheSameBytes(t *testing.T) {
	t.Parallel()
	one, check := made(t, distribution.Host())
	if err := check.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, _ := made(t, distribution.Host())
	if err := distribution.Same(one, other); err != nil {
		t.Error(err)
	}
	list, err := os.ReadFile(filepath.Join(one, "evalrouter_"+distribution.Host().String()+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"pkg:golang/` + modproxy.Prefix + `lib@v0.9.9"`, `"pkg:golang/std@go1.`, `"2026-11-30T12:00:00Z"`} {
		if !strings.Contains(string(list), want) {
			t.Errorf("the list of parts does not have %s", want)
		}
	}
	page, err := os.ReadFile(filepath.Join(check.Work, "evalrouter", "man", "man1", "evalrouter.1"))
	if err != nil || !strings.HasPrefix(string(page), `.TH EVALROUTER 1 "2026-11-30" "EvalRouter v0.9.9" `) {
		t.Errorf("the man page says %q (%v)", page, err)
	}
	// What was changed on the way is seen.
	sums := filepath.Join(one, distribution.Sums)
	for name, spoil := range map[string]func() error{
		"a changed archive": func() error {
			f, err := os.OpenFile(filepath.Join(one, distribution.Host().Archive()), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("x")
			return err
		},
		"a file without a hash": func() error { return os.WriteFile(filepath.Join(one, "more.zip"), nil, 0o644) },
		"no hashes":             func() error { return os.Remove(sums) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if err := check.Run(t.Context()); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := distribution.Same(one, other); err == nil || !strings.Contains(err.Error(), distribution.Sums) {
		t.Errorf("a changed release is the same: %v", err)
	}
}

// A program of another version is not released, whatever its archive is called.
func TestCheck_AnotherVersion(t *testing.T) {
	t.Parallel()
	_, check := made(t, distribution.Host())
	check.Version = "v1.0.0"
	if err := check.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "v0.9.9, not v1.0.0") {
		t.Errorf("%v", err)
	}
}

// Only a version can be released, and only from siblings that were not.
func TestPrepare_Refuses(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"", "0.1.0", "v1", "v2.0.0", "v0.0.0", "v0.1.0+x"} {
		if err := (modproxy.Release{Version: v}).Prepare(t.TempDir()); err == nil || strings.Contains(err.Error(), "go.work") {
			t.Errorf("%q: %v", v, err)
		}
	}
}

// An archive is named for its platform and is what its name says.
func TestArchive_Kinds(t *testing.T) {
	t.Parallel()
	if len(distribution.Platforms()) != 6 {
		t.Errorf("%v", distribution.Platforms())
	}
	folder, _ := made(t, distribution.Host())
	text, err := os.ReadFile(filepath.Join(folder, distribution.Host().Archive()))
	if err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Skip("the archive of this system is no compressed tar: ", err)
	}
	last := ""
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name <= last || h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v behind %s", h, last)
		}
		last = h.Name
	}
}
