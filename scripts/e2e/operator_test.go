package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/handbook"
)

// typed are the lines of docs/operating.md under a heading, with folders of the
// test in the place of those of a machine, and a port that is free.
func (s *site) typed(heading string) (lines []string) {
	s.t.Helper()
	folders := strings.NewReplacer(
		"/srv/", s.home+"/srv/", "/backup/", s.home+"/backup/", "/run/secrets/", s.home+"/",
		" test.jsonl", " "+shared(s.t, "data", "gsm8k", "test.jsonl"), "127.0.0.1:7788", "127.0.0.1:0",
	)
	for l := range strings.Lines(handbook.Script(document(s.t, "docs/operating.md"), heading)) {
		l, _, _ = strings.Cut(l, " #")
		lines = append(lines, folders.Replace(strings.TrimSpace(l)))
	}
	if len(lines) == 0 {
		s.t.Fatalf("nothing is typed under %q", heading)
	}
	return lines
}

// up starts what a line starts and waits until it serves.
func (s *site) up(line string, env ...string) *process {
	s.t.Helper()
	args, ok := strings.CutPrefix(line, "evalrouterd serve ")
	if !ok {
		s.t.Fatalf("%q serves nothing", line)
	}
	p := s.serve(env, strings.Fields(args)...)
	s.until(line, func() bool {
		select {
		case <-p.gone:
			s.t.Fatalf("%s: it ended\n%s", line, p.log.String())
		default:
		}
		return strings.Contains(p.log.String(), "serves http://") || strings.Contains(p.log.String(), " works for ")
	})
	return p
}

// What docs/operating.md types on one machine works as it stands: the service is
// begun, serves, has a key and credit, is backed up while it serves, restored
// elsewhere and given free.
func TestPages_OperatingOneMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, dir := range []string{"srv", "backup"} {
		if err := os.Mkdir(filepath.Join(s.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	for _, l := range append(s.typed("On one machine"), s.typed("Backups")...) {
		if strings.HasPrefix(l, "evalrouterd serve ") {
			s.up(l)
			continue
		}
		out := s.follow("sh", l)
		said = append(said, out.stdout+out.stderr)
	}
	contains(t, "operating", strings.Join(said, "\n"), "gsm8k@1 added", "Epoch 2", "Epoch 2 is acknowledged")
	s.ok("evalrouterd", "audit", "--data", filepath.Join(s.home, "srv", "new"))
}

// And what it types for PostgreSQL: an installation of one machine moves there,
// and two processes serve it.
func TestPages_OperatingPostgreSQL(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	pg := postgres(t)
	s.write("database", []byte(pg.URL))
	if err := os.Chmod(filepath.Join(s.home, "database"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := s.typed("On PostgreSQL, with several workers")
	if len(lines) != 3 {
		t.Fatalf("other lines than this test knows: %q", lines)
	}
	old := filepath.Join(s.home, "srv", "evalrouter")
	if err := os.Mkdir(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	first := s.up("evalrouterd serve --data " + old + " --addr 127.0.0.1:0")
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-first.gone
	s.follow("sh", lines[2])
	s.refused(2, "moved", "evalrouterd", "serve", "--data", old, "--addr", "127.0.0.1:0")

	// Each process is on a machine of its own, with the one master key.
	for i, line := range lines[:2] {
		home := t.TempDir()
		data := filepath.Join(home, ".local", "share", "evalrouter")
		key, err := os.ReadFile(filepath.Join(old, "master.key"))
		if err == nil {
			err = os.MkdirAll(data, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(data, "master.key"), key, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			line += " --addr 127.0.0.1:0"
		}
		s.up(line, "HOME="+home)
	}
	audit := s.command(context.Background(), "evalrouterd", "audit", "--data", t.TempDir(), "--database-file", filepath.Join(s.home, "database"))
	if out, err := audit.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
