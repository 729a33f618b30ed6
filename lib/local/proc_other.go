//go:build !unix

package local

import (
	"errors"
	"os"
	"os/exec"

	"github.com/evalrouter/evalrouter/lib/api"
)

var errLocked = errors.New("the lock is held")

// errSystem is the answer where the on-demand service is not available yet:
// a service that runs by itself is used through --base-url.
func errSystem() error {
	return &Error{Code: api.UnsupportedFeature, Message: "the on-demand local service needs a Unix system; start evalrouterd serve and give --base-url"}
}

func tryLock(string) (func() error, error) { return nil, errSystem() }

func appendTo(string) (*os.File, error) { return nil, errSystem() }

func isNotDir(error) bool { return false }

func alive(int) bool { return false }

func detach(*exec.Cmd) {}

func terminate(int) error { return errSystem() }
