package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Load lists the packages of the modules in dir's workspace and everything that they link, as built for this machine.
// A package that does not load makes an error, and the others are returned all the same, so that one run shows
// everything that is wrong.
func Load(ctx context.Context, dir string) ([]Package, error) {
	modules, err := output(ctx, dir, "list", "-m", "-f", "{{.Path}}/...")
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Standard,Error,ImportMap,Imports,TestImports,XTestImports"}
	for _, pattern := range bytes.Fields(modules) {
		args = append(args, string(pattern))
	}
	listed, err := output(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	return decode(bytes.NewReader(listed))
}

func decode(r io.Reader) ([]Package, error) {
	var packages []Package
	var broken []error
	for d := json.NewDecoder(r); ; {
		var p struct {
			ImportPath                         string
			Standard                           bool
			ImportMap                          map[string]string
			Imports, TestImports, XTestImports []string
			Error                              *struct{ Err string }
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, errors.Join(broken...)
		}
		if err != nil {
			return nil, fmt.Errorf("decode the package list: %w", err)
		}
		if p.Error != nil {
			broken = append(broken, fmt.Errorf("load %s: %s", p.ImportPath, p.Error.Err))
		}
		for i, path := range p.Imports { // the standard library's vendored packages
			if mapped, ok := p.ImportMap[path]; ok {
				p.Imports[i] = mapped
			}
		}
		packages = append(packages, Package{
			Path: p.ImportPath, Standard: p.Standard, Imports: p.Imports,
			TestImports: append(p.TestImports, p.XTestImports...),
		})
	}
}

func output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages with go: %w\n%s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
