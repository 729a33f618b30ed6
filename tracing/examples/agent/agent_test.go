package main_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

// model asks for a sum until it is told one, and answers with it.
func model(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil || req.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %v", req.URL.Path, err)
		}
		answer := `{"id":"r1","model":"m-1","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":17,\"b\":25}"}}]}}],"usage":{"prompt_tokens":31,"completion_tokens":7}}`
		if last := in.Messages[len(in.Messages)-1]; last.Role == "tool" {
			answer = `{"id":"r2","model":"m-1","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"It is ` + last.Content + `."}}],"usage":{"prompt_tokens":50,"completion_tokens":5}}`
		}
		if _, err := w.Write([]byte(answer)); err != nil {
			t.Error(err)
		}
	})
}

// The example is built as a release is, is small, answers, and what it did
// arrives.
func TestAgent(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "agent")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the example has %.2f MiB", float64(info.Size())/(1<<20))
	if info.Size() > 9<<20 {
		t.Errorf("the example has %d bytes, more than 9 MiB", info.Size())
	}
	llm := httptest.NewServer(model(t))
	defer llm.Close()
	r := fakeotlp.New()
	traces := httptest.NewServer(r)
	defer traces.Close()
	agent := func(env ...string) (stdout, stderr string, err error) {
		cmd := exec.Command(bin, "What is 17 + 25?")
		cmd.Env = append([]string{"OPENAI_BASE_URL=" + llm.URL + "/v1", "MODEL=m"}, env...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		return out.String(), errs.String(), err
	}
	out, errs, err := agent("EVALROUTER_TRACE_KEY="+r.Key, "EVALROUTER_TRACE_CONNECTION_ID="+r.Connection, "EVALROUTER_WORKSPACE_ID="+r.Workspace, "EVALROUTER_BASE_URL="+traces.URL)
	if err != nil || out != "It is 42.\n" || errs != "" {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	var names []string
	for _, s := range r.Spans() {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, ", "); got != "chat m, execute_tool add, chat m, invoke_agent adder" || r.Err() != nil {
		t.Errorf("arrived: %s; %v", got, r.Err())
	}
	out, errs, err = agent()
	if err != nil || out != "It is 42.\n" || !strings.Contains(errs, "EVALROUTER_TRACE_KEY is not set; nothing is captured") || len(r.Spans()) != 4 {
		t.Errorf("without a connection: %v\n%s%s", err, out, errs)
	}
}
