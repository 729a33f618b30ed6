// Package testpg runs a private, throw-away PostgreSQL cluster for tests.
//
// Decisions:
//   - The server of the system is never touched: every cluster has its own folder, a free loopback port, a unix
//     socket and a random password, so any number of them run side by side.
//   - fsync stays on. The tests that need a database are about durability and locking; a faster setting would test
//     another program. In memory, where scripts/test puts the databases if there is room, a sync is done at once.
//   - The server refuses to run as root, so under root it runs as an unprivileged user that the system already has.
//   - One keeper process stops the server and removes the folder. It waits for the end of a pipe that the kernel
//     closes whenever the owner ends, so even kill -9 leaves neither a server nor a file behind. What the end of both
//     leaves, the next cluster in that place removes: their folder is locked for as long as one of them lives.
//
// It needs a Unix system.
package testpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	readyWithin = 60 * time.Second
	pollEvery   = 20 * time.Millisecond
	// portTries bounds the race for a free port: it is chosen by us and bound by the server a moment later.
	portTries = 5
	// maxSocketDir keeps the socket path under the 107 bytes that Linux allows (103 elsewhere).
	maxSocketDir = 80
)

// Cluster is a running server. Stop must be called; a dying process is cleaned up after by the keeper.
type Cluster struct {
	// URL is the postgres:// address of the database "postgres" as its superuser, with the password.
	URL string

	dir      string
	bin      string
	settings []string
	port     int
	env      []string
	cred     *syscall.Credential
	keeper   *exec.Cmd
	leash    io.Closer // closing it tells the keeper to clean up
}

// Start creates a cluster with the server programs in bin and waits until it accepts connections. Settings, as
// NAME=VALUE, come on top of the server's own.
func Start(ctx context.Context, bin string, settings ...string) (*Cluster, error) {
	return StartIn(ctx, os.TempDir(), bin, settings...)
}

