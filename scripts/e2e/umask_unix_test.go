//go:build unix

package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Whatever the umask, nobody else reads what the programs keep: state, settings,
// copies, the service's data and saved comparisons.
func TestModes_Umask(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"000", "022", "077", "777"} {
		t.Run(mask, func(t *testing.T) {
			t.Parallel()
			if mask == "777" && os.Getuid() != 0 {
				t.Skip("with umask 777 only root reads what it wrote")
			}
			s := newSite(t)
			s.under = []string{"/bin/sh", "-c", "umask " + mask + `; exec "$@"`, "sh"}
			s.ok("evalrouter", "demo")
			a := decode[run](t, s.ok("evalrouter", "run", "units", "--model", "practice.solver-0.8", "--sample", "5", "--max-cost", "1", "--yes", "--json").stdout)
			s.ok("evalrouter", "catalog")
			s.ok("evalrouter", "compare", a.ID, "--output", filepath.Join(s.home, "comparison"))
			s.ok("evalrouter", "local", "stop")
			seen := 0
			for _, top := range []string{".local", ".config", ".cache", "comparison"} {
				root := filepath.Join(s.home, top)
				if _, err := os.Lstat(root); os.IsNotExist(err) {
					continue
				}
				err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
					if err != nil {
						return err
					}
					info, err := d.Info()
					if err == nil && info.Mode().Perm()&0o077 != 0 {
						t.Errorf("%s is %s", p, info.Mode())
					}
					seen++
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if seen < 20 {
				t.Errorf("only %d files were looked at", seen)
			}
		})
	}
}
