package local

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
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

const pause = 25 * time.Millisecond

// Ensure returns the living service, starting it if need be. Any number of
// processes may call it at once; they start one.
func (s *Service) Ensure(ctx context.Context) (r Record, started bool, err error) {
	if r, err := s.Status(ctx); err == nil {
		return r, false, nil
	}
	if !filepath.IsAbs(s.Dir) {
		return r, false, &Error{Code: api.InvalidConfiguration, Refused: true, Message: "the data directory is not an absolute path; nothing was started"}
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return r, false, s.unwritable("made", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.Patience, errPatience)
	defer cancel()
	unlock, err := s.startLock(ctx)
	if err != nil {
		return r, false, err
	}
	defer unlock()
	if r, err := s.Status(ctx); err == nil {
		return r, false, nil
	}
	return s.launch(ctx)
}

// launch starts daemons until one is ready. One that was just killed holds the
// directory until the system has taken it apart, and one that stops until its
// last call is back; so a directory in use is tried until the time is over.
func (s *Service) launch(ctx context.Context) (Record, bool, error) {
	var inUse error
	for {
		child, err := s.start()
		if err != nil {
			return Record{}, false, err
		}
		r, err := s.await(ctx, child)
		switch {
		case err == nil:
			return r, r.PID == child.pid, nil
		case errors.Is(err, api.DataDirInUse):
			inUse = err
		case inUse != nil && ctx.Err() != nil:
			return r, false, inUse
		default:
			return r, false, err
		}
		if s.Sleep(ctx, again) != nil {
			return r, false, inUse
		}
	}
}

// again is the pause before a directory that is in use is tried again.
const again = 200 * time.Millisecond

func (s *Service) unwritable(verb string, err error) *Error {
	return &Error{Code: api.DataDirUnwritable, Refused: true, Message: fmt.Sprintf("the data directory %s cannot be %s: %s; nothing was started", s.Dir, verb, reason(err)), Err: err}
}

var errPatience = errors.New("the time for starting is over")

// startLock makes the starters queue. It is not the daemon's own lock.
func (s *Service) startLock(ctx context.Context) (func() error, error) {
	for {
		unlock, err := tryLock(filepath.Join(s.Dir, "start.lock"))
		if err == nil {
			return unlock, nil
		}
		var own *Error
		switch {
		case errors.As(err, &own):
			return nil, own
		case !errors.Is(err, errLocked):
			return nil, s.unwritable("written", err)
		}
		if err := s.Sleep(ctx, pause); err != nil {
			return nil, s.failed("another process has been starting it for too long", err)
		}
	}
}

// child is a started daemon as long as this process watches it.
type child struct {
	pid  int
	from int64         // where its words begin in the log
	gone chan struct{} // closed when it has ended
	exit int           // its exit status, once gone is closed
}

// start runs the daemon detached: it outlives this process and its terminal.
func (s *Service) start() (*child, error) {
	path, err := s.Find()
	if err != nil {
		return nil, err
	}
	log, err := appendTo(s.LogPath())
	if err != nil {
		return nil, s.unwritable("written", err)
	}
	defer log.Close() // the daemon has its own descriptor
	info, err := log.Stat()
	if err != nil {
		return nil, s.unwritable("written", err)
	}
	cmd := exec.Command(path, "local", "--data", s.Dir, "--port", strconv.Itoa(s.Port))
	cmd.Env, cmd.Dir = s.Env, s.Dir
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("%s cannot be started: %s", path, reason(err)), Err: err}
	}
	c := &child{pid: cmd.Process.Pid, from: info.Size(), gone: make(chan struct{})}
	// This goroutine ends with the daemon or with this process, whichever is
	// first: outliving us is the daemon's purpose, and someone must reap it.
	go func() {
		defer close(c.gone)
		_ = cmd.Wait() // how it ended stands in its log and in its status
		c.exit = cmd.ProcessState.ExitCode()
	}()
	return c, nil
}

