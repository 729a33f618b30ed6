package distribution

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Sums is the name of the list of hashes in a release.
const Sums = "checksums.txt"

// Release is what is made.
type Release struct {
	Installer
	Tree      string // the prepared tree, for what is no program
	Time      time.Time
	Platforms []Platform
}

// Commands are the programs of a tree.
func Commands(tree string) ([]string, error) {
	mains, err := filepath.Glob(filepath.Join(tree, "cmd", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		return nil, fmt.Errorf("find the commands of %s: %d (%v)", tree, len(mains), err)
	}
	var names []string
	for _, m := range mains {
		names = append(names, filepath.Base(filepath.Dir(m)))
	}
	return names, nil
}

// Make writes the archives, a list of parts for each, and the hashes of all.
func (r Release) Make(ctx context.Context, folder string) error {
	commands, err := Commands(r.Tree)
	if err != nil {
		return err
	}
	papers, err := r.papers(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", folder, err)
	}
	sums := map[string]string{}
	keep := func(name string, text []byte) error {
		sums[name] = hex.EncodeToString(sum(text))
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		return nil
	}
	for _, p := range r.Platforms {
		bin, err := r.archived(ctx, p, commands)
		if err != nil {
			return err
		}
		files := maps.Clone(papers)
		programs, hashes := map[string]string{}, map[string][]byte{}
		for _, name := range commands {
			path := filepath.Join(bin, name+p.exe())
			text, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("read the program: %w", err)
			}
			files["bin/"+name+p.exe()] = file{0o755, text}
			programs[name], hashes[name] = path, sum(text)
		}
		list, err := parts(r.Version, p, programs, hashes, r.Time)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := pack(&b, p, files, r.Time); err != nil {
			return fmt.Errorf("pack %s: %w", p, err)
		}
		if err := keep(p.Archive(), b.Bytes()); err != nil {
			return err
		}
		if err := keep("evalrouter_"+p.String()+".cdx.json", list); err != nil {
			return err
		}
		fmt.Fprintf(r.Out, "%s  %.1f MiB\n", p.Archive(), float64(b.Len())/(1<<20))
	}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&lines, "%s  %s\n", sums[name], name)
	}
	if err := os.WriteFile(filepath.Join(folder, Sums), []byte(lines.String()), 0o644); err != nil {
		return fmt.Errorf("write the hashes: %w", err)
	}
	return nil
}

// papers are the files of every archive that are no programs.
func (r Release) papers(ctx context.Context) (map[string]file, error) {
	files := map[string]file{}
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(r.Tree, name))
		if err != nil {
			return nil, fmt.Errorf("read a file of every archive: %w", err)
		}
		files[name] = file{0o644, text}
	}
	notice, err := os.ReadFile(filepath.Join(r.Tree, "bundle", "NOTICE"))
	if err != nil {
		return nil, fmt.Errorf("read the notices: %w", err)
	}
	files["NOTICE"] = file{0o644, notice}
	pages, err := filepath.Glob(filepath.Join(r.Tree, "docs", "man", "*.1"))
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("find the man pages: %d (%v)", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, fmt.Errorf("read a man page: %w", err)
		}
		files["man/man1/"+filepath.Base(page)] = file{0o644, r.dated(text)}
	}
	bin, err := r.archived(ctx, Host(), []string{"evalrouter"})
	if err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "evalrouter.bash", "zsh": "_evalrouter", "fish": "evalrouter.fish"} {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "evalrouter"+Host().exe()), "completion", shell, "--full")
		cmd.Env = append(append([]string{}, r.Env...), "HOME="+r.Work)
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("print the completion of %s: %w", shell, err)
		}
		files["completions/"+name] = file{0o644, text}
	}
	return files, nil
}

// dated fills in what a man page of a checkout leaves open: the day and the
// version.
func (r Release) dated(page []byte) []byte {
	return bytes.Replace(page, []byte(` 1 "" "EvalRouter" `), []byte(` 1 "`+r.Time.Format(time.DateOnly)+`" "EvalRouter `+r.Version+`" `), 1)
}
