// Package schema holds the JSON Schemas of the documents of the product. They
// are made by scripts/cmd/schemagen from the types and tables that read and
// write the documents.
package schema

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names are the documents that have a schema.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil // the files are part of the program
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(out)
	return out
}

// Text is the schema of a document, "" if it has none.
func Text(name string) string {
	if !slices.Contains(Names(), name) {
		return ""
	}
	b, err := files.ReadFile(name + ".json")
	if err != nil {
		return ""
	}
	return string(b)
}
