// Package pages is the bodies of a service's pages about runs, groups,
// benchmarks and models, without the frame that every page of the service has.
//
// What is said about a run is said by the parts of package report, so that a
// run reads alike while it goes on, when it has finished, in the file that is
// exported and in a terminal. Only a service imports this package: a client
// does not carry the pages.
//
// A body is a function of the records that clients read. Texts from elsewhere
// are made safe to show (package plain) and escaped by html/template; a body
// holds no style, no script and no address of another host.
package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"time"

	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"
)

//go:embed templates
var files embed.FS

// Names of bodies, with the value that each shows.
const (
	NameRuns       = "runs"       // List
	NameGroups     = "groups"     // List
	NameLive       = "live"       // Run
	NameRun        = "run"        // Run
	NameTask       = "task"       // Task
	NameGroup      = "group"      // Group
	NameComparison = "comparison" // Comparison
	NameBenchmarks = "benchmarks" // Catalog
	NameBenchmark  = "benchmark"  // Catalog
	NameModels     = "models"     // Catalog
	NameModel      = "model"      // Catalog
)

// Pages renders bodies. It is safe for concurrent use.
type Pages struct{ t *template.Template }

// New reads the templates.
func New() (*Pages, error) {
	t, err := report.Parts()
	if err != nil {
		return nil, err
	}
	if t, err = t.ParseFS(files, "templates/*.html"); err != nil {
		return nil, fmt.Errorf("read the templates of pages: %w", err)
	}
	return &Pages{t}, nil
}

// Body is a body as HTML.
func (p *Pages) Body(name string, v any) (template.HTML, error) {
	var b bytes.Buffer
	if err := p.t.ExecuteTemplate(&b, "body-"+name, v); err != nil {
		return "", fmt.Errorf("write page %s: %w", name, err)
	}
	// html/template escaped all of it.
	return template.HTML(b.String()), nil
}

// maxText bounds a text of a list in characters.
const maxText = 200

// line is a text on one line, safe to show and not too long.
func line(s string) plain.Safe {
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText-1]) + "…"
	}
	return plain.Line(s)
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stamp is a time as lists show it, in UTC to the minute; a dash for none.
func stamp(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// short is the beginning of an id, as terminals print it.
func short(id string) plain.Safe { return plain.Line(id[:min(8, len(id))]) }
