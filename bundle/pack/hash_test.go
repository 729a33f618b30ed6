package pack_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
)

// goldenBundle is the digest of the bundle of the good text package. It may
// change with that package and with nothing else: neither machine, system,
// time zone nor release of Go has a part in it.
const goldenBundle = "6acda8dafe01f21282cbeeb9606f236f98e3d96ad3a0e24987cdc622ad7db062"

func bundled(t *testing.T, fsys fs.FS) ([]byte, string) {
	t.Helper()
	var b bytes.Buffer
	rep, digest, err := pack.Bundle(context.Background(), fsys, options(), &b)
	if err != nil || !rep.Valid {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	if digest != hex.EncodeToString(sum[:]) {
		t.Errorf("the digest is not that of the bytes")
	}
	return b.Bytes(), digest
}

// BEN-15: the same package gives the same bytes, whatever order, dates and
// modes its files have; and the bundle is a valid package with the same
// identity.
func TestBundle_BEN15(t *testing.T) {
	t.Parallel()
	one, digest := bundled(t, packtest.Good(pack.TemplateText).FS())
	if digest != goldenBundle {
		t.Errorf("the bundle of the good package has the digest %s", digest)
	}
	other := packtest.Good(pack.TemplateText).FS()
	for _, f := range other {
		f.Mode = 0o600
		f.ModTime = f.ModTime.AddDate(40, 3, 7)
	}
	other[".hidden"] = &fstest.MapFile{Data: []byte("not a part of it")}
	other["evalrouter-bundle-acme-good-1.zip"] = &fstest.MapFile{Data: []byte("nor is this")}
	two, _ := bundled(t, other)
	if !bytes.Equal(one, two) {
		t.Error("the bytes differ")
	}
	fsys, err := pack.OpenBundle(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Sealed = true
	rep, err := pack.Validate(context.Background(), fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(validate(t, packtest.Good(pack.TemplateText).FS()), rep); d != "" {
		t.Error(d)
	}
	three, _ := bundled(t, fsys)
	if !bytes.Equal(one, three) {
		t.Error("a bundle of a bundle has other bytes")
	}
}

// In a bundle hidden files count: nothing may travel unseen.
func TestValidate_Sealed(t *testing.T) {
	t.Parallel()
	fsys := packtest.Good(pack.TemplateText).FS()
	fsys[".hidden"] = &fstest.MapFile{Data: []byte("x")}
	o := options()
	o.Sealed = true
	rep, err := pack.Validate(context.Background(), fsys, o)
	if d := cmp.Diff([]string{"file_unlisted"}, rules(rep.Findings, pack.Error)); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestBundle_Refuses(t *testing.T) {
	t.Parallel()
	p := packtest.Good(pack.TemplateText)
	p[pack.TasksFile] = []byte("x\n")
	var b bytes.Buffer
	var refused *pack.Refusal
	if _, _, err := pack.Bundle(context.Background(), p.FS(), options(), &b); !errors.As(err, &refused) || b.Len() > 0 {
		t.Errorf("%v, %d bytes written", err, b.Len())
	}
}

// changing gives another file from the second opening on.
type changing struct {
	fs.FS
	name  string
	opens int
	later []byte
}

func (c *changing) Open(name string) (fs.File, error) {
	if name == c.name {
		if c.opens++; c.opens > 1 {
			return fstest.MapFS{name: &fstest.MapFile{Data: c.later}}.Open(name)
		}
	}
	return c.FS.Open(name)
}

func TestBundle_ChangedUnderway(t *testing.T) {
	t.Parallel()
	good := packtest.Good(pack.TemplateText)
	later := bytes.Replace(good[pack.ReadmeFile], []byte("wrong"), []byte("right"), 1)
	_, _, err := pack.Bundle(context.Background(), &changing{FS: good.FS(), name: pack.ReadmeFile, later: later}, options(), io.Discard)
	var refused *pack.Refusal
	if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}

func TestFixHashes(t *testing.T) {
	t.Parallel()
	p := packtest.Good(pack.TemplateText)
	raw := string(p[pack.ManifestFile])
	odd := strings.Replace(raw, `"title": "Good"`, "\"title\"  :\t\"Good\"", 1) // what the author wrote stays
	p[pack.ManifestFile] = []byte(odd)
	p[pack.ReadmeFile] = append(p[pack.ReadmeFile], "More.\n"...)
	p["docs/method.md"] = []byte("How.\n")
	fixed, changes, err := pack.FixHashes(context.Background(), p.FS())
	if err != nil {
		t.Fatal(err)
	}
	want := []pack.Change{{"tasks.jsonl", "kept"}, {"fixtures.jsonl", "kept"}, {"RIGHTS.txt", "kept"}, {"README.md", "updated"}, {"docs/method.md", "added"}}
	if d := cmp.Diff(want, changes); d != "" {
		t.Error(d)
	}
	if !strings.Contains(string(fixed), "\"title\"  :\t\"Good\"") {
		t.Error("another part of the manifest changed")
	}
	p[pack.ManifestFile] = fixed
	if rep := validate(t, p.FS()); !rep.Valid {
		t.Errorf("%v", rep.Findings)
	}
	again, changes, err := pack.FixHashes(context.Background(), p.FS())
	if err != nil || !bytes.Equal(again, fixed) {
		t.Errorf("not the same the second time: %v, %v", changes, err)
	}
}

func TestFixHashes_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule string
		change     func(packtest.Package)
	}{
		{"no manifest", "manifest_missing", func(p packtest.Package) { delete(p, pack.ManifestFile) }},
		{"a broken manifest", "manifest_json_syntax", func(p packtest.Package) { p[pack.ManifestFile] = []byte("{") }},
		{"no components", "manifest_field_missing", func(p packtest.Package) { p[pack.ManifestFile] = []byte("{}") }},
		{"a component that is text", "manifest_field_type", func(p packtest.Package) { p[pack.ManifestFile] = []byte(`{"components":["x"]}`) }},
		{"a path that leads out", "manifest_field_range", func(p packtest.Package) {
			p[pack.ManifestFile] = []byte(`{"components":[{"path":"../x","role":"dataset"}]}`)
		}},
		{"a file that is not there", "component_missing", func(p packtest.Package) { delete(p, pack.ReadmeFile) }},
		{"a link", "file_not_regular", func(p packtest.Package) { p[pack.ReadmeFile] = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := packtest.Good(pack.TemplateText)
			c.change(p)
			_, _, err := pack.FixHashes(context.Background(), p.FS())
			var refused *pack.Refusal
			if !errors.As(err, &refused) || refused.Report.Findings[0].Rule != c.rule {
				t.Errorf("%v", err)
			}
		})
	}
}

// endless is a file system in which one file has as many lines as wanted. A %d
// in the line is its number.
type endless struct {
	fs.FS
	name, line string
	lines      int
}

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.FS.Open(name)
	if name == e.name {
		return repeated{f, &repeater{line: e.line, left: e.lines}}, err
	}
	return f, err
}

type repeated struct {
	fs.File
	r *repeater
}

func (r repeated) Read(p []byte) (int, error) { return r.r.Read(p) }

type repeater struct {
	line string
	rest string
	n    int
	left int
}

func (r *repeater) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && (r.left > 0 || r.rest != "") {
		if r.rest == "" {
			r.rest = strings.Replace(r.line, "%d", strconv.Itoa(r.n), 1)
			r.n++
			r.left--
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestLimits(t *testing.T) {
	t.Parallel()
	good := packtest.Good(pack.TemplateText)
	fixture, _, _ := strings.Cut(string(good[pack.FixturesFile]), "\n")
	for _, c := range []struct {
		rule, file, line string
		lines            int
	}{
		{"tasks_too_many", pack.TasksFile, `{"id":"t%d","input":"b","target":"c"}` + "\n", pack.MaxTasks + 1},
		{"fixtures_too_many", pack.FixturesFile, fixture + "\n", pack.MaxFixtures + 1},
		{"package_too_large", pack.ReadmeFile, strings.Repeat("words ", 1<<17) + "\n", 140},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			rep := validate(t, endless{good.FS(), c.file, c.line, c.lines})
			if rep.Valid || !slices.Contains(rules(rep.Findings, pack.Error), c.rule) {
				t.Errorf("%v", rep.Findings)
			}
		})
	}
	t.Run("findings", func(t *testing.T) {
		t.Parallel()
		rep := validate(t, endless{good.FS(), pack.TasksFile, "x\n", 5000})
		if rep.Errors != 5001 || len(rep.Findings) != pack.MaxFindings { // one for the size
			t.Errorf("%d errors, %d findings are kept", rep.Errors, len(rep.Findings))
		}
	})
	t.Run("files_too_many", func(t *testing.T) {
		t.Parallel()
		fsys := good.FS()
		for i := range 10_001 {
			fsys["x/"+strings.Repeat("x", i/100+1)+"/"+strings.Repeat("y", i%100+1)] = &fstest.MapFile{}
		}
		if d := cmp.Diff([]string{"files_too_many"}, rules(validate(t, fsys).Findings, pack.Error)); d != "" {
			t.Error(d)
		}
	})
}

type failing struct {
	fs.FS
	name string
	err  error
}

func (f failing) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.FS.Open(name)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{pack.ManifestFile, pack.TasksFile, pack.RightsFile} {
		rep := validate(t, failing{packtest.Good(pack.TemplateText).FS(), name, fs.ErrPermission})
		if d := cmp.Diff([]string{"file_unreadable"}, rules(rep.Findings, pack.Error)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The prompt of a task is what the manifest and the line say together.
func TestTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, prompt, want string }{
		{pack.TemplateText, "", "system: You answer questions.\nuser: It gives light on a desk. What is it?\n\nEnd with a line ANSWER: and the answer.\n"},
		{pack.TemplateChoice, "", "system: You answer questions.\nuser: It gives light on a desk. What is it?\n\nA) lamp\nB) pepper\nC) magnet\nD) carpet\n\nEnd with a line Answer: and a letter.\n"},
		{pack.TemplateConversation, "", "system: You answer questions.\n\nEnd with a line ANSWER: and the answer.\nuser: Let us play a guessing game.\nassistant: Give me a clue.\nuser: It gives light on a desk.\n"},
	} {
		p := packtest.Good(c.template)
		m, _ := pack.ReadManifest(p[pack.ManifestFile], families.Grader)
		for task, err := range pack.Tasks(context.Background(), p.FS(), m) {
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, x := range task.Input {
				b.WriteString(string(x.Role) + ": " + x.Text + "\n")
			}
			if d := cmp.Diff(c.want, b.String()); d != "" {
				t.Errorf("%s: %s", c.template, d)
			}
			break
		}
	}
}
