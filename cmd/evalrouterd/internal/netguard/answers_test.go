package netguard_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
)

// inbox is a connection on which everything has come already, in pieces of a
// size, and everything is sent.
type inbox struct {
	net.Conn
	in   *bytes.Reader
	size int
	sent int
}

func (c *inbox) Read(p []byte) (int, error)  { return c.in.Read(p[:min(len(p), c.size)]) }
func (c *inbox) Write(p []byte) (int, error) { c.sent++; return len(p), nil }

// surplus sends one request, reads all that comes and says whether it was
// more than one answer.
func surplus(t *testing.T, in []byte, size int) bool {
	t.Helper()
	raw := &inbox{in: bytes.NewReader(in), size: size}
	a := &netguard.Answers{Conn: raw}
	if _, err := a.Write([]byte("GET")); err != nil {
		t.Fatalf("a fresh connection: %v", err)
	}
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{a}); err != nil {
		t.Fatal(err)
	}
	before := raw.sent
	_, err := a.Write([]byte("again"))
	if a.Surplus() != errors.Is(err, netguard.ErrSurplus) || a.Surplus() != (raw.sent == before) {
		t.Errorf("surplus %v, but a write gives %v", a.Surplus(), err)
	}
	return a.Surplus()
}

const (
	sized   = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
	chunks  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n1;x=y\r\n!\r\n0\r\nX: y\r\n\r\n"
	empty   = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	nothing = "HTTP/1.1 204 No Content\r\n\r\n"
	hint    = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	open    = "HTTP/1.1 200 OK\r\n\r\n"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"sized", sized, false}, {"sized, twice", sized + sized, true}, {"sized, a byte more", sized + "x", true}, {"sized, cut", sized[:len(sized)-1], false},
		{"chunked", chunks, false}, {"chunked, twice", chunks + chunks, true}, {"chunked, a line break more", chunks + "\r\n", true}, {"chunked, cut", chunks[:len(chunks)-1], false},
		{"empty", empty, false}, {"empty, twice", empty + empty, true}, {"no content", nothing, false}, {"no content and a body", nothing + "body", true},
		{"hints first", hint + hint + sized, false}, {"hints first, twice", hint + sized + hint, true}, {"hints only", hint, false},
		{"until the end", open + "body" + sized, false}, {"no HTTP", "SSH-2.0-x\r\n", false}, {"nothing", "", false},
		{"bare line ends", "HTTP/1.1 200 OK\nContent-Length: 4\n\nbody", false}, {"bare line ends, twice", "HTTP/1.1 200 OK\nContent-Length: 4\n\nbodyx", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 7, 4096} {
				if got := surplus(t, []byte(c.in), size); got != c.want {
					t.Errorf("in pieces of %d: surplus %v", size, got)
				}
			}
		})
	}
}

// FuzzAnswers compares with the standard library, which reads the answers:
// where it finds the end of one and something behind it, so does the
// connection.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{sized + sized, chunks + "x", empty + nothing, hint + chunks + hint, open + sized, nothing, "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nab"} {
		f.Add([]byte(s), uint8(3))
		f.Add([]byte(s), uint8(255))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		got := surplus(t, in, max(int(size), 1))
		r := bufio.NewReaderSize(bytes.NewReader(in), 1<<20)
		for {
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				return // no client takes it for an answer
			}
			if res.StatusCode/100 == 1 && res.StatusCode != http.StatusSwitchingProtocols {
				continue
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil || res.Close || res.StatusCode == http.StatusSwitchingProtocols {
				return // no client keeps the connection
			}
			break
		}
		if rest, err := io.ReadAll(r); err == nil && len(rest) > 0 && !got {
			t.Fatalf("%d bytes are left behind the answer and were not noticed", len(rest))
		}
	})
}
