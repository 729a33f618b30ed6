package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/apitest"
)

// signedHome is a home in which somebody is signed in at the fake.
func signedHome(t *testing.T, f *apitest.Fake) string {
	t.Helper()
	home := t.TempDir()
	output(t, ownProcess(t, home, f.URL, "", nil, "login", "--no-browser"))
	return home
}

// expire makes the kept access token end now, by this machine's clock.
func expire(t *testing.T, home string) {
	t.Helper()
	path := filepath.Join(home, ".config", "evalrouter", "credentials.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, acc := range doc["accounts"].([]any) {
		acc.(map[string]any)["expires_at"] = time.Now().Add(-time.Minute).UTC()
	}
	if b, err = json.Marshal(doc); err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// How often: a little in every run, and as often as the issue wants it in
// scripts/prove signin.
var (
	refreshRounds = flag.Int("signin.rounds", 3, "rounds of processes that meet at the end of a token")
	refreshCrowd  = flag.Int("signin.processes", 10, "processes in a round")
	refreshKills  = flag.Int("signin.kills", 5, "kills between the next pair and its file")
)

// Processes that meet at the end of a token replace it once for all of them,
// round after round, and nobody is signed out.
func TestRacingRefresh_AUT15(t *testing.T) {
	t.Parallel()
	rounds, crowd := *refreshRounds, *refreshCrowd
	f := fakeService(t)
	home := signedHome(t, f)
	for round := 1; round <= rounds; round++ {
		expire(t, home)
		var all sync.WaitGroup
		for range crowd {
			all.Go(func() {
				cmd := ownProcess(t, home, f.URL, "", nil, "whoami", "--jq", ".account.email")
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != "dana@example.org" {
					t.Errorf("round %d: %v, %s%s", round, err, out, errs.String())
				}
			})
		}
		all.Wait()
		if got := f.Rotations(); got != round {
			t.Fatalf("%d rotations after %d rounds", got, round)
		}
	}
	t.Logf("%d rounds of %d processes: %d rotations, %d sign-in", rounds, crowd, f.Rotations(), f.SignedIn())
	if f.SignedIn() != 1 {
		t.Errorf("%d are signed in", f.SignedIn())
	}
}

// A process that is killed after the service has given the next pair, before
// it could keep it, signs nobody out: the next one gets the same pair.
func TestKilledRefresh_AUT15(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := signedHome(t, f)
	kills := *refreshKills
	for n := 1; n <= kills; n++ {
		expire(t, home)
		cmd := ownProcess(t, home, f.URL, "", nil, "whoami")
		given, dead := make(chan struct{}), make(chan struct{})
		f.OnToken(func() { // the pair is made, and its answer waits
			close(given)
			<-dead
		})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-given
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		close(dead)
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("kill %d: the process ended by itself: %v", n, cmd.ProcessState)
		}
		f.OnToken(nil)
		if f.Rotations() != n {
			t.Fatalf("kill %d: %d rotations before the process died", n, f.Rotations())
		}
		output(t, ownProcess(t, home, f.URL, "", nil, "whoami"))
		if f.Rotations() != n || f.SignedIn() != 1 {
			t.Fatalf("kill %d: %d rotations, %d signed in", n, f.Rotations(), f.SignedIn())
		}
	}
	t.Logf("%d kills: %d rotations, %d sign-in", kills, f.Rotations(), f.SignedIn())
}
