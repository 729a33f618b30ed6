// Command withpg runs a command with a private PostgreSQL cluster and removes the cluster afterwards:
//
//	withpg go test ./cmd/evalrouterd/...
//
// The command finds the cluster's address in EVALROUTER_TEST_PG. The exit code is the command's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	code, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, argv []string) (code int, err error) {
	if len(argv) == 0 {
		return 2, errors.New("name the command to run, for example: scripts/withpg go test ./cmd/evalrouterd/...")
	}
	bin, err := testpg.Installer{UID: os.Geteuid(), Out: os.Stderr}.Obtain(ctx, testpg.DebianGlob)
	if errors.Is(err, testpg.ErrMayNotInstall) {
		return 1, fmt.Errorf("%w; install it with: %s", err, testpg.InstallHint)
	}
	if err != nil {
		return 1, err
	}
	cluster, err := testpg.Start(ctx, bin)
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := cluster.Stop(); stopErr != nil {
			code, err = max(code, 1), errors.Join(err, stopErr)
		}
	}()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "EVALROUTER_TEST_PG="+cluster.URL)
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return 0, nil
}
