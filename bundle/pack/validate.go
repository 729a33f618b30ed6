package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/archive"
)

// Options are what Validate needs beside the files.
type Options struct {
	// Graders builds the declared grader; required.
	Graders MakeGrader
	// Sealed says that the files are a bundle and not somebody's folder: every
	// file counts, hidden ones too.
	Sealed bool
}

// maxWalked bounds how many files of a folder are looked at.
const maxWalked = 10_000

// indexRoom is what is kept of MaxPackageBytes for the index of a bundle.
const indexRoom = 1 << 20

// Validate reads a whole package and reports what is wrong with it. The error
// is for what kept it from looking: a cancelled context.
func Validate(ctx context.Context, fsys fs.FS, o Options) (Report, error) {
	_, rep, err := validate(ctx, fsys, o)
	return rep, err
}

func validate(ctx context.Context, fsys fs.FS, o Options) (Manifest, Report, error) {
	v := &validator{ctx: ctx, fsys: fsys, o: o, rep: Report{Findings: []Finding{}, Components: []Component{}}}
	m := v.whole()
	v.rep.Valid = v.rep.Errors == 0 && ctx.Err() == nil
	return m, v.rep, ctx.Err()
}

type validator struct {
	ctx  context.Context // lives for one call of Validate
	fsys fs.FS
	o    Options
	rep  Report

	files map[string]fs.FileMode // by path; the type bits
	order []string
	ids   map[string]struct{}
	// idsKnown says that ids holds every task: none was refused.
	idsKnown bool
	left     int64 // bytes that the package may still have
}

func (v *validator) add(rule, path string, line int, field, format string, args ...any) {
	v.rep.add(Finding{Rule: rule, Path: path, Line: line, Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) whole() Manifest {
	if !v.walk() || !v.regular(ManifestFile, "manifest_missing") {
		return Manifest{}
	}
	raw, err := readManifestFile(v.fsys)
	if err != nil {
		v.unreadable(ManifestFile, err)
		return Manifest{}
	}
	m, findings := ReadManifest(raw, v.o.Graders)
	for _, f := range findings {
		v.rep.add(f)
	}
	if v.rep.Errors > 0 {
		return m
	}
	sum := sha256.Sum256(raw)
	v.rep.Package = hex.EncodeToString(sum[:])
	v.rep.Namespace, v.rep.Name, v.rep.Version, v.rep.Components = m.Namespace, m.Name, m.Version, m.Components
	v.left = MaxPackageBytes - indexRoom - int64(len(raw))
	v.components(m)
	v.unlisted(m)
	return m
}

// components reads the dataset before the fixtures, which name its tasks.
func (v *validator) components(m Manifest) {
	for _, role := range []string{RoleDataset, RoleFixtures, RoleLicense, RoleDocumentation} {
		for _, c := range m.Components {
			if c.Role == role && v.ctx.Err() == nil {
				v.component(m, c)
			}
		}
	}
}

func (v *validator) component(m Manifest, c Component) {
	if !v.regular(c.Path, "component_missing") {
		return
	}
	f, err := v.fsys.Open(c.Path)
	if err != nil {
		v.unreadable(c.Path, err)
		return
	}
	defer f.Close() // read only
	in := &measured{ctx: v.ctx, in: f, sum: sha256.New(), most: v.left}
	switch c.Role {
	case RoleDataset:
		err = v.tasks(m, c.Path, in)
	case RoleFixtures:
		err = v.fixtures(c.Path, in)
	default:
		err = v.paper(c.Path, in)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	v.left -= in.n
	switch {
	case errors.Is(err, errTooLarge):
		v.add("package_too_large", c.Path, 0, "", "the package has more than %d bytes up to here", MaxPackageBytes-indexRoom)
	case err != nil:
		v.unreadable(c.Path, err)
	case in.n != c.Bytes:
		v.add("component_size", c.Path, 0, "", "the file has %d bytes, the manifest says %d", in.n, c.Bytes)
	case in.digest() != c.SHA256:
		v.add("component_digest", c.Path, 0, "", "the file has the SHA-256 %s, not the one in the manifest", in.digest())
	}
}

// unreadable reports a file that cannot be read to its end. A zip file says
// why by a rule of its own.
func (v *validator) unreadable(path string, err error) {
	var refused *archive.Error
	switch {
	case v.ctx.Err() != nil:
	case errors.As(err, &refused):
		v.add(refused.Rule, path, 0, "", "%s", refused.Message)
	case errors.Is(err, fs.ErrPermission):
		v.add("file_unreadable", path, 0, "", "you may not read the file")
	default:
		v.add("file_unreadable", path, 0, "", "the file cannot be read to its end")
	}
}

// walk lists the files, with what they are.
func (v *validator) walk() bool {
	v.files = map[string]fs.FileMode{}
	err := fs.WalkDir(v.fsys, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			v.unreadable(path, err)
			return fs.SkipDir
		case v.ctx.Err() != nil:
			return errStop
		case path == ".":
			return nil
		case !v.o.Sealed && ignored(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		if len(v.order) == maxWalked {
			v.add("files_too_many", "", 0, "", "the folder has more than %d files", maxWalked)
			return errStop
		}
		v.files[path] = d.Type()
		v.order = append(v.order, path)
		return nil
	})
	return err == nil && v.rep.Errors == 0
}

// ignored says whether a name in somebody's folder is not a part of the
// package: hidden files, and bundles that were written beside it.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "evalrouter-bundle-") && strings.HasSuffix(name, ".zip")
}

func (v *validator) regular(path, missing string) bool {
	mode, ok := v.files[path]
	switch {
	case !ok:
		v.add(missing, path, 0, "", "the file is not there")
	case !mode.IsRegular():
		v.add("file_not_regular", path, 0, "", "not a plain file")
	default:
		return true
	}
	return false
}

func (v *validator) unlisted(m Manifest) {
	listed := map[string]bool{ManifestFile: true}
	for _, c := range m.Components {
		listed[c.Path] = true
	}
	for _, path := range v.order {
		if !listed[path] {
			v.add("file_unlisted", path, 0, "", "the manifest does not list the file")
		}
	}
}

// measured counts and hashes what passes through, and stops past a limit.
type measured struct {
	ctx  context.Context // lives for one call of Validate
	in   io.Reader
	sum  hash.Hash
	n    int64
	most int64
}

var errTooLarge = errors.New("the package is too large")

func (x *measured) Read(p []byte) (int, error) {
	if err := x.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := x.in.Read(p)
	x.sum.Write(p[:n]) // a hash takes everything
	if x.n += int64(n); x.n > x.most {
		return n, errTooLarge
	}
	return n, err
}

func (x *measured) digest() string { return hex.EncodeToString(x.sum.Sum(nil)) }

// Open reads the manifest of a package that is known to be valid.
func Open(fsys fs.FS, o Options) (Manifest, error) {
	raw, err := readManifestFile(fsys)
	if err != nil {
		return Manifest{}, fmt.Errorf("read %s: %w", ManifestFile, err)
	}
	m, findings := ReadManifest(raw, o.Graders)
	for _, f := range findings {
		if ruleOf(f.Rule).Severity == Error {
			return Manifest{}, fmt.Errorf("read %s: %s", ManifestFile, f)
		}
	}
	return m, nil
}