// StartIn is Start with the cluster's folder in another one than that for temporary files, where it fits there.
func StartIn(ctx context.Context, parent, bin string, settings ...string) (*Cluster, error) {
	cred, err := serverCredential(os.Geteuid())
	if err != nil {
		return nil, err
	}
	if err := sweep(parent); err != nil {
		return nil, err
	}
	dir, err := makeDir(parent, cred)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin, settings: settings, env: serverEnv(os.Environ()), cred: cred}
	if err := c.startKeeper(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.boot(ctx, bin); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Stop shuts the server down without a checkpoint and removes its folder. It may be called once.
func (c *Cluster) Stop() error {
	if err := c.leash.Close(); err != nil {
		return fmt.Errorf("release the keeper of PostgreSQL: %w", err)
	}
	if err := c.keeper.Wait(); err != nil {
		return fmt.Errorf("stop PostgreSQL in %s: %w", c.dir, err)
	}
	return nil
}

// Restart ends the server as a crash of the machine's memory would, without a checkpoint and without a word to its
// clients, and starts it again at the same address.
func (c *Cluster) Restart(ctx context.Context) error {
	if err := c.crash(ctx); err != nil {
		return err
	}
	return c.launch(ctx, c.bin, c.port)
}

func (c *Cluster) crash(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return fmt.Errorf("find the server: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
	if err != nil || pid <= 1 {
		return fmt.Errorf("find the server: its pid file says %q", text)
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the server's end: %w", context.Cause(ctx))
		}
	}
	return nil
}

// keeperScript runs until its input ends, then stops the server by the pid that it wrote, waits for it, and removes
// the folder. The last loop covers an owner that died while initdb was still writing.
const keeperScript = `cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then
	kill -QUIT "$pid" 2>/dev/null
	n=0
	while kill -0 "$pid" 2>/dev/null && [ "$n" -lt 100 ]; do sleep 0.1; n=$((n+1)); done
	kill -KILL "$pid" 2>/dev/null
fi
n=0
until rm -rf -- "$1" 2>/dev/null && [ ! -e "$1" ]; do
	[ "$n" -ge 50 ] && exit 1
	sleep 0.1; n=$((n+1))
done`

func (c *Cluster) startKeeper() error {
	c.keeper = exec.Command("sh", "-c", keeperScript, "keeper", c.dir)
	c.keeper.Dir = "/"
	c.keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // out of reach of Ctrl-C and of group kills
	lock, err := hold(c.dir)
	if err != nil {
		return err
	}
	defer lock.Close() // the keeper has it
	c.keeper.ExtraFiles = []*os.File{lock}
	leash, err := c.keeper.StdinPipe()
	if err != nil {
		return fmt.Errorf("open the keeper's pipe: %w", err)
	}
	if err := c.keeper.Start(); err != nil {
		return fmt.Errorf("start the keeper of PostgreSQL: %w", err)
	}
	c.leash = leash
	return nil
}

func (c *Cluster) boot(ctx context.Context, bin string) error {
	password := rand.Text()
	if err := c.initdb(ctx, bin, password); err != nil {
		return err
	}
	var last error
	for range portTries {
		port, err := freePort(ctx)
		if err != nil {
			return err
		}
		if last = c.launch(ctx, bin, port); last == nil {
			c.port = port
			c.URL = (&url.URL{
				Scheme: "postgres", User: url.UserPassword("postgres", password),
				Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable",
			}).String()
			return nil
		}
		if !strings.Contains(last.Error(), "Address already in use") {
			return last
		}
	}
	return last
}

func (c *Cluster) initdb(ctx context.Context, bin, password string) error {
	pwfile := filepath.Join(c.dir, "password")
	if err := os.WriteFile(pwfile, []byte(password+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the password file: %w", err)
	}
	if err := chown(pwfile, c.cred); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(c.dir, "data"), "-U", "postgres",
		"--auth=scram-sha-256", "--pwfile="+pwfile, "--encoding=UTF8", "--locale=C", "--no-sync")
	c.own(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("create a PostgreSQL cluster: %w\n%s", err, out)
	}
	return nil
}

// launch starts the server on port and returns once it is ready. The process outlives ctx on purpose: only the
// keeper ends it, after the tests have closed their connections.
func (c *Cluster) launch(ctx context.Context, bin string, port int) error {
	logPath := filepath.Join(c.dir, "log")
	log, err := os.Create(logPath)
	if err != nil {
		return fmt.Errorf("create the server's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", filepath.Join(c.dir, "data"), "-k", c.dir,
		"-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=on", "-c", "max_connections=200")
	for _, s := range c.settings {
		cmd.Args = append(cmd.Args, "-c", s)
	}
	cmd.Stdout, cmd.Stderr = log, log
	c.own(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }() // ends with the server, which Stop ends
	return c.waitReady(ctx, exited, logPath)
}

func (c *Cluster) waitReady(ctx context.Context, exited <-chan error, logPath string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-exited:
			text, readErr := os.ReadFile(logPath)
			return errors.Join(fmt.Errorf("start PostgreSQL: it ended at once (%v)\n%s", err, text), readErr)
		case <-ctx.Done():
			return fmt.Errorf("wait for PostgreSQL: %w", context.Cause(ctx))
		case <-tick.C:
			if ready(filepath.Join(c.dir, "data", "postmaster.pid")) {
				return nil
			}
		}
	}
}

// ready reads the state that the server keeps on the eighth line of its pid file.
func ready(pidfile string) bool {
	data, err := os.ReadFile(pidfile)
	if err != nil {
		return false
	}
	lines := strings.Split(string(data), "\n")
	return len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready"
}

// own makes cmd run as the server's user, in the cluster's folder, out of reach of signals to our process group.
func (c *Cluster) own(cmd *exec.Cmd) {
	cmd.Dir = c.dir
	cmd.Env = c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.cred}
}

func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
