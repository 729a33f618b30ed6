package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/archive"
	"github.com/evalrouter/evalrouter/bundle/archive/archivetest"
)

// readAll opens an archive and reads every file of it.
func readAll(r io.ReaderAt, size int64) (map[string]string, error) {
	a, err := archive.Open(r, size)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	return out, fs.WalkDir(a, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(a, path)
		out[path] = string(b)
		return err
	})
}

func TestHostile(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range archive.Rules() {
		known[r.ID] = true
	}
	broken := map[string]bool{"zip_too_large": true} // TestOpen_TooLarge
	names := map[string]bool{}
	for _, h := range archivetest.All() {
		if names[h.Name] || !known[h.Rule] {
			t.Errorf("case %q with rule %s", h.Name, h.Rule)
		}
		names[h.Name], broken[h.Rule] = true, true
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			b := h.Build()
			_, err := archive.Open(bytes.NewReader(b), int64(len(b)))
			if h.Late {
				if err != nil {
					t.Fatalf("the index was refused: %v", err)
				}
				_, err = readAll(bytes.NewReader(b), int64(len(b)))
			}
			var refused *archive.Error
			if !errors.As(err, &refused) || refused.Rule != h.Rule || refused.Message == "" {
				t.Errorf("got %v, want %s", err, h.Rule)
			}
		})
	}
	for r := range known {
		if !broken[r] {
			t.Errorf("no case breaks %s", r)
		}
	}
}

type endless struct{}

func (endless) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

func TestOpen_TooLarge(t *testing.T) {
	t.Parallel()
	var refused *archive.Error
	if _, err := archive.Open(endless{}, archive.MaxBytes+1); !errors.As(err, &refused) || refused.Rule != "zip_too_large" {
		t.Error(err)
	}
}

// A file that unpacks to more than its index says is given up at once, and
// unpacking allocates no more than the window of deflate.
func TestBomb_Memory(t *testing.T) {
	for _, h := range archivetest.All() {
		if h.Name != "bomb: longer than it says" {
			continue
		}
		b := h.Build()
		a, err := archive.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := a.Open("evalrouter.json")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, f)
		runtime.ReadMemStats(&after)
		if err == nil || n > 10 {
			t.Errorf("%d bytes, %v", n, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("allocated %d bytes", got)
		}
	}
}

// Ordinary zip files, as other programs write them, are read.
func TestOrdinary(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b) // writes lengths behind the contents
	want := map[string]string{"a.txt": "hello", "docs/b.txt": strings.Repeat("hello ", 1000), "empty": "", "docs/é.txt": "x"}
	if _, err := w.Create("docs/"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "docs/b.txt", "empty", "docs/é.txt"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, want[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetComment("made by a test"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	a, err := archive.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(a, "a.txt", "docs/b.txt", "empty", "docs/é.txt"); err != nil {
		t.Error(err)
	}
}

func made(name, text string) archive.File {
	return archive.File{Name: name, Size: int64(len(text)), CRC: crc32.ChecksumIEEE([]byte(text)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// What Write writes is read by Open and by the standard library, and its bytes
// are these.
func TestWrite(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := archive.Write(&b, []archive.File{made("b.txt", "hello"), made("a/c.txt", ""), made("z", strings.Repeat("x", 100_000))}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"b.txt": "hello", "a/c.txt": "", "z": strings.Repeat("x", 100_000)}
	got, err := readAll(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil || string(text) != want[f.Name] || f.Mode() != 0o644 {
			t.Errorf("%s: %v, %v", f.Name, err, f.Mode())
		}
	}
	const golden = "PK\x03\x04\n\x00\x00\x00\x00\x00\x00\x00!\x00\x86\xa6\x106\x05\x00\x00\x00\x05\x00\x00\x00\x05\x00\x00\x00b.txthello"
	if !bytes.HasPrefix(b.Bytes(), []byte(golden)) {
		t.Errorf("begins with %q", b.Bytes()[:len(golden)])
	}
}

func TestWrite_Refuses(t *testing.T) {
	t.Parallel()
	other := made("a", "hello")
	other.Open = made("a", "hullo").Open
	longer := made("a", "hello")
	longer.Open = made("a", "hello!").Open
	failing := made("a", "hello")
	failing.Open = func() (io.ReadCloser, error) { return nil, fs.ErrPermission }
	huge := made("a", "")
	huge.Size = archive.MaxBytes + 1
	for name, f := range map[string]archive.File{
		"changed": other, "grown": longer, "unreadable": failing, "too large": huge, "a bad name": made("../a", ""), "a name that is not ASCII": made("é", ""),
	} {
		if err := archive.Write(io.Discard, []archive.File{f}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzOpen: no bytes make it panic, and what is read through is what the
// standard library reads.
func FuzzOpen(f *testing.F) {
	for _, h := range archivetest.All() {
		if !h.Large {
			f.Add(h.Build())
		}
	}
	f.Add(archivetest.Build([]archivetest.Entry{{Name: "a", Data: []byte("x")}, {Name: "b/c", Data: []byte("hello hello"), Deflate: true, Descriptor: true}}, archivetest.End{}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := readAll(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatalf("read what the standard library refuses: %v", err)
		}
		n := 0
		for _, x := range r.File {
			if strings.HasSuffix(x.Name, "/") {
				continue
			}
			n++
			in, err := x.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(in)
			if err != nil || got[x.Name] != string(text) {
				t.Errorf("%q: %v", x.Name, err)
			}
		}
		if n != len(got) {
			t.Errorf("%d files, the standard library has %d", len(got), n)
		}
	})
}
