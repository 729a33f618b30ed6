package spool_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/spool"
)

const limit = 64 << 20

func origin(name string) string { return otlp.Origin{Scope: name}.Encode() }

func open(t testing.TB, dir string) (*spool.Log, spool.Left) {
	t.Helper()
	l, left, err := spool.Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return l, left
}

func put(t testing.TB, l *spool.Log, from string, spans ...string) {
	t.Helper()
	for _, s := range spans {
		if err := l.Append(origin(from), []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
}

// texts are the spans of a batch, each with the name of its origin.
func texts(b spool.Batch) (out []string) {
	for _, g := range b.Groups {
		for _, s := range g.Spans {
			out = append(out, strings.Trim(g.Origin, "\x00\x01\n\x0b\x0a\x12\x02\x03\x04\x05\x06")+":"+string(s))
		}
	}
	return out
}

// drain reads and settles everything.
func drain(t testing.TB, l *spool.Log) (out []string) {
	t.Helper()
	for {
		b, err := l.Next(100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if b.Spans == 0 {
			return out
		}
		out = append(out, texts(b)...)
		if err := l.Done(b); err != nil {
			t.Fatal(err)
		}
	}
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestLog_OrderAndOrigins(t *testing.T) {
	t.Parallel()
	l, left := open(t, t.TempDir())
	put(t, l, "a", "1", "2")
	put(t, l, "b", "3")
	put(t, l, "a", "4")
	b, err := l.Next(3, 1<<20)
	if err != nil || left.Spans != 0 {
		t.Fatal(err, left)
	}
	same(t, texts(b), "a:1", "a:2", "b:3")
	again, err := l.Next(2, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	same(t, texts(again), "a:1", "a:2") // what is not settled is read again
	if err := l.Done(again); err != nil {
		t.Fatal(err)
	}
	same(t, drain(t, l), "b:3", "a:4")
	put(t, l, "a", "5")
	same(t, drain(t, l), "a:5")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLog_BatchInBytes(t *testing.T) {
	t.Parallel()
	l, _ := open(t, t.TempDir())
	defer l.Close()
	put(t, l, "a", strings.Repeat("x", 600), strings.Repeat("y", 600), strings.Repeat("z", 2000))
	for _, want := range []int{1, 1, 1} {
		b, err := l.Next(100, 1000)
		if err != nil || b.Spans != want {
			t.Fatalf("%d spans, %v", b.Spans, err)
		}
		if err := l.Done(b); err != nil {
			t.Fatal(err)
		}
	}
}

// What one process leaves, the next one finds, from where it was settled.
func TestLog_NextProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "a", "1", "2", "3")
	b, err := l.Next(1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Done(b), l.Close()); err != nil {
		t.Fatal(err)
	}
	l, left := open(t, dir)
	put(t, l, "b", "4")
	if left.Spans != 2 || left.Torn != 0 {
		t.Errorf("left %+v", left)
	}
	same(t, drain(t, l), "a:2", "a:3", "b:4")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*", "*.spans")); len(files) != 0 {
		t.Errorf("everything is settled, and %q remain", files)
	}
}

// Two processes share a folder; a third one takes over what both left.
func TestLog_SharedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, _ := open(t, dir)
	second, left := open(t, dir)
	put(t, first, "a", "1", "2")
	put(t, second, "b", "3")
	if left.Spans != 0 {
		t.Errorf("a living process lost %+v", left)
	}
	b, err := first.Next(1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Done(b), second.Close()); err != nil {
		t.Fatal(err)
	}
	second, left = open(t, dir)
	if left.Spans != 1 {
		t.Errorf("left %+v", left)
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	third, left := open(t, dir)
	defer third.Close()
	got := drain(t, third)
	slices.Sort(got)
	if same(t, got, "a:2", "b:3"); left.Spans != 2 {
		t.Errorf("left %+v", left)
	}
}

// Whatever the last write of a killed process left behind, what is whole before
// it is read, and more can be appended.
func TestLog_TornTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "a", "first", "second")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "slot-000", "*.spans"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		path := filepath.Join(dir, "slot-000", "00000001.spans")
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l, left := open(t, dir)
		want := []string{}
		if cut >= len(whole)-len("second")-9 {
			want = append(want, "a:first")
		}
		put(t, l, "b", "later")
		same(t, drain(t, l), append(want, "b:later")...)
		if left.Spans != len(want) {
			t.Errorf("cut at %d: left %+v", cut, left)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What is noted behind a torn record is read by the process after the next.
func TestLog_NotesBehindATornRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "a", "1", "2", "3")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "slot-000", "00000001.spans"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn record"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l, left := open(t, dir)
	b, err := l.Next(1, 1<<20)
	if err != nil || left.Torn != int64(len("torn record")) {
		t.Fatal(err, left)
	}
	if err := errors.Join(l.Done(b), l.Close()); err != nil {
		t.Fatal(err)
	}
	l, left = open(t, dir)
	defer l.Close()
	if left.Spans != 2 || left.Torn != 0 {
		t.Errorf("left %+v", left)
	}
	same(t, drain(t, l), "a:2", "a:3")
}

// A flipped bit costs spans behind it, never gives a wrong one.
func TestLog_FlippedBits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "a", "first", "second")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "slot-000", "00000001.spans")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		b := slices.Clone(whole)
		b[at] ^= 0x10
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, _ := open(t, dir)
		for _, s := range drain(t, l) {
			if s != "a:first" && s != "a:second" {
				t.Errorf("bit %d: read %q", at, s)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLog_Full(t *testing.T) {
	t.Parallel()
	l, _, err := spool.Open(t.TempDir(), 5<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	span := make([]byte, 256<<10)
	n := 0
	for ; n < 100; n++ {
		if err = l.Append(origin("a"), span); err != nil {
			break
		}
	}
	if !errors.Is(err, spool.ErrFull) || n < 18 || l.Bytes() > 5<<20 {
		t.Fatalf("%d spans in %d bytes, then %v", n, l.Bytes(), err)
	}
	if got := drain(t, l); len(got) != n {
		t.Errorf("read %d of %d spans", len(got), n)
	}
	if err := l.Append(origin("a"), span); err != nil {
		t.Errorf("there is room again, and %v", err)
	}
}

// What was delivered makes room, in a spool smaller than a segment as well.
func TestLog_SmallAndFull(t *testing.T) {
	t.Parallel()
	l, _, err := spool.Open(t.TempDir(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for round := range 5 {
		n := 0
		for l.Append(origin("a"), make([]byte, 500)) == nil {
			n++
		}
		if got := drain(t, l); n < 15 || len(got) != n || l.Bytes() > 100 {
			t.Fatalf("round %d: %d spans, %d read, %d bytes left", round, n, len(got), l.Bytes())
		}
	}
}

func TestOpen_Private(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "a", "1")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	slot := filepath.Join(dir, "slot-000")
	for path, want := range map[string]os.FileMode{slot: 0o700, filepath.Join(slot, "00000001.spans"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := os.Chmod(slot, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := spool.Open(dir, limit); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("a folder open to others was taken: %v", err)
	}
}

// Against a list in memory, with processes that end at any moment: nothing is
// lost and nothing that was settled returns.
func TestLog_Model(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		l, _ := open(t, dir)
		var want []string
		n := 0
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0, 1:
				from := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "from")
				span := fmt.Sprint(n) + strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 10, 100, 1 << 19}).Draw(rt, "size"))
				n++
				put(t, l, from, span)
				want = append(want, from+":"+span)
			case 2:
				b, err := l.Next(rapid.IntRange(1, 4).Draw(rt, "most"), 1<<20)
				if err != nil {
					rt.Fatal(err)
				}
				got := texts(b)
				if len(want) > 0 && len(got) == 0 || !slices.Equal(got, want[:len(got)]) {
					rt.Fatalf("read %d spans that are not the next of %d", len(got), len(want))
				}
				if err := l.Done(b); err != nil {
					rt.Fatal(err)
				}
				want = want[len(got):]
			case 3:
				if err := l.Close(); err != nil {
					rt.Fatal(err)
				}
				var left spool.Left
				if l, left = open(t, dir); left.Spans != len(want) {
					rt.Fatalf("left %+v of %d", left, len(want))
				}
			}
		}
		if err := l.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

// Whatever a file holds: opening it does not panic, and what is read can be sent.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00"))
	dir := f.TempDir()
	l, _ := open(f, dir)
	put(f, l, "a", "first", "second")
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "slot-000", "00000001.spans"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "slot-000"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "slot-000", "00000007.spans"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, left := open(t, dir)
		n := 0
		for {
			batch, err := l.Next(10, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if batch.Spans == 0 {
				break
			}
			n += batch.Spans
			if _, err := otlp.Request(nil, batch.Groups); err != nil {
				t.Errorf("read what cannot be sent: %v", err)
			}
			if err := l.Done(batch); err != nil {
				t.Fatal(err)
			}
		}
		if n != left.Spans {
			t.Errorf("%d spans were counted and %d read", left.Spans, n)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
