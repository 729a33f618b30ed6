// Package schema holds the published JSON Schemas of the files of a package.
// scripts/schemagen writes them from the types and tables of package pack; a
// test there holds them to the validator on every broken package of packtest.
package schema

import (
	"embed"
	"slices"
)

//go:embed *.json
var files embed.FS

// Names lists the schemas: of the manifest, and of a line of tasks and of
// fixtures.
func Names() []string { return []string{"package", "tasks", "fixtures"} }

// Text is the schema of a name.
func Text(name string) ([]byte, bool) {
	if !slices.Contains(Names(), name) {
		return nil, false
	}
	b, err := files.ReadFile(name + ".json")
	return b, err == nil
}
