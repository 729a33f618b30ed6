package spool_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
)

func answer(i int) core.Response {
	return core.Response{
		Run: "r", Idx: i, Call: core.CallID(string(rune('a' + i%26))), Raw: []byte{0, 1, 2, byte(i)}, RawSHA256: "x", Finish: string(bundle.FinishStop),
		Usage: &core.Usage{Input: int64(i), Output: 2}, Money: core.Settlement{Spend: 3}, Reserved: 9, ExpiresAt: 5,
	}
}

func open(t testing.TB, path string) (*spool.Spool, []core.Response) {
	t.Helper()
	s, left, err := spool.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, left
}

func TestSpool_GivesBackWhatWasKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	s, left := open(t, path)
	if len(left) != 0 {
		t.Fatalf("a new spool holds %d records", len(left))
	}
	var want []core.Response
	for i := range 50 {
		if _, err := s.Keep(answer(i)); err != nil {
			t.Fatal(err)
		}
		want = append(want, answer(i))
	}
	again, left := open(t, path)
	if d := cmp.Diff(want, left); d != "" {
		t.Error(d)
	}
	again.Trim() // nobody has recorded them yet
	if _, left := open(t, path); len(left) != len(want) {
		t.Errorf("%d records after a trim, want %d", len(left), len(want))
	}
	if err := again.Reset(); err != nil {
		t.Fatal(err)
	}
	if _, left = open(t, path); len(left) != 0 {
		t.Errorf("%d records after a reset", len(left))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// Answers of all sizes that come at once are kept as they came: their records
// share no memory.
func TestSpool_ManyAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	s, _ := open(t, path)
	want := map[int]core.Response{}
	var writers sync.WaitGroup
	for i := range 64 {
		r := answer(i)
		r.Raw = bytes.Repeat([]byte{byte(i)}, []int{0, 7, 3_000, 100_000}[i%4])
		want[i] = r
		writers.Go(func() {
			if _, err := s.Keep(r); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	_, left := open(t, path)
	got := map[int]core.Response{}
	for _, r := range left {
		got[r.Idx] = r
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// Whatever is cut off or damaged, the records before it are whole, and none
// after it is made up.
func TestSpool_DamageLosesTheTailOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(dir, "spool")
		os.Remove(path)
		s, _ := open(t, path)
		n := rapid.IntRange(1, 20).Draw(rt, "records")
		ends := []int64{0}
		for i := range n {
			if _, err := s.Keep(answer(i)); err != nil {
				rt.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				rt.Fatal(err)
			}
			ends = append(ends, info.Size())
		}
		at := rapid.Int64Range(0, ends[n]-1).Draw(rt, "at")
		if rapid.Bool().Draw(rt, "cut") {
			if err := os.Truncate(path, at); err != nil {
				rt.Fatal(err)
			}
		} else {
			b, err := os.ReadFile(path)
			if err != nil {
				rt.Fatal(err)
			}
			b[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "flip"))
			if err := os.WriteFile(path, b, 0o600); err != nil {
				rt.Fatal(err)
			}
		}
		whole := 0
		for whole < n && ends[whole+1] <= at {
			whole++
		}
		_, left := open(t, path)
		if len(left) != whole {
			rt.Fatalf("%d records are left, %d were whole", len(left), whole)
		}
		for i, r := range left {
			if d := cmp.Diff(answer(i), r); d != "" {
				rt.Fatal(d)
			}
		}
	})
}

// A long run does not make long files, though some answer is always on its way
// to the database, and what is on its way is never lost.
func TestSpool_EmptiesItself(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	s, _ := open(t, path)
	var waiting []func()
	for i := range 40 {
		big := answer(i)
		big.Raw = make([]byte, 1<<20)
		done, err := s.Keep(big)
		if err != nil {
			t.Fatal(err)
		}
		if waiting = append(waiting, done); len(waiting) > 3 {
			waiting[0]()
			waiting = waiting[1:]
		}
	}
	if n := sizes(t, path); n > 30<<20 {
		t.Errorf("%d bytes for three answers that are on their way", n)
	}
	_, left := open(t, path)
	have := map[int]bool{}
	for _, r := range left {
		have[r.Idx] = true
	}
	for i := 37; i < 40; i++ {
		if !have[i] {
			t.Errorf("answer %d was on its way and is not kept", i)
		}
	}
	for _, done := range waiting {
		done()
	}
	if s.Trim(); sizes(t, path) != 0 {
		t.Errorf("%d bytes are left of what the database has", sizes(t, path))
	}
}

func sizes(t *testing.T, path string) (n int64) {
	t.Helper()
	for _, p := range []string{path, path + spool.Second} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
