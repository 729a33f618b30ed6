package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killAfter is the grace between asking a child to end and ending its whole process group.
const killAfter = 5 * time.Second

func lookup(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			value = v // the last one counts, as for a child process
		}
	}
	return value
}

func isCI(env []string) bool {
	ci := lookup(env, "CI")
	return ci != "" && ci != "false" && ci != "0"
}

// sharedFolder returns the absolute folder of reference data that stands beside the repository (or that
// EVALROUTER_SHARED names), empty when there is none.
func sharedFolder(root string, env []string) string {
	dir := lookup(env, "EVALROUTER_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(root), "shared")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return ""
}

// childEnv keeps a developer's own account and settings away from the tests.
func childEnv(env []string, shared string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "EVALROUTER_") })
	if shared != "" {
		kept = append(kept, "EVALROUTER_SHARED="+shared)
	}
	return kept
}

// command prepares a child in the root folder. The child leads its own process group, so that an interruption
// reaches what it started too: first politely, then for good.
func (c *check) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = c.root, c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	return cmd
}

// reap ends what an interrupted child left of its process group. It does nothing after a normal end.
func reap(ctx context.Context, cmd *exec.Cmd) {
	if ctx.Err() != nil && cmd.Process != nil {
		// An error means that the group is gone already.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

func listModules(ctx context.Context, root string, env []string) ([]module, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}")
	cmd.Dir, cmd.Env = root, env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of the workspace: %w\n%s", err, stderr.String())
	}
	var modules []module
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			return nil, fmt.Errorf("list the modules of the workspace: unexpected line %q", line)
		}
		modules = append(modules, module{path, dir})
	}
	return modules, nil
}

// makeTemp makes the run's own folder inside the tree's cache, named after the process. Inside the tree a later run
// can tell whose folder it is, so it removes what a killed run had to leave.
func makeTemp(root string, pid int) (string, error) {
	parent := filepath.Join(root, ".cache", "test")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	old, err := os.ReadDir(parent)
	if err != nil {
		return "", fmt.Errorf("look for folders of killed runs: %w", err)
	}
	for _, d := range old {
		if owner, err := strconv.Atoi(strings.SplitN(d.Name(), "-", 2)[0]); err == nil && errors.Is(syscall.Kill(owner, 0), syscall.ESRCH) {
			if err := os.RemoveAll(filepath.Join(parent, d.Name())); err != nil {
				return "", fmt.Errorf("remove the folder of a killed run: %w", err)
			}
		}
	}
	dir, err := os.MkdirTemp(parent, strconv.Itoa(pid)+"-")
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	return dir, nil
}
