package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/apitest/shipped"
	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

func TestMain(m *testing.M) {
	// Scripts start the command some thousand times.
	testscript.Main(shipped.Commands{Tests: m, Names: []string{"evalrouter"}}, map[string]func(){
		"evalrouter":  func() { os.Exit(evalrouter()) },
		watched:       func() { os.Exit(evalrouter()) },
		"evalrouterd": fakeDaemon,
		"browse":      browse,
	})
}

// watched is the command in this test binary, with the race detector where the
// tests have it.
const watched = "evalrouter-watched"

// program is the path of a command of the tests: evalrouter as it ships, where it
// was built, or watched.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// noExitPause keeps a program that was built with the race detector from
// resting for a second before every exit.
var noExitPause = [2]string{"GORACE", "atexit_sleep_ms=0"}

type fakeKey struct{}

// TestScripts runs every script of testdata/script against a service in memory.
// Scripts use these commands beside the usual ones:
//
//	er CODE ARGS...              evalrouter against the fake; must exit with CODE
//	runs N                       so many runs were started so far
//	requests ROUTE N             so many requests of a route arrived
//	drop ROUTE N                 the next N answers get lost after they took effect
//	fail ROUTE N STATUS CODE     the next N requests fail without effect
//	grant USD                    adds credit
//	signin WORDS...              how people are signed in: deny, off, foreign, later, slow, code
//	workspace NAME               the person gets one more workspace
//	signedin N                   so many sign-ins are not revoked
//	said TEXT                    a request that changed something held the text
//	caching HEADER               the Cache-Control of the public catalog
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			f := apitest.NewFake(apitest.Options{TaskTime: time.Millisecond, Credits: 100 * usd.Dollar})
			env.Defer(f.Close)
			env.Values[fakeKey{}] = f
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("EVALROUTER_API_KEY", f.Token)
			env.Setenv("EVALROUTER_WORKSPACE_ID", f.WorkspaceID)
			env.Setenv("EVALROUTER_LOCAL", "off")
			// The folder of the programs under test, for a PATH without others.
			bin, _, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator))
			env.Setenv("BIN", bin)
			env.Setenv("URL", f.URL)
			env.Setenv(noExitPause[0], noExitPause[1])
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}`)
			}))
			env.Defer(endpoint.Close)
			env.Setenv("ENDPOINT", endpoint.URL+"/v1")
			env.Defer(func() { checkKept(t, env.WorkDir+"/home", f) })
			return os.Mkdir(env.WorkDir+"/home", 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"er": scriptEvalrouter, "runs": scriptRuns, "requests": scriptRequests,
			"drop": scriptDrop, "fail": scriptFail, "grant": scriptGrant,
			"caching": scriptCaching, "said": scriptSaid, "signin": scriptSignIn, "workspace": scriptWorkspace, "signedin": scriptSignedIn,
			"plan": scriptPlan, "id": scriptID, "gid": scriptGroupID, "expire": scriptExpire, "acknowledged": scriptAcknowledged,
		},
	})
}

func scriptFake(ts *testscript.TestScript) *apitest.Fake { return ts.Value(fakeKey{}).(*apitest.Fake) }

func scriptEvalrouter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: er CODE ARGS...")
	}
	want := scriptNumber(ts, args[0])
	all := append([]string{"--base-url", scriptFake(ts).URL, "--allow-http"}, args[1:]...)
	before := effects(scriptFake(ts))
	err := ts.Exec("evalrouter", all...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("start evalrouter: %v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if after := effects(scriptFake(ts)); want == 2 && after != before {
		ts.Fatalf("exit code 2 says that nothing happened, and %d requests changed something", after-before)
	}
	for _, secret := range append(canaries(scriptFake(ts).Token), scriptFake(ts).Secrets()...) {
		if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), secret) {
			ts.Fatalf("a secret was printed")
		}
	}
	checkNext(ts, ts.ReadFile("stdout")+ts.ReadFile("stderr"))
}

// canaries are the secrets that scripts use: the key of the service and those of
// providers, as they are and as they stand in URLs and in Base64.
func canaries(token string) (out []string) {
	for _, s := range []string{token, "a-provider-key", "another-key"} {
		out = append(out, s, base64.StdEncoding.EncodeToString([]byte(s)), url.QueryEscape(s + " ")[:len(s)])
	}
	return out
}

// checkKept looks through everything that a script's commands left in the home:
// state, copies, logs, reports. Nothing of it holds a secret or can be read by
// others.
func checkKept(t *testing.T, home string, f *apitest.Fake) {
	for _, address := range f.Addresses() {
		for _, secret := range append(f.Secrets(), f.Token) {
			if strings.Contains(address, secret) {
				t.Errorf("a secret stands in the address %s", address)
			}
		}
	}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, secret := range append(canaries(f.Token), f.Secrets()...) {
			if filepath.Base(path) != "credentials.json" && bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds a secret", path)
			}
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// effects counts the requests that changed something. A quote changes nothing.
func effects(f *apitest.Fake) (n int) {
	for _, m := range f.Mutations() {
		if m.Status < 300 && !strings.HasSuffix(m.Path, "quotes") {
			n++
		}
	}
	return n
}

// checkNext reads every command line that an output advises: advice that does
// not parse helps nobody.
func checkNext(ts *testscript.TestScript, output string) {
	for line := range strings.Lines(output) {
		_, advice, ok := strings.Cut(strings.TrimSpace(line), "ext: ")
		if !ok {
			if advice, ok = strings.CutPrefix(strings.TrimSpace(line), "or: "); !ok {
				continue
			}
		}
		for cmd := range strings.SplitSeq(advice, "   or: ") {
			cmd, _, _ = strings.Cut(strings.TrimSpace(cmd), "   ")
			words := strings.Fields(cmd)
			if strings.HasPrefix(cmd, "go install github.com/evalrouter/evalrouter/cmd/") {
				continue
			}
			app, _, _ := quietApp()
			if _, err := argv.Parse(tree(app), words[1:]); err != nil || words[0] != "evalrouter" {
				ts.Fatalf("advice %q cannot be followed: %v", cmd, err)
			}
		}
	}
}

func scriptNumber(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		ts.Fatalf("%q is not a number", s)
	}
	return n
}

func scriptRuns(ts *testscript.TestScript, _ bool, args []string) {
	if got, want := scriptFake(ts).Runs(), scriptNumber(ts, args[0]); got != want {
		ts.Fatalf("%d runs were started, want %d", got, want)
	}
}

func scriptRequests(ts *testscript.TestScript, _ bool, args []string) {
	if got, want := scriptFake(ts).Count(args[0]), scriptNumber(ts, args[1]); got != want {
		ts.Fatalf("%d requests of %s arrived, want %d", got, args[0], want)
	}
}

func scriptDrop(ts *testscript.TestScript, _ bool, args []string) {
	scriptFake(ts).Drop(args[0], scriptNumber(ts, args[1]))
}

func scriptFail(ts *testscript.TestScript, _ bool, args []string) {
	scriptFake(ts).Fail(args[0], scriptNumber(ts, args[1]), scriptNumber(ts, args[2]), api.Code(args[3]))
}

func scriptCaching(ts *testscript.TestScript, _ bool, args []string) {
	scriptFake(ts).Caching(args[0])
}

func scriptSignIn(ts *testscript.TestScript, _ bool, args []string) {
	var how apitest.SignIn
	for _, w := range args {
		switch w {
		case "deny":
			how.Deny = true
		case "off":
			how.Off = true
		case "foreign":
			how.Foreign = true
		case "stages":
			how.Stages = []string{"verify_email", "approve"}
		case "short": // every token must be replaced before it is used
			how.AccessLife = time.Second
		default:
			ts.Fatalf("unknown word %q", w)
		}
	}
	scriptFake(ts).SignIns(how)
}

func scriptWorkspace(ts *testscript.TestScript, _ bool, args []string) {
	scriptFake(ts).AddWorkspace(fmt.Sprintf("00000000-0000-4000-8000-%012d", len(args[0])), args[0])
}

func scriptSignedIn(ts *testscript.TestScript, _ bool, args []string) {
	if got, want := scriptFake(ts).SignedIn(), scriptNumber(ts, args[0]); got != want {
		ts.Fatalf("%d are signed in, want %d", got, want)
	}
}

// browse is a browser without a person: it goes where it is sent.
func browse() {
	res, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	res.Body.Close()
	os.Exit(0)
}

func scriptSaid(ts *testscript.TestScript, neg bool, args []string) {
	found := false
	for _, m := range scriptFake(ts).Mutations() {
		found = found || strings.Contains(m.Body, args[0])
	}
	if found == neg {
		ts.Fatalf("%q was sent: %v", args[0], found)
	}
}

// scriptPlan lays a JSON object over the plans of later continuations.
func scriptPlan(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(scriptFake(ts).ShapePlans(args[0]))
}

// scriptID puts the id of a run, by its place, into a variable.
func scriptID(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], scriptFake(ts).RunID(scriptNumber(ts, args[1])))
}

// scriptGroupID does so for a group.
func scriptGroupID(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], scriptFake(ts).GroupID(scriptNumber(ts, args[1])))
}

func scriptExpire(ts *testscript.TestScript, _ bool, _ []string) { scriptFake(ts).ExpireQuotes() }

// scriptAcknowledged compares the consents of the newest submission with those
// given, in the order of their names.
func scriptAcknowledged(ts *testscript.TestScript, _ bool, args []string) {
	got := map[string]bool{}
	for _, m := range scriptFake(ts).Mutations() {
		if m.Path != "/v1/runs" && m.Path != "/v1/groups" {
			continue
		}
		var n struct {
			Acknowledgements map[string]bool `json:"acknowledgements"`
		}
		ts.Check(json.Unmarshal([]byte(m.Body), &n))
		got = n.Acknowledgements
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, args) {
		ts.Fatalf("acknowledged %v, want %v", names, args)
	}
}

func scriptGrant(ts *testscript.TestScript, neg bool, args []string) {
	m, err := usd.Parse(args[0])
	if err != nil {
		ts.Fatalf("grant: %v", err)
	}
	if neg { // "! grant 5" takes 5 away
		m = -m
	}
	scriptFake(ts).Grant(m)
}
