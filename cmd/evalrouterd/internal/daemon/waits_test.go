package daemon_test

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// waitView is what a run says about its wait.
type waitView struct {
	Status  string     `json:"status"`
	Reason  *string    `json:"waiting_reason"`
	RetryAt *time.Time `json:"retry_at"`
}

// unreachedRun starts a run at an address where nobody listens, and waits until
// the run waits.
func unreachedRun(t *testing.T, l *living) (connection, run, addr string) {
	t.Helper()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = taken.Addr().String()
	taken.Close()
	run = l.runOn(t, "http://"+addr+"/v1")
	until(t, l, "the wait", func() bool {
		var v waitView
		l.call(t, "GET", "/v1/runs/"+run, nil, &v)
		return v.Reason != nil && *v.Reason == "endpoint_unreachable" && v.RetryAt != nil
	})
	var list struct{ Data []struct{ ID string } }
	if l.call(t, "GET", "/v1/connections", nil, &list); len(list.Data) != 1 {
		t.Fatalf("the connections are %+v", list)
	}
	return list.Data[0].ID, run, addr
}

// TestWait_EndsWithACheck lets a run wait for an endpoint that is not there. A
// check that fails changes nothing; the first one that succeeds lets it go on,
// long before it would look by itself.
func TestWait_EndsWithACheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	l := adopt(t, watched(t, "local", "--data", dir, "--port", "0"), dir)
	connection, run, addr := unreachedRun(t, l)
	check := func() string {
		var c struct {
			Result struct{ Status string } `json:"check_result"`
		}
		l.call(t, "POST", "/v1/connections/"+connection+"/check", nil, &c)
		return c.Result.Status
	}
	if got := check(); got != "failed" {
		t.Errorf("a check of nobody is %q", got)
	}
	var v waitView
	if l.call(t, "GET", "/v1/runs/"+run, nil, &v); v.RetryAt == nil {
		t.Fatal("a failed check ended the wait")
	}
	at := *v.RetryAt
	back, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("the address %s was taken by somebody else meanwhile: %v", addr, err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"model":"m","choices":[{"message":{"content":"ANSWER: 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`))
	})}
	go srv.Serve(back)
	t.Cleanup(func() { srv.Close() })
	if got := check(); got != "ok" {
		t.Fatalf("a check of the endpoint is %q", got)
	}
	until(t, l, "the end of the run", func() bool { return l.run(t, run).Status == "completed" })
	if time.Now().After(at) {
		t.Skip("this machine was so slow that the run may have gone on by itself")
	}
}
