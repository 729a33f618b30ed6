package distribution

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/modproxy"
)

// Check looks at the files of a release as a stranger would get them.
type Check struct {
	Folder   string
	Version  string
	Commands []string // the programs that every archive must have
	Work     string   // an empty folder
	Env      []string
	Out      io.Writer
}

// Run unpacks every archive and runs the one of this machine.
func (c Check) Run(ctx context.Context) error {
	names, err := c.sums()
	if err != nil {
		return err
	}
	platforms := 0
	for _, p := range Platforms() {
		if !slices.Contains(names, p.Archive()) {
			continue
		}
		platforms++
		if err := c.archive(p); err != nil {
			return fmt.Errorf("%s: %w", p.Archive(), err)
		}
		fmt.Fprintf(c.Out, "%s: unpacks, and every program is %s\n", p.Archive(), c.Version)
		if p != Host() {
			continue
		}
		if err := c.use(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.Archive(), err)
		}
	}
	if platforms == 0 {
		return errors.New("there is no archive in " + c.Folder)
	}
	return nil
}

// sums compares every file with its hash; a file without one is an error.
func (c Check) sums() (names []string, err error) {
	text, err := os.ReadFile(filepath.Join(c.Folder, Sums))
	if err != nil {
		return nil, fmt.Errorf("read the hashes: %w", err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return nil, fmt.Errorf("%s has the line %q", Sums, line)
		}
		want[name] = hash
	}
	entries, err := os.ReadDir(c.Folder)
	if err != nil {
		return nil, fmt.Errorf("read the release: %w", err)
	}
	for _, e := range entries {
		if e.Name() == Sums {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.Folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the release: %w", err)
		}
		if got := hex.EncodeToString(sum(text)); got != want[e.Name()] {
			return nil, fmt.Errorf("%s has the hash %s, and %s says %q", e.Name(), got, Sums, want[e.Name()])
		}
		names = append(names, e.Name())
	}
	if len(names) != len(want) {
		return nil, fmt.Errorf("%s names %d files, and %d are there", Sums, len(want), len(names))
	}
	return names, nil
}

// archive reads one archive: what must be in it is, and the programs are those
// of the platform and of the version, with their siblings.
func (c Check) archive(p Platform) error {
	files, err := unpack(filepath.Join(c.Folder, p.Archive()), p)
	if err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "man/man1/evalrouter.1", "completions/_evalrouter", "completions/evalrouter.bash", "completions/evalrouter.fish"} {
		if len(files[name].text) == 0 {
			return fmt.Errorf("%s is not in it", name)
		}
	}
	for _, name := range c.Commands {
		f, ok := files["bin/"+name+p.exe()]
		if !ok || f.mode&0o111 == 0 {
			return fmt.Errorf("there is no program %s in it", name)
		}
		if err := c.program(p, name, f.text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name := range files {
		if base, ok := strings.CutPrefix(name, "bin/"); ok && !slices.Contains(c.Commands, strings.TrimSuffix(base, p.exe())) {
			return fmt.Errorf("%s is in it, and no command of the tree", name)
		}
	}
	return nil
}

func (c Check) program(p Platform, name string, text []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read how it was built: %w", err)
	}
	if info.Path != modproxy.Prefix+"cmd/"+name || info.Main.Version != c.Version {
		return fmt.Errorf("it is %s %s, not %s", info.Path, info.Main.Version, c.Version)
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return fmt.Errorf("it has %s replaced", d.Path)
		}
		if strings.HasPrefix(d.Path, modproxy.Prefix) && d.Version != c.Version {
			return fmt.Errorf("it has %s at %s", d.Path, d.Version)
		}
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	for key, want := range map[string]string{"GOOS": p.System, "GOARCH": p.Machine, "CGO_ENABLED": "0", "-trimpath": "true", "-tags": "archive"} {
		if got[key] != want {
			return fmt.Errorf("it was built with %s=%q, not %q", key, got[key], want)
		}
	}
	return nil
}

