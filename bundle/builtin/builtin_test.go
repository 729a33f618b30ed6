package builtin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden digests anew")

func each(t *testing.T, test func(*testing.T, builtin.Benchmark)) {
	t.Helper()
	all := builtin.List()
	if len(all) != 5 {
		t.Fatalf("%d benchmarks, want 5", len(all))
	}
	for _, b := range all {
		t.Run(b.Slug, func(t *testing.T) {
			t.Parallel()
			test(t, b)
		})
	}
}

func task(t *testing.T, ts bundle.Tasks, pos int) bundle.Task {
	t.Helper()
	x, err := ts.Task(pos)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The digests of the first 200 tasks of two seeds. A difference means that
// published tasks have changed: give the benchmark a new version.
func TestTasks_BytesNeverChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "digests.json")
	got := map[string]string{}
	for _, b := range builtin.List() {
		for _, seed := range []uint64{builtin.DefaultSeed, 7} {
			sum := sha256.New()
			ts := b.Tasks(seed, 200)
			for pos := range ts.Len() {
				line, err := json.Marshal(task(t, ts, pos))
				if err != nil {
					t.Fatal(err)
				}
				sum.Write(append(line, '\n'))
			}
			got[fmt.Sprintf("%s@%s seed %d", b.Slug, b.Version, seed)] = hex.EncodeToString(sum.Sum(nil))
		}
	}
	if *update {
		raw, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tasks changed (-want +got):\n%s", d)
	}
}

func TestTasks_WellFormed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b builtin.Benchmark) {
		for _, seed := range []uint64{builtin.DefaultSeed, 1, 1<<64 - 1} {
			prompts, ids := map[string]int{}, map[string]bool{}
			ts := b.Tasks(seed, builtin.DefaultSize)
			for pos := range ts.Len() {
				x := task(t, ts, pos)
				prompt := x.Input[0].Text
				if first, ok := prompts[prompt]; ok {
					t.Errorf("seed %d: tasks %d and %d ask the same", seed, first, pos)
				}
				prompts[prompt] = pos
				if ids[x.ID] || !strings.HasPrefix(x.ID, fmt.Sprint(seed)) {
					t.Errorf("id %s stands twice or lacks its seed", x.ID)
				}
				ids[x.ID] = true
				if strings.Contains(prompt, "%!") || strings.Contains(prompt, "  \n") || strings.TrimSpace(prompt) != prompt {
					t.Errorf("task %d is badly written: %q", pos, prompt)
				}
				if b.Family != builtin.FamilySOBText && !strings.Contains(prompt, "ANSWER: ") {
					t.Errorf("task %d does not say how to answer", pos)
				}
				if i := strings.IndexFunc(prompt, func(r rune) bool { return r > '~' }); i >= 0 {
					t.Errorf("task %d holds %q", pos, prompt[i:])
				}
			}
		}
	})
}

func TestTasks_RandomAccess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b builtin.Benchmark) {
		long, short := b.Tasks(9, 1_000_000), b.Tasks(9, 10)
		for _, pos := range []int{9, 0, 4} {
			if d := cmp.Diff(task(t, long, pos), task(t, short, pos)); d != "" {
				t.Errorf("position %d depends on the size: %s", pos, d)
			}
		}
		if cmp.Equal(task(t, b.Tasks(10, 10), 3).Input, task(t, short, 3).Input) {
			t.Error("another seed gives the same task")
		}
		task(t, long, 999_999)
		for _, pos := range []int{-1, 10} {
			if _, err := short.Task(pos); err == nil {
				t.Errorf("position %d of 10 is no error", pos)
			}
		}
	})
}

func TestGold_GradesItselfRight(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b builtin.Benchmark) {
		g, err := families.Grader(b.Grader)
		if err != nil {
			t.Fatal(err)
		}
		ts := b.Tasks(builtin.DefaultSeed, builtin.DefaultSize)
		for pos := range ts.Len() {
			if f := bundle.CheckGold(g, task(t, ts, pos)); f != nil {
				t.Errorf("task %d: %v", pos, f)
			}
		}
	})
}

