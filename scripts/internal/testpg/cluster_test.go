package testpg_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// ownerEnv makes the test binary start a cluster, print its URL and wait: the process that a test kills.
const ownerEnv = "TESTPG_OWNER_BIN"

func TestMain(m *testing.M) {
	bin := os.Getenv(ownerEnv)
	if bin == "" {
		os.Exit(m.Run())
	}
	c, err := testpg.Start(context.Background(), bin)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Stdout.WriteString(c.URL + "\n")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil { // until killed: nobody writes
		os.Exit(1)
	}
}

func server(t *testing.T) string {
	t.Helper()
	bin, ok := testpg.FindServer(testpg.DebianGlob)
	if !ok {
		t.Skip("PostgreSQL is not installed: " + testpg.InstallHint)
	}
	return bin
}

// query runs one statement with the psql of the same installation and returns its bare answer.
func query(t *testing.T, bin, address, sql string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "psql"), "-XAtq", "-d", address, "-c", sql).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestTwoClustersSideBySide(t *testing.T) {
	t.Parallel()
	bin := server(t)
	for _, name := range []string{"first", "second"} {
		c, err := testpg.Start(t.Context(), bin)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(query(t, bin, c.URL, "show data_directory"))
		defer func() {
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there after Stop (%v)", dir, err)
			}
		}()
		query(t, bin, c.URL, "create table who as select '"+name+"' as name")
		if got := query(t, bin, c.URL, "select name from who"); got != name {
			t.Errorf("cluster %s answers %q", name, got)
		}
		for setting, want := range map[string]string{"fsync": "on", "listen_addresses": "127.0.0.1"} {
			if got := query(t, bin, c.URL, "show "+setting); got != want {
				t.Errorf("%s is %q, want %q", setting, got, want)
			}
		}
	}
}

func TestWrongPasswordIsRefused(t *testing.T) {
	t.Parallel()
	bin := server(t)
	c, err := testpg.Start(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", "guess")
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "psql"), "-XAtq", "-d", u.String(), "-c", "select 1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "password authentication failed") {
		t.Errorf("psql with a wrong password: err %v, output %q", err, out)
	}
}

func TestKilledOwnerLeavesNothing(t *testing.T) {
	t.Parallel()
	bin := server(t)
	owner := exec.CommandContext(t.Context(), os.Args[0])
	owner.Env = append(os.Environ(), ownerEnv+"="+bin)
	if _, err := owner.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(query(t, bin, strings.TrimSpace(line), "show data_directory"))
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err == nil {
		t.Fatal("the owner ended well although it was killed")
	}
	gone(t, dir)
}

// gone waits for the keeper, which works after its owner's death and reports to nobody.
func gone(t *testing.T, dir string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s is still there", dir)
		}
	}
}