// use unpacks the archive of this machine with the program that people have,
// runs every program, the demo, and what checks man pages and completions.
func (c Check) use(ctx context.Context, p Platform) error {
	archive, err := filepath.Abs(filepath.Join(c.Folder, p.Archive()))
	if err != nil {
		return err
	}
	if out, err := c.command(ctx, "tar", "-xzf", archive); err != nil {
		return fmt.Errorf("unpack it: %w\n%s", err, out)
	}
	home := filepath.Join(c.Work, inside)
	for _, name := range c.Commands {
		out, err := c.command(ctx, filepath.Join(home, "bin", name+p.exe()), "--version")
		if err != nil || out != name+" "+c.Version+"\n" {
			return fmt.Errorf("%s --version: %v, it said %q", name, err, out)
		}
	}
	cli := filepath.Join(home, "bin", "evalrouter"+p.exe())
	out, err := c.command(ctx, cli, "demo")
	if err != nil || !strings.Contains(out, "95 %") {
		return fmt.Errorf("the demo: %w\n%s", err, out)
	}
	if out, err := c.command(ctx, cli, "local", "stop"); err != nil {
		return fmt.Errorf("stop the service: %w\n%s", err, out)
	}
	if out, err := c.command(ctx, cli, "upgrade", "--json"); err != nil || !strings.Contains(out, `"archive"`) || !strings.Contains(out, p.Archive()) {
		return fmt.Errorf("upgrade does not know that this is %s: %w\n%s", p.Archive(), err, out)
	}
	fmt.Fprintf(c.Out, "%s: the programs run, the demo too\n", p.Archive())
	return errors.Join(c.pages(ctx, home), c.completions(ctx, home))
}

func (c Check) pages(ctx context.Context, home string) error {
	if _, err := exec.LookPath("mandoc"); err != nil {
		fmt.Fprintln(c.Out, "man pages: not checked, mandoc is not installed (Debian: apt-get install mandoc)")
		return nil
	}
	pages, err := filepath.Glob(filepath.Join(home, "man", "man1", "*.1"))
	if err != nil {
		return err
	}
	out, err := c.command(ctx, "mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...)
	if err != nil || out != "" {
		return fmt.Errorf("mandoc has something to say about the man pages: %w\n%s", err, out)
	}
	fmt.Fprintf(c.Out, "man pages: mandoc has nothing to say about %d\n", len(pages))
	return nil
}

func (c Check) completions(ctx context.Context, home string) error {
	for shell, name := range map[string]string{"bash": "evalrouter.bash", "zsh": "_evalrouter", "fish": "evalrouter.fish"} {
		if _, err := exec.LookPath(shell); err != nil {
			fmt.Fprintf(c.Out, "completion of %s: not checked, %s is not installed\n", shell, shell)
			continue
		}
		if out, err := c.command(ctx, shell, "-n", filepath.Join(home, "completions", name)); err != nil {
			return fmt.Errorf("%s cannot read its completion: %w\n%s", shell, err, out)
		}
		if shell != "zsh" {
			continue
		}
		// A file of a folder where zsh looks serves only when its first line says whom.
		out, err := c.command(ctx, "zsh", "-f", "-c", `fpath=("$1" $fpath); autoload -Uz compinit; compinit -u -D; print -r -- "${_comps[evalrouter]}"`, "zsh", filepath.Join(home, "completions"))
		if err != nil {
			return fmt.Errorf("run zsh: %w\n%s", err, out)
		}
		if strings.TrimSpace(out) != "_evalrouter" {
			return fmt.Errorf("zsh does not take up %s: for evalrouter it has %q", name, out)
		}
	}
	return nil
}

// command runs a program in a home of its own.
func (c Check) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = c.Work
	cmd.Env = append(append([]string{}, c.Env...), "HOME="+c.Work, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// unpack reads an archive whole; every name must be below the one folder.
func unpack(name string, p Platform) (map[string]file, error) {
	files := map[string]file{}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	keep := func(at string, mode os.FileMode, r io.Reader) error {
		inner, ok := strings.CutPrefix(at, inside)
		if !ok || path.Clean(inner) != inner || strings.HasPrefix(inner, "..") {
			return fmt.Errorf("the name %q is outside of %s", at, inside)
		}
		b, err := io.ReadAll(r)
		files[inner] = file{mode, b}
		return err
	}
	if p.System == "windows" {
		return files, readZip(text, keep)
	}
	return files, readTar(text, keep)
}

func readZip(text []byte, keep func(string, os.FileMode, io.Reader) error) error {
	zr, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return err
	}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		if err := keep(f.Name, f.Mode(), r); err != nil {
			return err
		}
	}
	return nil
}

func readTar(text []byte, keep func(string, os.FileMode, io.Reader) error) error {
	gz, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := keep(h.Name, h.FileInfo().Mode(), tr); err != nil {
			return err
		}
	}
}

// Same says whether two releases are the same bytes, and names what differs.
func Same(one, other string) error {
	a, err := contents(one)
	if err != nil {
		return err
	}
	b, err := contents(other)
	if err != nil {
		return err
	}
	var differ []string
	for name := range a {
		if a[name] != b[name] {
			differ = append(differ, name)
		}
	}
	for name := range maps.Keys(b) {
		if _, ok := a[name]; !ok {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 || len(a) == 0 {
		slices.Sort(differ)
		return fmt.Errorf("of %d files these are not the same in both builds: %s", len(a), strings.Join(differ, ", "))
	}
	return nil
}

func contents(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Name(), err)
		}
		all[e.Name()] = hex.EncodeToString(sum(text))
	}
	return all, nil
}
