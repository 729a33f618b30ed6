package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Facts of the service on this machine.
const (
	Schema      = "evalrouter.local_service.v1"
	DefaultPort = 7788
	Workspace   = "local"
	Binary      = "evalrouterd"
)

// Record is service.json: what a ready service says about itself.
type Record struct {
	Schema    string    `json:"schema"`
	PID       int       `json:"pid"`
	Port      int       `json:"port"`
	BaseURL   string    `json:"base_url"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
}

// Service is the service of one data directory, alive or not.
type Service struct {
	// Dir is the data directory.
	Dir string
	// Port is the first port to try; the service takes the next free one.
	Port int
	// Find names the daemon's executable.
	Find func() (string, error)
	// Env is the environment of a started daemon.
	Env []string
	// Patience is how long a start may take.
	Patience time.Duration
	Sleep    func(ctx context.Context, d time.Duration) error
}

// Error is a failure of the local service itself.
type Error struct {
	Code    api.Code
	Message string
	// Log is the path of the daemon's log, "" when there is none to read.
	Log string
	Err error
	// Refused says that the service itself refused to start, with its own code
	// and sentence: nothing was started, and waiting does not help.
	Refused bool
}

// Error is the message alone.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, api.LocalServiceFailed) work.
func (e *Error) Is(target error) bool {
	c, ok := target.(api.Code)
	return ok && c == e.Code
}

// ErrAbsent says that no service is running.
var ErrAbsent = errors.New("no local service is running")

// LogPath is where a started daemon writes.
func (s *Service) LogPath() string { return filepath.Join(s.Dir, "evalrouterd.log") }

func (s *Service) recordPath() string { return filepath.Join(s.Dir, "service.json") }

// Status is the record of a living service that has proved to know the owner's
// token, or ErrAbsent. A process that lives and does not answer, or a listener
// that cannot prove itself, is another error, with the record.
func (s *Service) Status(ctx context.Context) (Record, error) {
	r, err := s.read()
	if err != nil {
		return Record{}, err
	}
	if !alive(r.PID) {
		return Record{}, ErrAbsent
	}
	return r, s.prove(ctx, r)
}

// Token is the owner's bearer token, readable by the owner alone.
func (s *Service) Token() (string, error) {
	path := filepath.Join(s.Dir, "owner.token")
	info, err := os.Lstat(path)
	if err != nil {
		return "", &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the owner's token %s cannot be read: %s", path, reason(err)), Err: err}
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", &Error{Code: api.LocalServiceFailed, Message: path + " can be read by others; it must have mode 0600"}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the owner's token %s cannot be read: %s", path, reason(err)), Err: err}
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", &Error{Code: api.LocalServiceFailed, Message: path + " is empty"}
	}
	return token, nil
}

func (s *Service) read() (r Record, err error) {
	data, err := os.ReadFile(s.recordPath())
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return r, ErrAbsent
	case err != nil:
		return r, &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the service record %s cannot be read: %s", s.recordPath(), reason(err)), Err: err}
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Schema != Schema || r.PID <= 1 {
		return Record{}, s.untrusted("it is not one")
	}
	if !loopback(r.BaseURL) {
		return Record{}, s.untrusted("its address is not on this machine")
	}
	return r, nil
}

func (s *Service) untrusted(why string) *Error {
	return &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf("the service record %s cannot be trusted: %s; the next start replaces it", s.recordPath(), why)}
}

// loopback accepts only what the service itself listens on, so that a forged
// record cannot send the owner's token elsewhere.
func loopback(base string) bool {
	for _, host := range []string{"http://127.0.0.1:", "http://[::1]:", "http://localhost:"} {
		if port, ok := strings.CutPrefix(strings.TrimSuffix(base, "/"), host); ok {
			return port != "" && strings.Trim(port, "0123456789") == ""
		}
	}
	return false
}
