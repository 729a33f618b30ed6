package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/comparison"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// again reads a saved comparison, holds every source to the hash that was
// recorded and the document to what its sources give, and shows it. It asks no
// service.
func (c *compareCmd) again(args []string) error {
	f := &c.flags
	switch {
	case len(args) > 0:
		return &argv.UsageError{Message: "--archive names what is compared; runs have no place beside it"}
	case f.evidence || f.withoutRaw || f.stats || f.resumed:
		return &argv.UsageError{Message: "a saved comparison is made again as it was; --evidence, --without-raw, --stats and --include-resumed have no place beside --archive"}
	}
	doc, name, err := c.readArchive(c.path(c.archive))
	if err != nil {
		return err
	}
	if err := c.render(doc); err != nil {
		return err
	}
	return c.Value(doc, func(p *term.Page) {
		show(p, c.App, doc)
		p.Line("Checked  %s: every source has its recorded SHA-256, and the figures are theirs.", name)
	})
}

func (c *compareCmd) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Term.Dir, name)
}

// render writes the comparison anew where --output says.
func (c *compareCmd) render(doc api.Comparison) error {
	if c.flags.output == "" {
		if c.flags.set.Given("format") {
			return &argv.UsageError{Message: "beside --archive, --output names the new file, and its end says the format"}
		}
		return nil
	}
	out := c.path(c.flags.output)
	fill := func(w io.Writer) error { return report.Comparison(w, doc) }
	switch strings.ToLower(filepath.Ext(out)) {
	case ".html":
	case ".json":
		fill = func(w io.Writer) error { return encode(w, doc) }
	default:
		return &argv.UsageError{Message: "beside --archive, --output is a file that ends in .html or .json"}
	}
	if _, err := os.Lstat(out); err == nil {
		return exists(out)
	}
	if err := writeNew(out, fill); err != nil {
		return (&saving{App: c.App, to: target{folder: out}}).unwritable(err)
	}
	return nil
}

// maxDocument bounds a comparison.json.
const maxDocument = 64 << 20

// readArchive reads a folder, or the file NAME.json with its sources beside it.
func (c *compareCmd) readArchive(name string) (doc api.Comparison, file string, err error) {
	file = name
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		file = filepath.Join(name, document)
	}
	b, err := readBounded(file)
	if err != nil {
		return doc, file, &flow.Error{Code: api.InvalidInput, Message: "no saved comparison can be read from " + file + ": " + reasonOf(err), Err: err}
	}
	if err := json.Unmarshal(b, &doc); err != nil || doc.Schema != api.ComparisonSchema || len(doc.Series) == 0 {
		return doc, file, &flow.Error{Code: api.InvalidInput, Message: file + " is no saved comparison", Err: err}
	}
	folder := filepath.Dir(file)
	var members []comparison.Member
	for _, s := range doc.Series {
		files := sourcesOf(s)
		m, err := member(func(p string) (io.ReadCloser, error) { return checked(folder, p, files) }, files)
		if err != nil {
			return doc, file, err
		}
		members = append(members, m)
	}
	o := comparison.Options{GeneratedAt: doc.GeneratedAt, Version: doc.CLIVersion, WithoutRaw: doc.Evidence != nil, Statistics: doc.Statistics != nil}
	if doc.GroupID != nil {
		o.GroupID = *doc.GroupID
	}
	made, err := comparison.Make(members, o)
	if err != nil {
		return doc, file, changed(file, err.Error())
	}
	if same, err := says(made, b, doc.CLIVersion == c.Version); err != nil || !same {
		return doc, file, changed(file, "its figures are not those that its sources give (it was made by version "+doc.CLIVersion+")")
	}
	return made, file, nil
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(b) > maxDocument {
		err = fmt.Errorf("it is larger than a comparison")
	}
	return b, err
}

// checked opens a source once its bytes have their recorded hash.
func checked(folder, name string, files []api.ComparedSource) (io.ReadCloser, error) {
	var want api.ComparedSource
	for _, f := range files {
		if f.Path == name {
			want = f
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, changed(folder, "it names a source outside of its folder")
	}
	full := filepath.Join(folder, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil {
		return nil, changed(full, "it is missing")
	}
	if !info.Mode().IsRegular() {
		return nil, changed(full, "it is not a regular file")
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, changed(full, reasonOf(err))
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err == nil && (n != want.Bytes || hex.EncodeToString(h.Sum(nil)) != want.SHA256) {
		err = changed(full, fmt.Sprintf("it has %d bytes and SHA-256 %x, recorded were %d and %s", n, h.Sum(nil), want.Bytes, want.SHA256))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func changed(name, why string) error {
	return &flow.Error{Code: api.ArchiveChanged, Message: name + " is not what was saved: " + why, Facts: []string{"nothing was shown or written"}}
}

func reasonOf(err error) string {
	if os.IsNotExist(err) {
		return "it is not there"
	}
	return err.Error()
}

// says holds a saved comparison to the one that is made of its sources again:
// whatever it says, that one must say too. It may say less, as it does when an
// older version saved it, and words of another version may be others.
func says(made api.Comparison, saved []byte, words bool) (bool, error) {
	again, err := json.Marshal(made)
	if err != nil {
		return false, err
	}
	var x, y any
	if x, err = tree(again); err != nil {
		return false, err
	}
	if y, err = tree(saved); err != nil {
		return false, err
	}
	return within(y, x, words), nil
}

func tree(b []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// within says whether all of a stands in b. A member that b does not have is of a
// newer version, and nothing is made of it.
func within(a, b any, words bool) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range x {
			w, known := y[k]
			if known && (words || k != "detail") && !within(v, w, words) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !within(x[i], y[i], words) {
				return false
			}
		}
		return true
	}
	return a == b
}
