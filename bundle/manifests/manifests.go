// Package manifests is the manifests of public benchmarks that ship with the
// product. They name source, revision, licence and SHA-256 of a data file
// that its owner fetches; no benchmark item is in here.
package manifests

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/evalrouter/evalrouter/bundle"
)

//go:embed *.json
var files embed.FS

// FS is the manifest files as shipped, one SLUG.json each.
func FS() fs.FS { return files }

// List reads all shipped manifests, in the order of their slugs.
func List() ([]bundle.Manifest, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	var all []bundle.Manifest
	for _, e := range entries {
		f, err := files.Open(e.Name())
		if err != nil {
			return nil, fmt.Errorf("open manifest %s: %w", e.Name(), err)
		}
		m, err := bundle.ReadManifest(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", e.Name(), err)
		}
		all = append(all, m)
	}
	return all, nil
}