// await returns when the service answers. A record of another process counts
// only when the child has ended: then another one was started by hand at the
// same moment. Until then it is what an earlier service left behind.
func (s *Service) await(ctx context.Context, c *child) (Record, error) {
	exited := false
	for {
		r, err := s.Status(ctx)
		if err == nil && (exited || r.PID == c.pid) {
			return r, nil
		}
		if exited {
			return r, s.ended(c)
		}
		select {
		case <-c.gone:
			exited = true
			continue
		default:
		}
		if err := s.Sleep(ctx, pause); err != nil {
			if errors.Is(context.Cause(ctx), errPatience) {
				_ = terminate(c.pid) // a daemon that nobody can use must not stay
				return r, s.failed(fmt.Sprintf("it was not ready within %s", s.Patience), err)
			}
			return r, s.failed("starting it was interrupted", err)
		}
	}
}

// exitRefused is the daemon's exit status when it refuses, with a code.
const exitRefused = 2

// ended is why a child ended before it was ready. A daemon that refuses says
// its code at the end of its last line, and that code is passed on.
func (s *Service) ended(c *child) *Error {
	lines, err := s.tailFrom(1, c.from)
	if err != nil || len(lines) == 0 {
		return s.failed("it ended before it was ready", nil)
	}
	text, code, ok := splitCode(strings.TrimPrefix(lines[0], Binary+": "))
	if ok && c.exit == exitRefused {
		return &Error{Code: code, Refused: true, Message: text, Log: s.LogPath()}
	}
	return s.failed("it ended before it was ready", nil)
}

// splitCode takes the code in brackets off the end of a sentence.
func splitCode(line string) (string, api.Code, bool) {
	line = strings.TrimSpace(line)
	i := strings.LastIndex(line, " (")
	if i < 0 || !strings.HasSuffix(line, ")") {
		return line, "", false
	}
	code := line[i+2 : len(line)-1]
	if code == "" || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return line, "", false
	}
	return line[:i], api.Code(code), true
}

func (s *Service) failed(what string, err error) *Error {
	e := &Error{Code: api.LocalServiceFailed, Message: "the local service did not start: " + what, Log: s.LogPath(), Err: err}
	if lines, err := s.Tail(1); err == nil && len(lines) > 0 {
		words, _, _ := splitCode(lines[0])
		e.Message += "; its last words: " + words
	}
	return e
}

// Stop ends the service and waits until it is gone. A run that is
// in progress stops after the calls in flight and goes on with the next start.
func (s *Service) Stop(ctx context.Context) (Record, error) {
	r, err := s.Status(ctx)
	if err != nil {
		// Without an answer the process id may belong to anyone by now.
		return r, err
	}
	if err := terminate(r.PID); err != nil {
		return r, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("process %d cannot be stopped: %s", r.PID, reason(err)), Log: s.LogPath(), Err: err}
	}
	for alive(r.PID) {
		if err := s.Sleep(ctx, pause); err != nil {
			return r, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("process %d was asked to stop and still works on the calls in flight", r.PID), Log: s.LogPath(), Err: err}
		}
	}
	return r, nil
}

const maxTail = 256 << 10

// Tail is the last n lines of the log.
func (s *Service) Tail(n int) ([]string, error) { return s.tailFrom(n, 0) }

// tailFrom is the last n lines of the log behind an offset.
func (s *Service) tailFrom(n int, from int64) ([]string, error) {
	f, err := os.Open(s.LogPath())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from = max(min(from, info.Size()), info.Size()-maxTail)
	data := make([]byte, info.Size()-from)
	if read, err := f.ReadAt(data, from); err != nil && read < len(data) {
		data = data[:read]
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):], nil
}

// FindProgram looks for a program of the product beside the running executable
// and then on PATH. Those beside each other were installed together.
func FindProgram(name string, executable func() (string, error), lookPath func(string) (string, error)) (string, error) {
	if self, err := executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return beside, nil
		}
	}
	path, err := lookPath(name)
	if err != nil {
		return "", &Error{Code: api.LocalServiceFailed, Message: name + " is neither beside evalrouter nor on PATH; install both from the same release", Err: err}
	}
	return path, nil
}

// reason is an error without the path that the message names already.
func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Environment is what a started service gets of a process's environment: what
// programs need to run, and nothing that could be a credential or a setting of a
// client.
func Environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "USER", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOMAXPROCS", "GOMEMLIMIT", "GOCOVERDIR":
			return false
		}
		return !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "LC_")
	})
}
