package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// BEN-01, BEN-02, BEN-03: from nothing to a bundle through the command line,
// without an account and without starting the service.
func TestBenchmark_BEN01_BEN02_BEN03_FromInitToBundle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, template := range []string{"text", "multiple-choice", "numeric", "json", "conversation"} {
		dir, file := filepath.Join(s.home, template), filepath.Join(s.home, template+".zip")
		s.ok("evalrouter", "benchmark", "init", dir, "--namespace", "acme", "--name", template, "--template", template)
		type report struct {
			Valid bool
			Tasks int `json:"task_count"`
		}
		if r := decode[report](t, s.ok("evalrouter", "benchmark", "validate", dir, "--json").stdout); !r.Valid || r.Tasks != 6 {
			t.Errorf("%s: %+v", template, r)
		}
		contains(t, "the preview", s.ok("evalrouter", "benchmark", "preview", dir, "--limit", "1").stdout, "target: ", "Graded 1")
		s.ok("evalrouter", "benchmark", "bundle", dir, "--output", file)
		contains(t, "the check of the bundle", s.ok("evalrouter", "verify", file).stdout, "byte for byte")
		s.refused(2, "destination_exists", "evalrouter", "benchmark", "bundle", dir, "--output", file)
		contains(t, "lint of a draft", s.refused(2, "", "evalrouter", "--json", "benchmark", "lint", dir).stdout, "rights_draft")
	}
	if _, err := os.Stat(s.data()); err == nil {
		t.Error("the service has been started")
	}
}
