package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/local"
)

// The test binary also plays the daemon, in a way that the variable names, and
// a command that uses it.
const (
	playDaemon  = "LOCAL_TEST_DAEMON"
	playCommand = "LOCAL_TEST_COMMAND"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(playCommand) != "":
		os.Exit(command(os.Getenv(playCommand)))
	case os.Getenv(playDaemon) != "":
		os.Exit(daemon(os.Getenv(playDaemon), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// daemon keeps the promises of evalrouterd to its starters.
func daemon(how string, args []string) int {
	if len(args) != 5 || args[0] != "local" || args[1] != "--data" || args[3] != "--port" {
		fmt.Fprintf(os.Stderr, "unknown arguments %q\n", args)
		return 2
	}
	dir := args[2]
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "first line")
		fmt.Fprintln(os.Stderr, "the disk is full")
		return 1
	case "silent":
		fmt.Fprintln(os.Stderr, "thinking")
		time.Sleep(time.Minute)
		return 0
	}
	if how == "refuses" {
		fmt.Fprintln(os.Stderr, "evalrouterd: the master key is missing; nothing was started (master_key_missing)")
		return 2
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintf(os.Stderr, "evalrouterd: the data directory %s is in use by another evalrouterd; nothing was started (data_dir_in_use)\n", dir)
		return 2
	}
	if err := serve(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serve(dir string) error {
	starts, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(starts, os.Getpid())
	fmt.Fprintln(os.Stderr, "session", os.Getpid())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	rec := local.Record{Schema: local.Schema, PID: os.Getpid(), Port: l.Addr().(*net.TCPAddr).Port, BaseURL: "http://" + l.Addr().String(), Version: "1.2.3", StartedAt: time.Now()}
	data, _ := json.Marshal(rec)
	temp := filepath.Join(dir, "service.json.tmp")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "owner.token"), []byte("erk_local\n"), 0o600), os.WriteFile(temp, data, 0o600), os.Rename(temp, filepath.Join(dir, "service.json"))); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"ok":true,"proof":%q}`, local.Proof("erk_local", r.Header.Get("X-Local-Nonce"), r.Host))
	})
	srv := &http.Server{Handler: mux}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// command is a process that needs the service: it prints the daemon's process.
func command(dir string) int {
	r, _, err := service(dir, "ok").Ensure(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(r.PID)
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func service(dir, how string) *local.Service {
	return &local.Service{
		Dir: dir, Port: local.DefaultPort, Find: os.Executable, Env: append(os.Environ(), playDaemon+"="+how, playCommand+"=", "GORACE=atexit_sleep_ms=0"),
		Patience: 10 * time.Second, Sleep: sleep,
	}
}

func stopAtEnd(t *testing.T, s *local.Service) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := s.Stop(ctx); err != nil && !errors.Is(err, local.ErrAbsent) {
			t.Error(err)
		}
	})
}

func TestServiceLife(t *testing.T) {
	t.Parallel()
	s := service(filepath.Join(t.TempDir(), "new", "dir"), "ok")
	stopAtEnd(t, s)
	if _, err := s.Status(t.Context()); !errors.Is(err, local.ErrAbsent) {
		t.Fatalf("before the start: %v", err)
	}
	r, started, err := s.Ensure(t.Context())
	if err != nil || !started || r.Version != "1.2.3" {
		t.Fatalf("start: %+v, started %v, %v", r, started, err)
	}
	again, started, err := s.Ensure(t.Context())
	if err != nil || started || again.PID != r.PID {
		t.Fatalf("second use: %+v, started %v, %v", again, started, err)
	}
	if token, err := s.Token(); err != nil || token != "erk_local" {
		t.Errorf("token %q, %v", token, err)
	}
	if sid, err := sessionOf(r.PID); err != nil || sid != r.PID {
		t.Errorf("the daemon is in session %d, %v; want its own, %d", sid, err, r.PID)
	}
	if info, err := os.Stat(s.LogPath()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v, %v; want mode 0600", info, err)
	}
	if lines, err := s.Tail(1); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "session ") {
		t.Errorf("log ends with %q, %v", lines, err)
	}
	if _, err := s.Stop(t.Context()); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if _, err := s.Status(t.Context()); !errors.Is(err, local.ErrAbsent) {
		t.Errorf("after the stop: %v", err)
	}
	if _, err := s.Stop(t.Context()); !errors.Is(err, local.ErrAbsent) {
		t.Errorf("a second stop: %v", err)
	}
}

func sessionOf(pid int) (int, error) {
	sid, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sid), nil
}

// Twenty processes that need the service at once start one.
func TestEnsureRacing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stopAtEnd(t, service(dir, "ok"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, 20)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), playCommand+"="+dir, "GORACE=atexit_sleep_ms=0")
			b, err := cmd.Output()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			out[i] = string(b)
		})
	}
	wg.Wait()
	for i := range out {
		if out[i] != out[0] {
			t.Errorf("processes 0 and %d use daemons %q and %q", i, out[0], out[i])
		}
	}
	starts, err := os.ReadFile(filepath.Join(dir, "starts"))
	if n := strings.Count(string(starts), "\n"); err != nil || n != 1 {
		t.Errorf("%d daemons were started, %v", n, err)
	}
}

func TestEnsureFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, how string
		patience  time.Duration
		change    func(*local.Service)
		want      string
		code      api.Code // "" is local_service_failed
	}{
		{"the daemon dies", "dies", 10 * time.Second, nil, "ended before it was ready; its last words: the disk is full", ""},
		{"the daemon refuses", "refuses", 10 * time.Second, nil, "the master key is missing; nothing was started", "master_key_missing"},
		{"the folder stays in use", "ok", 4 * time.Second, func(s *local.Service) { hold(t, s.Dir) }, "is in use by another evalrouterd; nothing was started", api.DataDirInUse},
		{"the daemon never answers", "silent", 4 * time.Second, nil, "not ready within 4s; its last words: thinking", ""},
		{"there is no daemon", "ok", time.Second, func(s *local.Service) {
			s.Find = func() (string, error) {
				return local.FindProgram(local.Binary, func() (string, error) { return filepath.Join(s.Dir, "x"), nil }, func(string) (string, error) { return "", exec.ErrNotFound })
			}
		}, "neither beside evalrouter nor on PATH", ""},
		{"the folder cannot be made", "ok", time.Second, func(s *local.Service) {
			file := filepath.Join(s.Dir, "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				panic(err)
			}
			s.Dir = filepath.Join(file, "data")
		}, "cannot be made: not a directory; nothing was started", api.DataDirUnwritable},
		{"the folder cannot be written", "ok", time.Second, func(s *local.Service) {
			if err := os.Mkdir(filepath.Join(s.Dir, "start.lock"), 0o700); err != nil {
				panic(err)
			}
		}, "cannot be written: is a directory; nothing was started", api.DataDirUnwritable},
		{"the log is a link", "ok", time.Second, func(s *local.Service) {
			if err := os.Symlink(filepath.Join(s.Dir, "elsewhere"), s.LogPath()); err != nil {
				panic(err)
			}
		}, "cannot be written: too many levels of symbolic links; nothing was started", api.DataDirUnwritable},
		{"a relative folder", "ok", time.Second, func(s *local.Service) { s.Dir = ".local" }, "not an absolute path; nothing was started", api.InvalidConfiguration},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := service(t.TempDir(), tt.how)
			s.Patience = tt.patience
			if tt.change != nil {
				tt.change(s)
			}
			_, _, err := s.Ensure(t.Context())
			var e *local.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			want := api.LocalServiceFailed
			if tt.code != "" {
				want = tt.code
			}
			if e.Code != want || e.Refused != (tt.code != "") {
				t.Errorf("code %s, refused %v; want %s", e.Code, e.Refused, want)
			}
			if strings.Contains(tt.want, "last words") && e.Log != s.LogPath() {
				t.Errorf("the error names the log %q, want %q", e.Log, s.LogPath())
			}
		})
	}
}

// hold takes the daemon's lock for as long as the test lasts.
func hold(t *testing.T, dir string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	return f
}

// A killed daemon can hold its directory for a moment longer than its record
// is good for: the start waits for the lock.
func TestEnsureWaitsForADyingDaemon(t *testing.T) {
	t.Parallel()
	s := service(t.TempDir(), "ok")
	stopAtEnd(t, s)
	lock := hold(t, s.Dir)
	tries := 0
	find := s.Find
	s.Find = func() (string, error) {
		if tries++; tries == 3 {
			lock.Close()
		}
		return find()
	}
	if _, started, err := s.Ensure(t.Context()); err != nil || !started || tries != 3 {
		t.Errorf("started %v at try %d, %v; want the third", started, tries, err)
	}
}

// A listener that cannot prove to be the service gets no token, whatever a
// record says, and its process is not stopped.
func TestStrangerGetsNoToken(t *testing.T) {
	t.Parallel()
	const token = "erk_the_owner"
	answers := map[string]func(http.ResponseWriter, string){
		"no proof":        func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `{"ok":true}`) },
		"the nonce again": func(w http.ResponseWriter, n string) { fmt.Fprintf(w, `{"ok":true,"proof":%q}`, n) },
		"another token's proof": func(w http.ResponseWriter, n string) {
			fmt.Fprintf(w, `{"proof":%q}`, local.Proof("x", n, "127.0.0.1:7788"))
		},
		"a proof of another port": func(w http.ResponseWriter, n string) {
			fmt.Fprintf(w, `{"ok":true,"proof":%q}`, local.Proof(token, n, "127.0.0.1:7789")) // passed on from the service there
		},
		"a long page":    func(w http.ResponseWriter, _ string) { fmt.Fprint(w, strings.Repeat("<p>", 100_000)) },
		"a banner":       func(w http.ResponseWriter, _ string) { cut(w, "SSH-2.0-OpenSSH_9.2\r\n") },
		"nothing":        func(w http.ResponseWriter, _ string) { cut(w, "") },
		"something else": func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `<html>"ok"</html>`) },
		"an error":       func(w http.ResponseWriter, _ string) { w.WriteHeader(500) },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen strings.Builder
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = r.Write(&seen)
				answer(w, r.Header.Get("X-Local-Nonce"))
			}))
			defer srv.Close()
			s := service(t.TempDir(), "ok")
			rec := fmt.Sprintf(`{"schema":"evalrouter.local_service.v1","pid":%d,"base_url":%q}`, os.Getpid(), srv.URL)
			if err := errors.Join(os.WriteFile(filepath.Join(s.Dir, "service.json"), []byte(rec), 0o600),
				os.WriteFile(filepath.Join(s.Dir, "owner.token"), []byte(token+"\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			var e *local.Error
			if _, err := s.Status(t.Context()); !errors.As(err, &e) || errors.Is(err, local.ErrAbsent) || !strings.Contains(e.Message, "token was not sent") {
				t.Errorf("status: %v", err)
			}
			if _, err := s.Stop(t.Context()); err == nil {
				t.Error("the stranger was stopped")
			}
			// A client that had the real service before it went: its next
			// connection meets the stranger.
			wire := &http.Transport{DialContext: s.Dial}
			defer wire.CloseIdleConnections()
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/quotes", strings.NewReader("its question"))
			req.RequestURI = ""
			req.Header.Set("Authorization", "Bearer "+token)
			if res, err := wire.RoundTrip(req); !errors.Is(err, local.ErrAbsent) {
				t.Errorf("a client: %v, %v", res, err)
			}
			if asked := seen.String(); strings.Contains(asked, token) || strings.Contains(asked, "question") || !strings.Contains(asked, "X-Local-Nonce") {
				t.Errorf("the stranger was told %q", asked)
			}
		})
	}
}

// cut says something that is no answer and hangs up.
func cut(w http.ResponseWriter, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(conn, text) // whoever asked may have gone
	conn.Close()
}

// A service that takes no request after its proof is no stranger, and no
// connection.
func TestDial_Stopping(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprintf(w, `{"ok":true,"proof":%q}`, local.Proof("erk_x", r.Header.Get("X-Local-Nonce"), r.Host))
	}))
	defer srv.Close()
	s := service(t.TempDir(), "ok")
	if err := os.WriteFile(filepath.Join(s.Dir, "owner.token"), []byte("erk_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if conn, err := s.Dial(t.Context(), "tcp", srv.Listener.Addr().String()); err == nil || errors.Is(err, local.ErrAbsent) {
		t.Errorf("%v, %v", conn, err)
	}
}

// Requests go over the connection that has proved itself, and a listener that
// says nothing is given up.
func TestDial(t *testing.T) {
	t.Parallel()
	s := service(t.TempDir(), "ok")
	stopAtEnd(t, s)
	r, _, err := s.Ensure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dials := 0
	wire := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials++
		return s.Dial(ctx, network, addr)
	}}
	defer wire.CloseIdleConnections()
	for range 3 {
		res, err := (&http.Client{Transport: wire}).Get(r.BaseURL + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body) // so that its connection is used again
		res.Body.Close()
	}
	if dials != 1 {
		t.Errorf("three requests took %d connections", dials)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // never accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if conn, err := s.Dial(ctx, "tcp", l.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent listener: %v, %v", conn, err)
	}
}

// A process that has ended and was not reaped is not a living service.
func TestZombieIsDead(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here to tell a zombie by")
	}
	dead := exec.Command("true")
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	defer dead.Wait()
	s := service(t.TempDir(), "ok")
	rec := fmt.Sprintf(`{"schema":"evalrouter.local_service.v1","pid":%d,"base_url":"http://127.0.0.1:1"}`, dead.Process.Pid)
	if err := errors.Join(os.WriteFile(filepath.Join(s.Dir, "service.json"), []byte(rec), 0o600),
		os.WriteFile(filepath.Join(s.Dir, "owner.token"), []byte("erk_x\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		_, err := s.Status(t.Context())
		if errors.Is(err, local.ErrAbsent) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a zombie counts as alive: %v", err)
		}
		_ = sleep(t.Context(), 10*time.Millisecond) // until it has ended
	}
	if _, err := s.Stop(t.Context()); !errors.Is(err, local.ErrAbsent) {
		t.Errorf("stopping a zombie: %v", err)
	}
}

// What a crashed daemon left behind does not count, and nobody's process is
// stopped in its place.
func TestStaleRecord(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, record string
		absent       bool
	}{
		{"a process that is gone", `{"schema":"evalrouter.local_service.v1","pid":4194300,"port":1,"base_url":"http://127.0.0.1:1"}`, true},
		{"a process that is someone else's", fmt.Sprintf(`{"schema":"evalrouter.local_service.v1","pid":%d,"port":1,"base_url":"http://127.0.0.1:1"}`, os.Getpid()), false},
		{"an address elsewhere", fmt.Sprintf(`{"schema":"evalrouter.local_service.v1","pid":%d,"port":1,"base_url":"http://127.0.0.1.evil.example:80"}`, os.Getpid()), false},
		{"an address with a path", fmt.Sprintf(`{"schema":"evalrouter.local_service.v1","pid":%d,"port":1,"base_url":"http://127.0.0.1:80@evil.example"}`, os.Getpid()), false},
		{"half a record", `{"schema":`, false},
		{"another schema", `{"schema":"x","pid":5}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := service(t.TempDir(), "ok")
			if err := os.WriteFile(filepath.Join(s.Dir, "service.json"), []byte(tt.record), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := s.Status(t.Context())
			if err == nil || errors.Is(err, local.ErrAbsent) != tt.absent {
				t.Errorf("status: %v, want absent %v", err, tt.absent)
			}
			if e := (*local.Error)(nil); !tt.absent && !errors.As(err, &e) {
				t.Errorf("status: %v has no code", err)
			}
			if _, err := s.Stop(t.Context()); err == nil { // and this process is still here
				t.Error("something was stopped")
			}
			// A start replaces what is left.
			stopAtEnd(t, s)
			if r, started, err := s.Ensure(t.Context()); err != nil || !started || r.PID == os.Getpid() {
				t.Errorf("start: %+v, %v, %v", r, started, err)
			}
		})
	}
}

func TestTokenMustBePrivate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		mode os.FileMode
		text string
		want string
	}{
		{"private", 0o600, "erk_x\n", "erk_x"},
		{"readable by others", 0o644, "erk_x\n", ""},
		{"empty", 0o600, "\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := service(t.TempDir(), "ok")
			path := filepath.Join(s.Dir, "owner.token")
			if err := errors.Join(os.WriteFile(path, []byte(tt.text), tt.mode), os.Chmod(path, tt.mode)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Token(); got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("token %q, %v", got, err)
			}
		})
	}
}

func TestFindProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self := func() (string, error) { return filepath.Join(dir, "evalrouter"), nil }
	onPath := func(name string) (string, error) { return "/elsewhere/" + name, nil }
	if got, err := local.FindProgram(local.Binary, self, onPath); err != nil || got != "/elsewhere/evalrouterd" {
		t.Errorf("not beside: %q, %v", got, err)
	}
	beside := filepath.Join(dir, "evalrouterd")
	if err := os.WriteFile(beside, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := local.FindProgram(local.Binary, self, onPath); err != nil || got != beside {
		t.Errorf("beside: %q, %v", got, err)
	}
}
