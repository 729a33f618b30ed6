package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/handbook"
)

// patience is how long a newcomer may take from the clone to the report.
const patience = 5 * time.Minute

// newcomer types docs/getting-started.md as it stands, from the clone on, in an
// empty home: no module, no built package, no setting. The address that is cloned
// leads to this repository as it is committed; modules come from where the go
// command gets them.
func newcomer() error {
	page, err := os.ReadFile(filepath.Join("docs", "getting-started.md"))
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "evalrouter-newcomer-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	gobin, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 6*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euxc", handbook.Script(string(page)))
	cmd.Dir = home
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + filepath.Dir(gobin) + ":/usr/bin:/bin", "LANG=C.UTF-8", "GOFLAGS=-modcacherw", "TMPDIR=" + os.TempDir(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + root + ".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/evalrouter/evalrouter",
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began).Round(time.Second)
	if err != nil {
		return fmt.Errorf("after %s: %w\n%s", took, err, out.String())
	}
	for _, name := range []string{"first-report.html", "first-report.bundle.zip"} {
		if _, err := os.Stat(filepath.Join(home, "evalrouter", name)); err != nil {
			return fmt.Errorf("the page was typed, and there is no report: %w", err)
		}
	}
	if !strings.Contains(out.String(), "25 answers graded again") {
		return errors.New("the evidence was not checked")
	}
	fmt.Printf("from the clone to the report in %s, %s of processor time\n", took, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second))
	if took > patience {
		return fmt.Errorf("a newcomer has %s", patience)
	}
	return nil
}
