package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/command"
)

// Every broken package ends bundle with exit code 2 and the rule that is
// meant, and leaves no file behind.
func TestBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range packtest.All() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			from, to := filepath.Join(dir, strconv.Itoa(i)), filepath.Join(dir, strconv.Itoa(i)+"-out")
			if err := c.Files.Write(from); err != nil {
				t.Skipf("the file system cannot hold this package: %v", err)
			}
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
			a, out, errs := quiet()
			code := command.Execute(context.Background(), a, []string{"bundle", from, "--output", to, "--json"})
			if code != 2 || errs.Len() > 0 || !strings.Contains(out.String(), "("+c.Rule+")") {
				t.Errorf("exit code %d, want the rule %s: %s%s", code, c.Rule, out, errs)
			}
			if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
				t.Errorf("%v is left behind, %v", left, err)
			}
		})
	}
}

// BEN-04, BEN-05, BEN-06: the program links nothing that could reach a
// network or an account, or run a program, a plug-in or a script.
func TestLinks_BEN04_BEN05_BEN06(t *testing.T) {
	t.Parallel()
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("list what the program links: %v", err)
	}
	deps := strings.Fields(string(list))
	for _, no := range []string{"net", "net/http", "net/url", "crypto/tls", "os/exec", "plugin", "database/sql", "github.com/evalrouter/evalrouter/lib"} {
		if slices.Contains(deps, no) {
			t.Errorf("links %s", no)
		}
	}
	if !slices.Contains(deps, "github.com/evalrouter/evalrouter/bundle/pack") {
		t.Error("the list is not of this program")
	}
}
