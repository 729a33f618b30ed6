package daemon_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	slowClients = flag.Int("slow.clients", 100, "how many slow clients hold the service")
	slowFor     = flag.Duration("slow.for", 2*time.Second, "how long they do")
	slowP99     = flag.Duration("slow.p99", 0, "fail when a hundredth of the requests of healthy clients take longer; 0 prints only")
)

// mostMemory bounds the service under slow clients.
const mostMemory = 512 << 20

// laggard is a client that costs as much as it can and gives as little. Each
// returns when the service hangs up, or has answered.
type laggard struct {
	name string
	do   func(net.Conn, *time.Ticker) error
}

// drip sends a text one byte a tick, without end if it is to be repeated.
func drip(c net.Conn, tick *time.Ticker, text string, again bool) error {
	for i := 0; again || i < len(text); i++ {
		<-tick.C
		if _, err := io.WriteString(c, text[i%len(text):i%len(text)+1]); err != nil {
			return err
		}
	}
	return nil
}

func laggards(key string) []laggard {
	return []laggard{
		{"says nothing", func(c net.Conn, _ *time.Ticker) error { _, err := io.Copy(io.Discard, c); return err }},
		{"drips its head", func(c net.Conn, tick *time.Ticker) error {
			if _, err := io.WriteString(c, "GET /v1/runs HTTP/1.1\r\nHost: x\r\n"); err != nil {
				return err
			}
			return drip(c, tick, "X-A: b\r\n", true)
		}},
		{"drips its body", func(c net.Conn, tick *time.Ticker) error {
			if _, err := fmt.Fprintf(c, "POST /v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n", key); err != nil {
				return err
			}
			return drip(c, tick, " ", true)
		}},
		{"drips a body that nobody wants", func(c net.Conn, tick *time.Ticker) error {
			if _, err := io.WriteString(c, "POST /v1/quotes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n"); err != nil {
				return err
			}
			return drip(c, tick, " ", true)
		}},
		{"reads nothing", func(c net.Conn, tick *time.Ticker) error {
			// Answers enough to fill every buffer on the way.
			if _, err := io.WriteString(c, strings.Repeat("GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 50)); err != nil {
				return err
			}
			return drip(c, tick, "G", true)
		}},
		{"comes back slowly", func(c net.Conn, tick *time.Ticker) error {
			if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return err
			}
			return drip(c, tick, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", true)
		}},
	}
}

// TestSlowClients holds the service with slow clients, each from an address of
// its own, while a few healthy ones work. All of theirs is answered, and the
// service does not grow. scripts/prove slow does it with a thousand for a
// minute, and measures.
func TestSlowClients(t *testing.T) {
	if *slowP99 == 0 {
		t.Parallel()
	}
	dir := t.TempDir()
	furnish(t, dir)
	short := watched(t, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
	cmd := exec.CommandContext(t.Context(), short.Path, short.Args[1:]...) // it may take longer than tests do
	cmd.Env = short.Env
	l := begin(t, cmd, dir)
	l.awaitAddress(t)
	key := func() string {
		return strings.TrimSpace(run(t, "keys", "create", "--data", dir, "--workspace", "main", "--name", "n", "--scopes", "eval:read,eval:write").ok(t).stdout)
	}
	clients := *slowClients
	if *slowP99 == 0 {
		clients = rounds(clients)
	}
	addr := strings.TrimPrefix(l.base, "http://")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	kinds := laggards(key())
	cut := make([]atomic.Int64, len(kinds))
	for i := range clients {
		group.Add(1)
		go func() {
			defer group.Done()
			from := net.IPv4(127, byte(1+i/(250*250)), byte(1+i/250%250), byte(1+i%250))
			for ctx.Err() == nil {
				if lag(ctx, addr, from, kinds[i%len(kinds)]) {
					cut[i%len(kinds)].Add(1)
				}
			}
		}()
	}
	until(t, l, "slow clients", func() bool { return figure(t, l, "evalrouterd_connections_open") >= float64(clients*9/10) })
	healthy := make(chan []time.Duration)
	for i := range 4 {
		c := caller{t: t, http: http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}, Timeout: 20 * time.Second}, base: l.base, key: key()}
		go func() { healthy <- c.work(*slowFor, i) }()
	}
	var took []time.Duration
	for range 4 {
		took = append(took, <-healthy...)
	}
	held := figure(t, l, "evalrouterd_connections_open")
	cancel()
	group.Wait()
	slices.Sort(took)
	p99, most := took[len(took)*99/100], peakMemory(t, l.cmd.Process.Pid)
	t.Logf("%d slow clients for %s, %.0f connected at the end; %d healthy requests: p50 %s, p99 %s, max %s; peak memory %d MiB",
		clients, *slowFor, held, len(took), took[len(took)/2].Round(time.Microsecond), p99.Round(time.Microsecond), took[len(took)-1].Round(time.Microsecond), most>>20)
	for i, k := range kinds {
		t.Logf("who %s was hung up on %d times", k.name, cut[i].Load())
	}
	if most > mostMemory {
		t.Errorf("the service takes %d MiB", most>>20)
	}
	if *slowP99 > 0 && p99 > *slowP99 {
		t.Errorf("a hundredth of healthy requests takes more than %s", p99)
	}
}

// lag is one connection of a slow client; it is true when the service ended it.
func lag(ctx context.Context, addr string, from net.IP, how laggard) bool {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	defer c.Close()
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	_ = how.do(c, tick) // it ends in an error, always
	return ctx.Err() == nil
}

// work asks for a quote and then for two lists, about nine times a second, which
// is less than a key may, and fewer quotes than a workspace may have open.
func (c caller) work(during time.Duration, name int) (took []time.Duration) {
	end := time.NewTimer(during)
	defer end.Stop()
	tick := time.NewTicker(110 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		began := time.Now()
		status, err := c.quoteOrRead(fmt.Sprintf("work-%d-%d", name, n), n%3 == 0)
		if took = append(took, time.Since(began)); err != nil || status != http.StatusOK {
			c.t.Errorf("a healthy request is answered with %d: %v", status, err)
		}
		select {
		case <-tick.C:
		case <-end.C:
			return took
		}
	}
}

// figure is one figure without labels.
func figure(t *testing.T, l *living, name string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(l.figures(t))
	if m == nil {
		t.Fatalf("there is no figure %s", name)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// peakMemory is the most resident memory that a process has had, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatal("the system does not tell the peak memory of a process")
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
