package families_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
)

// beside is one public fault as a family grades it and as the generic grader
// does. Where the two differ the family is publicly known to be wrong and keeps
// its answer, because published results have it.
type beside struct {
	Name, Ref, Text string
	Target, Choices []string
	Schema          json.RawMessage
	Finish          bundle.Finish
	Family, Generic struct {
		Kind    string
		Options json.RawMessage
		Want    bundle.Outcome
	}
}

func rows[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "publicbugs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	for sc := bufio.NewScanner(f); sc.Scan(); {
		dec := json.NewDecoder(strings.NewReader(sc.Text()))
		dec.DisallowUnknownFields()
		var r T
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("%v in %s", err, sc.Text())
		}
		out = append(out, r)
	}
	return out
}

func TestPublicFaults_FamilyBesideGeneric(t *testing.T) {
	t.Parallel()
	for _, r := range rows[beside](t, "beside.jsonl") {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			if r.Finish == "" {
				r.Finish = bundle.FinishStop
			}
			task := bundle.Task{ID: "t", Target: r.Target, Choices: r.Choices, Schema: r.Schema}
			var got []bundle.Outcome
			for _, side := range []bundle.GraderConfig{{Kind: r.Family.Kind, Options: r.Family.Options}, {Kind: r.Generic.Kind, Options: r.Generic.Options}} {
				g, err := families.Grader(side)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, grade(t, g, task, r.Text, r.Finish).Outcome)
			}
			if got[0] != r.Family.Want || got[1] != r.Generic.Want {
				t.Errorf("%s says %s, want %s; %s says %s, want %s", r.Family.Kind, got[0], r.Family.Want, r.Generic.Kind, got[1], r.Generic.Want)
			}
			t.Logf("figure e: %-52s %-22s %-18s %-16s %s", r.Name, r.Family.Kind, got[0], r.Generic.Kind, got[1])
		})
	}
}

// where says which test holds a public fault, or why none can.
type where struct {
	Fault string   `json:"fault"`
	File  string   `json:"file,omitempty"`  // from the root of the repository
	Holds []string `json:"holds,omitempty"` // texts of that file: the test and its case
	None  string   `json:"none,omitempty"`
}

// Every public fault of grading, shapes, finish reasons, judges and statistics
// has a test that exists, or a reason.
func TestPublicFaults_AllHaveATest(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range rows[beside](t, "beside.jsonl") {
		fault, _, _ := strings.Cut(r.Name, " ")
		known[fault] = true
	}
	for _, w := range rows[where](t, "elsewhere.jsonl") {
		known[w.Fault] = true
		if (w.File == "") == (w.None == "") {
			t.Errorf("%s: want a file or a reason", w.Fault)
		}
		if w.File == "" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(w.File)))
		if err != nil {
			t.Errorf("%s: %v", w.Fault, err)
			continue
		}
		for _, text := range w.Holds {
			if !strings.Contains(string(raw), text) {
				t.Errorf("%s: %s does not hold %q any more", w.Fault, w.File, text)
			}
		}
	}
	list, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "bugs", "publicbugs.md"))
	if os.IsNotExist(err) {
		t.Skip("skipped: the shared folder is not beside the repository, so the list of public faults cannot be read")
	}
	if err != nil {
		t.Fatal(err)
	}
	section, n := "", 0
	for line := range strings.Lines(string(list)) {
		if m := regexp.MustCompile(`^### ([A-Z])\.`).FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		m := regexp.MustCompile(`^(\d+)\. `).FindStringSubmatch(line)
		if m == nil || section == "" || section > "E" {
			continue
		}
		if n++; !known[section+m[1]] {
			t.Errorf("%s%s has no test", section, m[1])
		}
	}
	t.Logf("figure e: %d public faults of sections A to E, each with a test or a reason", n)
}
