//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package guard

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is where the workspace draws.
const terminal = "/dev/tty"

// Guard is the workspace's end of the pipe.
type Guard struct {
	tty, pipe *os.File
	far       *os.File // the end of the second process, until it has started
}

// New keeps what Taking and Given say until the second process is there to read
// it. nil means that the terminal is not guarded, which is no reason not to open
// the workspace.
func New() *Guard {
	tty, err := os.OpenFile(terminal, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		_ = tty.Close()
		return nil
	}
	return &Guard{tty, write, read}
}

// Start starts the second process from the program itself. Two programs that start
// at once take each other's time; a person waits for the workspace, so that this
// comes behind its first frame.
func (g *Guard) Start(program string) {
	if g == nil || g.far == nil {
		return
	}
	cmd := exec.Command(program, Command)
	cmd.Stdin, cmd.Dir, cmd.Env = g.far, "/", []string{"GOMAXPROCS=1"}
	// Its own group: what the shell sends to the job is not meant for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Start() == nil {
		_ = cmd.Process.Release() // it ends with the pipe, and nobody waits for it
	}
	_ = g.far.Close()
	g.far = nil
}

// Taking says that the terminal is about to be taken, as it is now. Between this
// and Given the second process looks after it.
func (g *Guard) Taking() {
	if g == nil {
		return
	}
	state, err := unix.IoctlGetTermios(int(g.tty.Fd()), getState)
	if err != nil {
		return
	}
	b, err := json.Marshal(state)
	if err != nil {
		return
	}
	_, _ = g.pipe.Write(append(b, '\n')) // a guard that is gone guards nothing
}

// Given says that the terminal was given back.
func (g *Guard) Given() {
	if g != nil {
		_, _ = g.pipe.Write([]byte("null\n"))
	}
}

// Close ends the second process.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	_ = g.pipe.Close()
	_ = g.tty.Close()
	if g.far != nil {
		_ = g.far.Close()
	}
}

// Serve is the life of the second process: it reads what the workspace says
// until that ends, and gives the terminal back if it was taken then.
func Serve(in io.Reader) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGPIPE)
	tty, err := os.OpenFile(terminal, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer tty.Close()
	var taken *unix.Termios
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var next *unix.Termios
		if json.Unmarshal(lines.Bytes(), &next) == nil {
			taken = next
		}
	}
	if taken == nil {
		return nil
	}
	return restore(tty, taken)
}

// restore changes how the terminal reads only while it still reads as the
// workspace left it: a shell that has its prompt up by now has set what it needs.
func restore(tty *os.File, before *unix.Termios) error {
	if now, err := unix.IoctlGetTermios(int(tty.Fd()), getState); err == nil && now.Lflag&(unix.ICANON|unix.ISIG) == 0 {
		if err := unix.IoctlSetTermios(int(tty.Fd()), setState, before); err != nil {
			return err
		}
	}
	_, err := tty.WriteString(reset() + farewell)
	return err
}
