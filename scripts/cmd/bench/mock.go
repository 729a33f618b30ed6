package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// buildPeer builds a measuring tool of the shared folder, a module of its own.
func buildPeer(module, dir string) (string, error) {
	bin := filepath.Join(dir, filepath.Base(module))
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Dir, cmd.Env = module, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", module, err, out)
	}
	return bin, nil
}

// writeTasks writes sums with a hint that is wrong in one of ten, so that a
// mock which repeats the last number is right in nine of ten.
func writeTasks(path string, n int, told bool) error {
	form := "Sample %d. What is %d + %d? Reply with the number only. Hint: %d"
	if told {
		form = "Sample %d. There are %d boxes of apples and %d more of them. First I add the apples of one side to those of the other. To check it I add the apples box by box, and I come to the same number of apples again, and so does everybody who counts them after me.\\n\\nANSWER: %d"
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, r := bufio.NewWriter(f), rand.New(rand.NewPCG(42, 0))
	for i := range n {
		a, b := r.IntN(1e6), r.IntN(1e6)
		hint := a + b
		if i%10 == 0 {
			hint++
		}
		fmt.Fprintf(w, `{"id":%d,"question":"`+form+`","expected":"%d"}`+"\n", i, i, a, b, hint, a+b)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// mock is the mock provider, running.
type mock struct {
	cmd  *exec.Cmd
	base string
}

// counters is what the mock saw since its last reset.
type counters struct {
	Requests    int   `json:"requests"`
	Duplicates  int   `json:"duplicate_requests"`
	MaxInFlight int   `json:"max_inflight"`
	FirstNS     int64 `json:"first_ns"`
}

func startMock(bin string, s scenario) (*mock, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	share := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	mode := "lastnum"
	if s.told {
		mode = "echo"
	}
	cmd := exec.Command(bin, "-mode", mode, "-addr", addr, "-latency", s.latency.String(), "-sigma", share(s.sigma),
		"-error-rate", share(s.errorRate), "-rate-429", share(s.rate429), "-drop-rate", share(s.dropRate))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m := &mock{cmd: cmd, base: "http://" + addr}
	for range 500 {
		if _, err = m.counters(); err == nil {
			return m, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	m.stop()
	return nil, fmt.Errorf("the mock provider does not answer: %w", err)
}

func (m *mock) stop() {
	m.cmd.Process.Kill()
	m.cmd.Wait()
}

func (m *mock) reset() error {
	resp, err := http.Post(m.base+"/reset", "", nil)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func (m *mock) counters() (c counters, err error) {
	resp, err := http.Get(m.base + "/counters")
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}

// expHalfSquare is the mean of a lognormal of median 1.
func expHalfSquare(sigma float64) float64 { return math.Exp(sigma * sigma / 2) }

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
