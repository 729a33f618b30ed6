package front

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstInherited is the first descriptor that a process manager hands over.
const firstInherited = 3

// Inherited is the listening socket that the process manager handed over, nil
// when it handed over none. pid is that of this process: variables that were
// meant for another one, a parent as a rule, are not ours.
func Inherited(getenv func(string) string, pid int) (net.Listener, error) {
	if getenv("LISTEN_FDS") == "" || getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("take the listening socket: LISTEN_FDS is %.20q, and exactly one socket is used", n)
	}
	f := os.NewFile(firstInherited, "LISTEN_FDS")
	if f == nil {
		return nil, errors.New("take the listening socket: there is none")
	}
	l, err := net.FileListener(f) // a copy
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("take the listening socket: %w", err)
	}
	if _, ok := l.(*net.TCPListener); !ok {
		return nil, errors.Join(errors.New("take the listening socket: it is not one of TCP"), l.Close())
	}
	return l, nil
}

// Notify tells the process manager about the state of this process, as READY=1.
// Without a manager that wants to know it does nothing.
func Notify(getenv func(string) string, state string) error {
	to := getenv("NOTIFY_SOCKET")
	if to == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", to) // a name with @ in front is an abstract one
	if err != nil {
		return fmt.Errorf("notify the process manager: %w", err)
	}
	_, err = conn.Write([]byte(state))
	return errors.Join(err, conn.Close())
}
