package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestRealScripts runs the scripts of testdata/real against the real service,
// which the command starts on this machine, with a home and a service for each.
func TestRealScripts(t *testing.T) {
	t.Parallel()
	bin := os.Getenv("EVALROUTER_TEST_BIN")
	if bin == "" {
		t.Skip("EVALROUTER_TEST_BIN names no folder with the real evalrouterd")
	}
	daemon, err := filepath.Abs(filepath.Join(bin, "evalrouterd"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(daemon); err != nil {
		t.Fatal(err)
	}
	command, err := exec.LookPath("evalrouter")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/real",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home, tools := env.WorkDir+"/home", env.WorkDir+"/tools"
			for _, dir := range []string{home, tools} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					return err
				}
			}
			// Beside the command of this test is a service that only looks like
			// one, and the command takes what is beside it.
			for name, path := range map[string]string{"evalrouter": command, "evalrouterd": daemon} {
				if err := copyProgram(path, filepath.Join(tools, name)); err != nil {
					return err
				}
			}
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`)
			}))
			env.Defer(endpoint.Close)
			env.Setenv("ENDPOINT", endpoint.URL+"/v1")
			env.Setenv("HOME", home)
			env.Setenv("PATH", tools+":/usr/bin:/bin")
			env.Setenv(noExitPause[0], noExitPause[1])
			env.Defer(func() {
				stop := exec.Command(tools+"/evalrouter", "local", "stop")
				stop.Env = []string{"HOME=" + home, "PATH=" + tools}
				if out, err := stop.CombinedOutput(); err != nil {
					t.Errorf("stop the service: %v\n%s", err, out)
				}
			})
			return nil
		},
	})
}

func copyProgram(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o700)
}
