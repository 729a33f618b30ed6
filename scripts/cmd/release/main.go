// Command release makes the files of a release from what is committed, and
// looks at them: scripts/release builds and starts it. It publishes nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/distribution"
	"github.com/evalrouter/evalrouter/scripts/internal/modproxy"
)

const usage = `usage: scripts/release -version vX.Y.Z -output FOLDER [-revision HEAD] [-platforms linux/amd64,...] [-twice]

Makes an archive for each system and machine, the list of its parts, and the hashes of all, and checks them: every
archive unpacks, every program has the version, and those of this machine run. FOLDER must not be there yet.
-twice makes them again in another folder with an empty build cache, and compares the bytes.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// job is what was asked for.
type job struct {
	version, output, revision string
	platforms                 []distribution.Platform
	twice                     bool
	out                       io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("scripts/release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprintln(stderr, usage) }
	j := job{out: stdout}
	flags.StringVar(&j.version, "version", "", "")
	flags.StringVar(&j.output, "output", "", "")
	flags.StringVar(&j.revision, "revision", "HEAD", "")
	platforms := flags.String("platforms", "", "")
	flags.BoolVar(&j.twice, "twice", false, "")
	if flags.Parse(args) != nil || flags.NArg() > 0 || j.version == "" || j.output == "" {
		flags.Usage()
		return 2
	}
	var err error
	if j.platforms, err = chosen(*platforms); err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 2
	}
	if err := j.do(ctx); err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
	return 0
}

func chosen(names string) ([]distribution.Platform, error) {
	all := distribution.Platforms()
	if names == "" {
		return all, nil
	}
	var picked []distribution.Platform
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(p distribution.Platform) bool { return p.System+"/"+p.Machine == name })
		if i < 0 {
			return nil, fmt.Errorf("nothing is released for %q", name)
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

func (j job) do(ctx context.Context) error {
	if _, err := os.Lstat(j.output); err == nil {
		return fmt.Errorf("%s is there already; nothing was made", j.output)
	}
	work, err := os.MkdirTemp("", "evalrouter-release-")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer os.RemoveAll(work)
	made := filepath.Join(work, "made")
	commands, err := j.make(ctx, filepath.Join(work, "one"), made, "")
	if err != nil {
		return err
	}
	use := filepath.Join(work, "use")
	if err := os.Mkdir(use, 0o700); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	if err := (distribution.Check{Folder: made, Version: j.version, Commands: commands, Work: use, Env: os.Environ(), Out: j.out}).Run(ctx); err != nil {
		return err
	}
	if j.twice {
		again := filepath.Join(work, "again")
		if _, err := j.make(ctx, filepath.Join(work, "the other one"), again, filepath.Join(work, "cache")); err != nil {
			return fmt.Errorf("the second build: %w", err)
		}
		if err := distribution.Same(made, again); err != nil {
			return err
		}
		fmt.Fprintln(j.out, "the second build, in another folder and with an empty build cache, has the same bytes")
	}
	if err := os.CopyFS(j.output, os.DirFS(made)); err != nil {
		return fmt.Errorf("write %s: %w", j.output, err)
	}
	fmt.Fprintf(j.out, "%s holds %s\n", j.output, j.version)
	return nil
}

// make publishes the revision into a folder of its own and builds from there.
func (j job) make(ctx context.Context, work, folder, cache string) (commands []string, err error) {
	tree, proxy := filepath.Join(work, "tree"), filepath.Join(work, "proxy")
	at, err := modproxy.Commit(ctx, ".", j.revision, tree)
	if err != nil {
		return nil, err
	}
	release := modproxy.Release{Version: j.version, Time: at}
	if err := release.Prepare(tree); err != nil {
		return nil, err
	}
	if err := release.Publish(tree, proxy); err != nil {
		return nil, err
	}
	if commands, err = distribution.Commands(tree); err != nil {
		return nil, err
	}
	return commands, distribution.Release{
		Installer: distribution.Installer{Proxy: proxy, Version: j.version, Work: work, Cache: cache, Env: os.Environ(), Out: j.out},
		Tree:      tree, Time: at, Platforms: j.platforms,
	}.Make(ctx, folder)
}
