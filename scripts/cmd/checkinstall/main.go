// Command checkinstall proves that strangers can install this: it publishes what
// is committed into a module proxy of files, installs every command from there
// with an empty home, and adds each library to a program of its own.
// scripts/checkinstall builds and starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/distribution"
	"github.com/evalrouter/evalrouter/scripts/internal/modproxy"
)

// version is one that will never be released.
const version = "v0.0.1-checkinstall"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("scripts/checkinstall", flag.ContinueOnError)
	flags.SetOutput(stderr)
	revision := flags.String("revision", "HEAD", "the commit to publish")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return 2
	}
	if err := check(ctx, *revision, stdout); err != nil {
		fmt.Fprintln(stderr, "checkinstall:", err)
		return 1
	}
	return 0
}

func check(ctx context.Context, revision string, out io.Writer) error {
	work, err := os.MkdirTemp("", "evalrouter-install-")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer os.RemoveAll(work)
	tree, proxy, home := filepath.Join(work, "tree"), filepath.Join(work, "proxy"), filepath.Join(work, "home")
	at, err := modproxy.Commit(ctx, ".", revision, tree)
	if err != nil {
		return err
	}
	release := modproxy.Release{Version: version, Time: at}
	if err := release.Prepare(tree); err != nil {
		return err
	}
	if err := release.Publish(tree, proxy); err != nil {
		return err
	}
	commands, err := distribution.Commands(tree)
	if err != nil {
		return err
	}
	// Nothing of the tree is left for the go command to find.
	if err := os.RemoveAll(tree); err != nil {
		return fmt.Errorf("remove the tree: %w", err)
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	in := distribution.Installer{Proxy: proxy, Version: version, Work: filepath.Join(work, "go"), Env: os.Environ(), Out: out}
	if err := os.Mkdir(in.Work, 0o700); err != nil {
		return fmt.Errorf("make a folder for go: %w", err)
	}
	bin, err := in.Install(ctx, commands...)
	if err != nil {
		return err
	}
	if err := installed(ctx, bin, home, commands, out); err != nil {
		return err
	}
	for _, l := range libraries() {
		if err := l.add(ctx, in, out); err != nil {
			return fmt.Errorf("%s: %w", l.module, err)
		}
	}
	return nil
}

// installed runs what was installed, found on PATH as a shell does.
func installed(ctx context.Context, bin, home string, commands []string, out io.Writer) error {
	env := []string{"HOME=" + home, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	for _, line := range append(versions(commands), "evalrouter demo", "evalrouter upgrade", "evalrouter local stop") {
		args := strings.Fields(line)
		cmd := exec.CommandContext(ctx, filepath.Join(bin, args[0]), args[1:]...)
		cmd.Dir, cmd.Env = home, env
		text, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", line, err, text)
		}
		want := map[string]string{"demo": "95 %", "--version": args[0] + " " + version + "\n", "upgrade": "go install " + modproxy.Prefix + "cmd/evalrouterd@latest"}[args[1]]
		if !strings.Contains(string(text), want) {
			return fmt.Errorf("%s does not say %q but\n%s", line, want, text)
		}
		fmt.Fprintf(out, "%s: as it should\n", line)
	}
	return nil
}

func versions(commands []string) []string {
	var lines []string
	for _, c := range commands {
		lines = append(lines, c+" --version")
	}
	return lines
}

// library is one that applications add, with a program that uses it and what it
// must not bring along.
type library struct {
	module, program string
	without         []string
}

func libraries() []library {
	heavy := []string{"go.opentelemetry.io/", "modernc.org/", "github.com/jackc/", "github.com/gdamore/", "github.com/zalando/"}
	return []library{
		{"lib", `import evalrouter "github.com/evalrouter/evalrouter/lib"

func main() {
	client, err := evalrouter.New(evalrouter.Config{BaseURL: "https://eval.example.org", APIKey: "erk_x", WorkspaceID: "w"})
	if err != nil {
		panic(err)
	}
	client.Close()
}`, heavy},
		{"bundle", `import "github.com/evalrouter/evalrouter/bundle"

func main() { var _ bundle.Task }`, heavy},
		{"tracing", `import (
	"context"

	"github.com/evalrouter/evalrouter/tracing"
)

func main() {
	var none *tracing.TraceCapture // records nothing
	none.Close(context.Background())
}`, append(slices.Clone(heavy[1:]), "google.golang.org/grpc")},
	}
}

// add is "go get", a build and a look at what came along.
func (l library) add(ctx context.Context, in distribution.Installer, out io.Writer) error {
	dir, err := os.MkdirTemp(in.Work, "app-")
	if err != nil {
		return fmt.Errorf("make a program: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\n"+l.program+"\n"), 0o600); err != nil {
		return fmt.Errorf("write a program: %w", err)
	}
	for _, args := range [][]string{{"mod", "init", "example.org/app"}, {"get", modproxy.Prefix + l.module + "@" + version}, {"run", "."}} {
		if err := in.Go(ctx, dir, nil, args...); err != nil {
			return err
		}
	}
	deps := in
	var list strings.Builder
	deps.Out = &list
	if err := deps.Go(ctx, dir, nil, "list", "-deps", "."); err != nil {
		return err
	}
	for p := range strings.FieldsSeq(list.String()) {
		for _, not := range l.without {
			if strings.HasPrefix(p, not) {
				return fmt.Errorf("a program with it links %s", p)
			}
		}
	}
	fmt.Fprintf(out, "go get %s%s: a program with it builds and runs\n", modproxy.Prefix, l.module)
	return nil
}
