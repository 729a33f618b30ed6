package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The log holds no answers, not even one that a provider sends unasked: the
// HTTP client of the standard library would write it to standard error.
func TestLog_HoldsNoAnswer(t *testing.T) {
	t.Parallel()
	const canary = "canary-in-an-answer"
	s := newSite(t)
	addr := serveTwice(t, fmt.Sprintf(`{"model":"m","choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`, canary))
	made := s.ok("evalrouter", "connections", "create", "--name", "twice", "--endpoint", "http://"+addr+"/v1", "--model", "m", "--price-in", "1", "--price-out", "1", "--no-key", "--json")
	id := decode[struct{ ID string }](t, made.stdout).ID
	r := s.submit(`{"model": {"kind": "connection", "connection_id": "` + id + `"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 20}, "max_charge_microusd": "1000000", "concurrency": 1}`)
	s.run("evalrouter", "wait", r.ID)
	if end := s.status(r.ID); end.GradedCount != 20 {
		t.Errorf("%d of 20 answers were graded: %v", end.GradedCount, end.Outcomes)
	}
	b, err := os.ReadFile(filepath.Join(s.data(), "evalrouterd.log"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), canary) {
		t.Errorf("the log holds an answer:\n%s", b)
	}
}

// serveTwice answers every request with the same body two times over.
func serveTwice(t *testing.T, body string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Add(1)
			go func() {
				defer group.Done()
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					req, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if _, err := io.Copy(io.Discard, req.Body); err != nil {
						return
					}
					one := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
					if _, err := io.WriteString(c, one+one); err != nil {
						return
					}
				}
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); group.Wait() })
	return l.Addr().String()
}
