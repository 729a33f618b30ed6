package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/archive"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// Change is what FixHashes did to one component.
type Change struct {
	Path string `json:"path"`
	// What is updated, added or kept.
	What string `json:"what"`
}

// FixHashes rewrites the components of a manifest so that they say what the
// files are: sizes and SHA-256 of those listed, and new entries for files that
// are there and not listed. Every other byte of the manifest stays. What
// stands in the way comes back as a *Refusal; the caller writes the file.
func FixHashes(ctx context.Context, fsys fs.FS) (manifest []byte, changes []Change, err error) {
	v := &validator{ctx: ctx, fsys: fsys, rep: Report{Findings: []Finding{}, Components: []Component{}}, left: MaxPackageBytes}
	if !v.walk() || !v.regular(ManifestFile, "manifest_missing") {
		return nil, nil, v.rep.refusal(ctx)
	}
	raw, err := readManifestFile(fsys)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", ManifestFile, err)
	}
	node, all := v.listed(raw)
	if v.rep.Errors > 0 {
		return nil, nil, v.rep.refusal(ctx)
	}
	known := len(all)
	all = append(all, v.newComponents(all)...)
	for i, c := range all {
		was := c
		if !v.regular(c.Path, "component_missing") {
			continue
		}
		if all[i].Bytes, all[i].SHA256, _, err = v.measure(c.Path); err != nil {
			v.unreadable(c.Path, err)
			continue
		}
		what := map[bool]string{true: "kept", false: "updated"}[was == all[i]]
		if i >= known {
			what = "added"
		}
		changes = append(changes, Change{c.Path, what})
	}
	if v.rep.Errors > 0 || ctx.Err() != nil {
		return nil, nil, v.rep.refusal(ctx)
	}
	list, err := json.MarshalIndent(all, "  ", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("write components: %w", err)
	}
	if slices.IndexFunc(changes, func(c Change) bool { return c.What != "kept" }) < 0 {
		return raw, changes, nil
	}
	return slices.Concat(raw[:node.At-1], list, raw[node.End:]), changes, nil
}

// refusal is the error of a report that has errors.
func (r Report) refusal(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.Err()
}

// listed reads the components of a manifest that may be wrong otherwise.
func (v *validator) listed(raw []byte) (*strict.Node, []Component) {
	root, prob := strict.Parse(raw)
	if prob != nil {
		v.rep.add(manifestFinding("manifest_"+prob.Code, lineAt(raw, prob.At), prob.Path, prob.Message))
		return nil, nil
	}
	r := &strict.Reader{}
	f := r.Fields(root)
	var all []Component
	for _, n := range f.List("components", 0, MaxComponents) {
		c := r.Fields(n)
		all = append(all, Component{
			Path: c.Need("path"), Role: c.Need("role"), Schema: c.Text("schema"), SHA256: c.Text("sha256"),
			Bytes: c.Int("bytes", 0, MaxPackageBytes, 0),
		})
		c.Close()
	}
	s := compiledShapes()
	for i, c := range all {
		if c.Path != "" {
			s.check(r, "components[].path", fmt.Sprintf("components[%d].path", i), c.Path)
		}
	}
	for _, p := range r.Problems {
		v.rep.add(manifestFinding("manifest_"+p.Code, lineAt(raw, root.Nearest(p.Path).At), p.Path, p.Message))
	}
	return root.Get("components"), all
}

// newComponents are entries for files that no entry names. Only names that say
// what they are get one; validate reports the others.
func (v *validator) newComponents(all []Component) []Component {
	var out []Component
	for _, file := range v.order {
		if file == ManifestFile || slices.ContainsFunc(all, func(c Component) bool { return c.Path == file }) {
			continue
		}
		c := Component{Path: file}
		switch ext := strings.ToLower(path.Ext(file)); {
		case file == TasksFile:
			c.Role, c.Schema = RoleDataset, TasksSchema
		case file == FixturesFile:
			c.Role, c.Schema = RoleFixtures, FixturesSchema
		case file == RightsFile:
			c.Role = RoleLicense
		case ext == ".md" || ext == ".txt":
			c.Role = RoleDocumentation
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}

// measure reads a file for its length, SHA-256 and IEEE checksum.
func (v *validator) measure(file string) (n int64, digest string, crc uint32, err error) {
	f, err := v.fsys.Open(file)
	if err != nil {
		return 0, "", 0, err
	}
	defer f.Close() // read only
	in := &measured{ctx: v.ctx, in: f, sum: sha256.New(), most: MaxPackageBytes}
	check := crc32.NewIEEE()
	if _, err := io.Copy(check, in); err != nil {
		return 0, "", 0, err
	}
	return in.n, in.digest(), check.Sum32(), nil
}

// Bundle validates a package and writes it to w as one zip file whose bytes
// depend on the files alone. The digest is the SHA-256 of what was written. A
// package that is not valid is a *Refusal, and then nothing was written. With
// any other error w holds a part.
func Bundle(ctx context.Context, fsys fs.FS, o Options, w io.Writer) (rep Report, digest string, err error) {
	m, rep, err := validate(ctx, fsys, o)
	if err == nil {
		err = rep.Err()
	}
	if err != nil {
		return rep, "", err
	}
	v := &validator{ctx: ctx, fsys: fsys}
	pinned := map[string]string{ManifestFile: rep.Package}
	names := []string{}
	for _, c := range m.Components {
		pinned[c.Path] = c.SHA256
		names = append(names, c.Path)
	}
	slices.Sort(names)
	var files []archive.File
	for _, name := range append([]string{ManifestFile}, names...) {
		n, sum, crc, err := v.measure(name)
		if err != nil {
			return rep, "", fmt.Errorf("read %s: %w", name, err)
		}
		if sum != pinned[name] {
			return rep, "", fmt.Errorf("read %s: the file changed after it was validated", name)
		}
		files = append(files, archive.File{Name: name, Size: n, CRC: crc, Open: func() (io.ReadCloser, error) { return fsys.Open(name) }})
	}
	sum := sha256.New()
	if err := archive.Write(io.MultiWriter(w, sum), files); err != nil {
		return rep, "", err
	}
	return rep, hex.EncodeToString(sum.Sum(nil)), nil
}

// OpenBundle is a bundle as the files of its package. Validate it with
// Options.Sealed. What is refused is a *Refusal with one finding of the
// rules that begin with zip.
func OpenBundle(r io.ReaderAt, size int64) (fs.FS, error) {
	a, err := archive.Open(r, size)
	var bad *archive.Error
	if !errors.As(err, &bad) {
		return a, err
	}
	rep := Report{Findings: []Finding{}, Components: []Component{}}
	rep.add(Finding{Rule: bad.Rule, Path: bad.Name, Message: bad.Message})
	return nil, &Refusal{Report: rep}
}
