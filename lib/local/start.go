package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return r, false, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the data directory %s cannot be made: %s", s.Dir, reason(err)), Err: err}
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
	child, err := s.start()
	if err != nil {
		return r, false, err
	}
	r, err = s.await(ctx, child)
	return r, err == nil, err
}

var errPatience = errors.New("the time for starting is over")

// startLock makes the starters queue. It is not the daemon's own lock.
func (s *Service) startLock(ctx context.Context) (func() error, error) {
	for {
		unlock, err := tryLock(filepath.Join(s.Dir, "start.lock"))
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the data directory %s cannot be used: %s", s.Dir, reason(err)), Err: err}
		}
		if err := s.Sleep(ctx, pause); err != nil {
			return nil, s.failed("another process has been starting it for too long", err)
		}
	}
}

// child is a started daemon as long as this process watches it.
type child struct {
	pid  int
	gone chan struct{} // closed when it has ended
}

// start runs the daemon detached: it outlives this process and its terminal.
func (s *Service) start() (*child, error) {
	path, err := s.Find()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.LogPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the data directory %s cannot be written: %s", s.Dir, reason(err)), Err: err}
	}
	defer log.Close() // the daemon has its own descriptor
	cmd := exec.Command(path, "local", "--data", s.Dir, "--port", strconv.Itoa(s.Port))
	cmd.Env, cmd.Dir = s.Env, s.Dir
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("%s cannot be started: %s", path, reason(err)), Err: err}
	}
	c := &child{pid: cmd.Process.Pid, gone: make(chan struct{})}
	// This goroutine ends with the daemon or with this process, whichever is
	// first: outliving us is the daemon's purpose, and someone must reap it.
	go func() {
		defer close(c.gone)
		_ = cmd.Wait() // how it ended stands in its log
	}()
	return c, nil
}

// await returns when a service answers. That may be another one than the child,
// started by hand at the same moment.
func (s *Service) await(ctx context.Context, c *child) (Record, error) {
	exited := false
	for {
		r, err := s.Status(ctx)
		if err == nil {
			return r, nil
		}
		if exited && errors.Is(err, ErrAbsent) {
			return r, s.failed("it ended before it was ready", nil)
		}
		select {
		case <-c.gone:
			exited = true
		default:
		}
		if err := s.Sleep(ctx, pause); err != nil {
			if errors.Is(context.Cause(ctx), errPatience) && !exited {
				_ = terminate(c.pid) // a daemon that nobody can use must not stay
				return r, s.failed(fmt.Sprintf("it was not ready within %s", s.Patience), err)
			}
			return r, s.failed("starting it was interrupted", err)
		}
	}
}

func (s *Service) failed(what string, err error) *Error {
	e := &Error{Code: api.LocalServiceFailed, Message: "the local service did not start: " + what, Log: s.LogPath(), Err: err}
	if lines, err := s.Tail(1); err == nil && len(lines) > 0 {
		e.Message += "; its last words: " + lines[0]
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
func (s *Service) Tail(n int) ([]string, error) {
	f, err := os.Open(s.LogPath())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-maxTail)
	data := make([]byte, info.Size()-from)
	if read, err := f.ReadAt(data, from); err != nil && read < len(data) {
		data = data[:read]
	}
	var lines []string
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		if strings.TrimSpace(sc.Text()) != "" {
			lines = append(lines, sc.Text())
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