// Practice answers are graded as they are meant, for every task, and do not
// all look alike.
func TestReply_GradesAsMeant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b builtin.Benchmark) {
		g, err := families.Grader(b.Grader)
		if err != nil {
			t.Fatal(err)
		}
		ts := b.Tasks(3, builtin.DefaultSize)
		texts := map[string]bool{}
		for pos := range ts.Len() {
			x := task(t, ts, pos)
			for _, right := range []bool{true, false} {
				text := bundle.Reply(x, right, uint64(pos))
				texts[text] = true
				v, err := g.Grade(x, bundle.Answer{Text: text, Finish: bundle.FinishStop})
				if err != nil {
					t.Fatal(err)
				}
				if want := map[bool]bundle.Outcome{true: bundle.Right, false: bundle.Wrong}[right]; v.Outcome != want {
					t.Errorf("task %d: %s, want %s; target %q, reply %q, verdict %+v", pos, v.Outcome, want, x.Target[0], text, v)
				}
			}
		}
		if len(texts) < 50 {
			t.Errorf("only %d different replies", len(texts))
		}
	})
}

// An answer with any one digit changed is wrong, for every task whose answer is
// a number: the family's rule sees every digit.
func TestGold_OneWrongDigitIsWrong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b builtin.Benchmark) {
		if b.Category != "mathematics" {
			return // its answers are no numbers
		}
		g, err := families.Grader(b.Grader)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range []uint64{builtin.DefaultSeed, 3} {
			ts := b.Tasks(seed, builtin.DefaultSize)
			for pos := range ts.Len() {
				x := task(t, ts, pos)
				gold := x.Target[0]
				for i := range gold {
					if gold[i] < '0' || gold[i] > '9' {
						continue
					}
					for step := byte(1); step < 10; step++ {
						text := gold[:i] + string('0'+(gold[i]-'0'+step)%10) + gold[i+1:]
						v, err := g.Grade(x, bundle.Answer{Text: "ANSWER: " + text, Finish: bundle.FinishStop})
						if err != nil || v.Outcome != bundle.Wrong {
							t.Fatalf("task %d: %s for %s is %+v, %v", pos, text, gold, v, err)
						}
					}
				}
			}
		}
	})
}

func TestBenchmarks_Described(t *testing.T) {
	t.Parallel()
	digests := map[string]bool{}
	each(t, func(t *testing.T, b builtin.Benchmark) {
		if b.Version == "" || b.Name == "" || b.Description == "" || b.Category == "" || b.License == "" || b.MaxOutputTokens <= 0 || len(b.Metrics) == 0 {
			t.Errorf("incomplete: %+v", b)
		}
		if want := map[bool]string{true: builtin.FamilySOBText, false: builtin.FamilyInspect}[b.Slug == "extraction"]; b.Family != want {
			t.Errorf("family %s, want %s", b.Family, want)
		}
		if found, ok := builtin.Find(b.Slug); !ok || found.Name != b.Name {
			t.Errorf("Find gives %+v %v", found, ok)
		}
	})
	for _, b := range builtin.List() {
		for _, d := range []string{b.Digest(1, 10), b.Digest(1, 11), b.Digest(2, 10)} {
			if digests[d] || len(d) != 64 {
				t.Errorf("%s: digest %s is not its own", b.Slug, d)
			}
			digests[d] = true
		}
	}
	if _, ok := builtin.Find("nothing"); ok {
		t.Error("Find found nothing's benchmark")
	}
}

// The letters of right options are uniform: over 3,000 tasks each of five
// stands 600 times give or take five standard deviations.
func TestLogic_LettersUniform(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("logic")
	count := map[string]int{}
	ts := b.Tasks(5, 3000)
	for pos := range ts.Len() {
		count[task(t, ts, pos).Target[0]]++
	}
	for _, l := range []string{"A", "B", "C", "D", "E"} {
		if n := count[l]; n < 490 || n > 710 {
			t.Errorf("%s is right %d times of 3,000", l, n)
		}
	}
}

func BenchmarkTask(b *testing.B) {
	for _, x := range builtin.List() {
		ts := x.Tasks(1, 1_000_000)
		b.Run(x.Slug, func(b *testing.B) {
			for i := range b.N {
				if _, err := ts.Task(i % 1_000_000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
