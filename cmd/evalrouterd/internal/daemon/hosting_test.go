package daemon_test

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const hostingDir = "../../../../docs/hosting"

// unit is what a unit says, by key, as it stands there.
func unit(t *testing.T, name string) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(hostingDir, name))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(k, "#") {
			out[k] = append(out[k], v)
		}
	}
	return out
}

// site is a machine that is set up as the page says, with folders and addresses
// of its own.
type site struct {
	t       *testing.T
	root    string
	socket  *net.TCPListener
	manager *net.UnixConn // what hears the service's notices
	notify  string
	service *living
}

func newHostingSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, root: t.TempDir()}
	l, err := net.Listen("tcp", "127.0.0.1:0") // in place of ListenStream
	if err != nil {
		t.Fatal(err)
	}
	s.socket = l.(*net.TCPListener)
	t.Cleanup(func() { l.Close() })
	s.notify = filepath.Join(t.TempDir(), "notify")
	if s.manager, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.notify, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.manager.Close() })
	for _, dir := range []string{"data", "backup", "etc"} {
		if err := os.Mkdir(filepath.Join(s.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	furnish(t, filepath.Join(s.root, "data"))
	cert, key, _ := selfSigned(t, filepath.Join(s.root, "etc"))
	for from, to := range map[string]string{cert: "fullchain.pem", key: "privkey.pem"} {
		if err := os.Rename(from, filepath.Join(s.root, "etc", to)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// here puts the folders of the test in place of those of the page.
func (s *site) here(line string) []string {
	words := regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1)
	for i, w := range words {
		w = strings.Trim(w, `"`)
		for from, to := range map[string]string{
			"/var/lib/evalrouter-new": "new", "/var/lib/evalrouter-backup": "backup", "/var/lib/evalrouter": "data", "/etc/evalrouter": "etc",
		} {
			if rest, ok := strings.CutPrefix(w, from); ok && (rest == "" || rest[0] == '/') {
				w = filepath.Join(s.root, to) + rest
			}
		}
		words[i] = strings.Replace(w, "127.0.0.1:9090", "127.0.0.1:0", 1)
	}
	return words
}

// start starts the service's unit, as systemd does.
func (s *site) start() {
	s.t.Helper()
	u := unit(s.t, "evalrouterd.service")
	if len(u["ExecStart"]) != 1 || u["Type"][0] != "notify" {
		s.t.Fatalf("the unit starts %v", u["ExecStart"])
	}
	words := s.here(u["ExecStart"][0])
	if words[0] != "/usr/local/bin/evalrouterd" {
		s.t.Fatalf("the unit starts %s", words[0])
	}
	cmd := program(s.t)
	cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, cmd.Path}, words[1:]...)
	cmd.Path = "/bin/sh"
	cmd.Env = append(cmd.Env, "LISTEN_FDS=1", "NOTIFY_SOCKET="+s.notify)
	file, err := s.socket.File()
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	cmd.ExtraFiles = []*os.File{file}
	s.service = begin(s.t, cmd, filepath.Join(s.root, "data"))
	s.hear("READY=1")
}

// stop stops it.
func (s *site) stop() {
	s.t.Helper()
	s.service.signal(s.t, syscall.SIGTERM)
	s.hear("STOPPING=1")
	if status := s.service.ended(s.t); status != 0 {
		s.t.Errorf("the service ends with %d: %s", status, s.service.stderr)
	}
}

// hear waits for a notice of the service.
func (s *site) hear(want string) {
	s.t.Helper()
	heard := make(chan string, 1)
	go func() {
		b := make([]byte, 256)
		n, _ := s.manager.Read(b) // 0 when it is closed
		heard <- string(b[:n])
	}()
	select {
	case got := <-heard:
		if got != want {
			s.t.Errorf("the service says %q, not %q", got, want)
		}
	case <-s.service.gone:
		s.t.Fatalf("the service ended before it said %s: %s", want, s.service.stderr)
	}
}

// do runs one line of the page.
func (s *site) do(line string) {
	s.t.Helper()
	line = strings.TrimPrefix(line, "sudo -u evalrouter ")
	words := s.here(line)
	switch {
	case strings.HasPrefix(line, "evalrouterd serve"):
		l := startServe(s.t, s.t.TempDir(), append([]string{"--addr", "127.0.0.1:0"}, words[4:]...)...)
		if !strings.HasPrefix(l.base, "https://") {
			s.t.Errorf("%s serves %s", line, l.base)
		}
	case words[0] == "evalrouterd":
		if r := run(s.t, words[1:]...); r.status != 0 {
			s.t.Errorf("%s\nends with %d: %s%s", line, r.status, r.stdout, r.stderr)
		}
	case words[0] == "systemctl":
		s.systemctl(words[1:])
	case words[0] == "curl":
		url := strings.Replace(words[len(words)-1], "127.0.0.1:7788", s.socket.Addr().String(), 1)
		if strings.HasSuffix(url, "/metrics") {
			s.service.figures(s.t)
			return
		}
		res, err := http.Get(url)
		if err != nil {
			s.t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != 200 {
			s.t.Errorf("%s is answered %s", line, res.Status)
		}
	case words[0] == "useradd", words[0] == "install": // of a user that the machine of the tests does not need
	case words[0] == "export", words[0] == "evalrouter": // on the machine of a user
	default:
		s.t.Errorf("nobody runs %q", line)
	}
}

func (s *site) systemctl(words []string) {
	s.t.Helper()
	for _, name := range words {
		if strings.HasPrefix(name, "evalrouterd") {
			unit(s.t, name) // is there
		}
	}
	switch words[0] {
	case "enable":
		s.start()
	case "stop":
		s.stop()
	case "restart":
		s.stop()
		s.start()
	case "kill": // TestSecondSignal
	default:
		s.t.Errorf("nobody runs systemctl %s", words[0])
	}
}

// TestHosting_Page sets a machine up as the page says, line by line.
func TestHosting_Page(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(hostingDir, "..", "hosting.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := newHostingSite(t)
	ran := 0
	for line := range strings.Lines(string(page)) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			s.do(strings.TrimSpace(command))
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("the page has %d commands", ran)
	}
}

// TestHosting_Units lets systemd read the units, and this program the command of
// the backup.
func TestHosting_Units(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed, which reads units")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"verify", "--man=no"}
	for _, name := range []string{"evalrouterd.socket", "evalrouterd.service", "evalrouterd-backup.service", "evalrouterd-backup.timer"} {
		b, err := os.ReadFile(filepath.Join(hostingDir, name))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, bytes.ReplaceAll(b, []byte("/usr/local/bin/evalrouterd"), []byte(self)), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "evalrouterd") {
			t.Errorf("systemd says %s", line)
		}
	}
	if err != nil {
		t.Logf("systemd-analyze: %v: %s", err, out)
	}
}

// TestHosting_BackupUnit runs the command of the nightly backup.
func TestHosting_BackupUnit(t *testing.T) {
	t.Parallel()
	s := newHostingSite(t)
	command := unit(t, "evalrouterd-backup.service")["ExecStart"][0]
	script := regexp.MustCompile(`^/bin/sh -ec '(.*)'$`).FindStringSubmatch(command)
	if script == nil {
		t.Fatalf("the unit starts %s", command)
	}
	cmd := program(t)
	text := strings.NewReplacer("%%", "%", "/usr/local/bin/evalrouterd", cmd.Path, "/var/lib/evalrouter-backup", filepath.Join(s.root, "backup"), "/var/lib/evalrouter", filepath.Join(s.root, "data")).Replace(script[1])
	cmd.Args, cmd.Path = []string{"sh", "-ec", text}, "/bin/sh"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", text, err, out)
	}
	made, err := filepath.Glob(filepath.Join(s.root, "backup", "evalrouter-*Z.db"))
	if err != nil || len(made) != 1 {
		t.Errorf("it makes %v (%v)", made, err)
	}
}
