package checkpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/checkpoint"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func change(i int) langsmith.Change {
	h := noon.Add(time.Duration(i) * time.Minute)
	c := langsmith.Change{Horizon: &h, Stats: &langsmith.Stats{Accepted: int64(i)}}
	if i%2 == 0 {
		c.Pending = []langsmith.Pending{{ID: fmt.Sprint("run-", i), Start: h, FirstSeen: h, Status: "open", Tokens: -1}}
	} else {
		c.Settled = []string{fmt.Sprint("run-", i-1)}
		c.Delivered = bytes.Repeat([]byte{byte(i)}, 32)
	}
	return c
}

func open(t *testing.T, path string) (*checkpoint.File, *langsmith.State) {
	t.Helper()
	f, s, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

func same(a, b *langsmith.State) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(langsmith.State{})) + cmp.Diff(a.Delivered(), b.Delivered())
}

// LSM-05: what is saved is found again, in a private file, by one process at a
// time.
func TestFile_LSM05(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "state")
	f, s := open(t, path)
	for i := range 9 {
		s.Apply(change(i))
		if err := f.Save(change(i), s.Whole); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := checkpoint.Open(path); !errors.Is(err, checkpoint.ErrHeld) {
		t.Errorf("a second process: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, again := open(t, path)
	if diff := same(s, again); diff != "" {
		t.Errorf("state (-saved +found):\n%s", diff)
	}
	shown, err := checkpoint.Read(path)
	if err != nil || same(s, shown) != "" {
		t.Errorf("read beside the process: %v %s", err, same(s, shown))
	}
	for _, p := range []string{path, path + ".lock"} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Wherever a crash cuts the file, it loads: with all records before the cut.
func TestReplay_EveryCut(t *testing.T) {
	t.Parallel()
	whole := []byte(checkpoint.Schema + "\n")
	ends := []int{0, len(whole)}
	states := []*langsmith.State{langsmith.NewState(), langsmith.NewState()}
	for i := range 6 {
		var err error
		if whole, err = checkpoint.AppendRecord(whole, int64(i+1), change(i)); err != nil {
			t.Fatal(err)
		}
		s := langsmith.NewState()
		for k := range i + 1 {
			s.Apply(change(k))
		}
		ends, states = append(ends, len(whole)), append(states, s)
	}
	for cut := range len(whole) + 1 {
		at := 0
		for at+1 < len(ends) && ends[at+1] <= cut {
			at++
		}
		got, _, size, err := checkpoint.Replay(bytes.NewReader(whole[:cut]))
		if err != nil || int(size) != ends[at] || same(got, states[at]) != "" {
			t.Fatalf("cut at %d: %d bytes, %v", cut, size, err)
		}
	}
}

func TestReplay_Refuses(t *testing.T) {
	t.Parallel()
	one, err := checkpoint.AppendRecord([]byte(checkpoint.Schema+"\n"), 1, change(0))
	if err != nil {
		t.Fatal(err)
	}
	two, err := checkpoint.AppendRecord(one[:len(one):len(one)], 2, change(1))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(two)
	flipped[len(checkpoint.Schema)+30] ^= 1
	twice := append(bytes.Clone(two), two[len(checkpoint.Schema)+1:]...)
	tests := []struct{ name, in string }{
		{"another file", "hello\n"},
		{"JSON", "{}"},
		{"another version", "evalrouter.langsmith.state.v9\n"},
		{"a flipped bit", string(flipped)},
		{"records twice", string(twice)},
		{"a record is missing", string(two[:len(checkpoint.Schema)+1]) + string(two[len(one):]) + string(two[len(one):])},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, _, _, err := checkpoint.Replay(strings.NewReader(tt.in)); !errors.Is(err, checkpoint.ErrCorrupt) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A file that has outgrown its state is written anew and says the same.
func TestFile_Rewrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	f, s := open(t, path)
	marks := make([]byte, 32*100)
	for i := range 600 {
		marks[5] = byte(i % 7)
		c := langsmith.Change{Delivered: marks}
		s.Apply(c)
		if err := f.Save(c, s.Whole); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 2<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, again := open(t, path)
	if diff := same(s, again); diff != "" || again.Delivered() != 7 {
		t.Errorf("%d deliveries, state:\n%s", again.Delivered(), diff)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A state is what its pieces make, whatever was done to it.
func TestWhole_IsTheState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := langsmith.NewState()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 40), 0, 60).Draw(t, "changes") {
			s.Apply(change(i))
		}
		again := langsmith.NewState()
		seq := int64(0)
		file := []byte(checkpoint.Schema + "\n")
		s.Whole(func(c langsmith.Change) bool {
			seq++
			var err error
			if file, err = checkpoint.AppendRecord(file, seq, c); err != nil {
				t.Fatal(err)
			}
			return true
		})
		again, _, _, err := checkpoint.Replay(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(s, again); diff != "" {
			t.Fatalf("state (-was +is):\n%s", diff)
		}
	})
}

// Whatever stands in the file, reading it ends with a state or a refusal.
func FuzzReplay(f *testing.F) {
	one, err := checkpoint.AppendRecord([]byte(checkpoint.Schema+"\n"), 1, change(0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add([]byte(checkpoint.Schema))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _, size, err := checkpoint.Replay(bytes.NewReader(b))
		if (s == nil) != (err != nil) || size > int64(len(b)) {
			t.Fatalf("state %v, %d of %d bytes, %v", s, size, len(b), err)
		}
	})
}
