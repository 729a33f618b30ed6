// Package schema holds the JSON Schemas of the documents of the product. They
// are made by scripts/cmd/schemagen from the types and tables that read and
// write the documents.
package schema

import (
	"bytes"
	"embed"
	"encoding/json"
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

// Text is the schema of a document, "" if it has none. The files have a line for
// each member and no indentation, which would be most of them.
func Text(name string) string {
	if !slices.Contains(Names(), name) {
		return ""
	}
	b, err := files.ReadFile(name + ".json")
	var out bytes.Buffer
	if err != nil || json.Indent(&out, b, "", "  ") != nil {
		return ""
	}
	return out.String()
}
