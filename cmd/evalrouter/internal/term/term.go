// Package term is the outside of the process: streams, the terminal behind
// them, the environment, and questions to the person in front.
//
// Results go to Out and everything else to Err. Text that came from a service,
// a model or a file reaches either only through a Page, which makes it harmless.
package term

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	xterm "golang.org/x/term"
)

// Term is one process's surroundings. Tests build it from buffers.
type Term struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY say which streams are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Columns is the width of the terminal behind Out or Err, 80 if unknown.
	Columns func() int
	// Env looks up an environment variable.
	Env func(name string) (string, bool)
	// Colour is --color: auto when empty.
	Colour string
	// Abandoned says that a question was left by an interrupt, so that somebody
	// still waits for the next line of In and no other question can be asked.
	Abandoned bool
	// Home is the user's home directory, Dir the working directory.
	Home, Dir string
	// Raw switches the terminal behind In to single keys until restore is
	// called, and first throws away what was typed before. It is nil where that
	// is not possible.
	Raw func() (restore func() error, err error)
}

// System is the Term of this process.
func System() *Term {
	t := &Term{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTTY(os.Stdin), OutTTY: isTTY(os.Stdout), ErrTTY: isTTY(os.Stderr),
		Env: os.LookupEnv,
	}
	t.Home, _ = os.UserHomeDir() // "" without one; whoever needs it refuses
	t.Dir, _ = os.Getwd()
	t.Columns = func() int { return columns(t.Env, os.Stdout, os.Stderr) }
	if t.InTTY {
		t.Raw = func() (func() error, error) { return raw(int(os.Stdin.Fd())) }
	}
	return t
}

func isTTY(f *os.File) bool { return xterm.IsTerminal(int(f.Fd())) }

func columns(env func(string) (string, bool), files ...*os.File) int {
	for _, f := range files {
		if w, _, err := xterm.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if v, ok := env("COLUMNS"); ok {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

func raw(fd int) (func() error, error) {
	state, err := xterm.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	restore := func() error { return xterm.Restore(fd, state) }
	if err := discardInput(fd); err != nil {
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

// Get is an environment variable, "" when it is not set.
func (t *Term) Get(name string) string {
	if t.Env == nil {
		return ""
	}
	v, _ := t.Env(name)
	return v
}

// Attended says that a person can be asked: stdin is a terminal, and so is
// stdout or stderr, and nothing says that a machine is watching.
func (t *Term) Attended() bool {
	return t.InTTY && (t.OutTTY || t.ErrTTY) && t.Get("CI") == ""
}

// Simple says that the terminal must get plain lines only: no cursor
// movements, no single keys.
func (t *Term) Simple() bool {
	return t.Raw == nil || t.Get("TERM") == "dumb" || t.Get("ACCESSIBLE") == "1"
}

// ASCII says that the terminal shows letters only: when that is asked for, or
// when the locale is not one of UTF-8. Without a locale UTF-8 is assumed.
func (t *Term) ASCII() bool {
	if t.Get("EVALROUTER_ASCII") == "1" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(t.Get(name)); v != "" {
			return !strings.Contains(v, "UTF-8") && !strings.Contains(v, "UTF8")
		}
	}
	return false
}

// Closed says that an error means that nobody reads the output any more, as
// with "| head -1". That is no failure of the command.
func Closed(err error) bool { return errors.Is(err, syscall.EPIPE) }
