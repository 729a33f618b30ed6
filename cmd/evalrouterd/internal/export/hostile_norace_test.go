//go:build !race

package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export/attack"
	"github.com/evalrouter/evalrouter/lib/api"
	shown "github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"
)

// fill sets every text in a value, those of pointers, lists and maps included.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if v.IsNil() && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f, text)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Interface {
			v.Set(reflect.ValueOf(map[string]any{text: text}))
		}
	}
}

// hostileRun is a run in which every text is the same.
func hostileRun(t *testing.T, text string) (report.Report, report.Tasks) {
	t.Helper()
	var e api.Export
	e.Result.Model.Selected = &api.SelectedModel{Pricing: &api.Pricing{}}
	e.Result.Profiles = []api.ProfileResult{{Planned: 1, Graded: 1, Selection: api.ProfileSelection{PopulationCount: 2, SelectedCount: 1}, Metrics: []api.MetricRecord{{Value: 1, SampleCount: new(1), Uncertainty: &api.Uncertainty{Interval: &api.Interval{Upper: 1, Confidence: 0.95}}}}}}
	e.Result.Coverage, e.Reasoning = &api.Coverage{Seed: new(uint32(1))}, &api.ReasoningChoice{}
	fill(reflect.ValueOf(&e).Elem(), text)
	e.Result.Summary.Outcomes = map[string]int{text: 1}
	r, err := report.From(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wrong, odd report.Task
	for _, x := range []*report.Task{&wrong, &odd} {
		fill(reflect.ValueOf(x).Elem(), text)
		x.Scores = map[string]float64{text: 0.5, "b": 1}
	}
	wrong.Outcome = "wrong"
	odd.Index = 1
	return r, func(yield func(report.Task, error) bool) { _ = yield(wrong, nil) && yield(odd, nil) }
}

func rendered(t *testing.T, f func(io.Writer, report.Report, report.Tasks) error, text string) string {
	t.Helper()
	r, tasks := hostileRun(t, text)
	var b bytes.Buffer
	if err := f(&b, r, tasks); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func htmlFile(w io.Writer, r report.Report, tasks report.Tasks) error {
	return report.HTML(w, r, tasks, 0)
}

// Whatever the texts of a run say, the page has the same elements with the same
// attributes, the one script and style that its policy names, and addresses
// inside itself only: nothing of a text becomes markup, so nothing runs and
// nothing is loaded.
func TestHostileHTML(t *testing.T) {
	t.Parallel()
	want, _ := bones(t, rendered(t, htmlFile, "be#nign"))
	for i, p := range attack.Texts() {
		got, ids := bones(t, rendered(t, htmlFile, p))
		if !slices.Equal(want, got) {
			t.Fatalf("payload %d %q changed the page:\n%s", i, p, cmp.Diff(want, got))
		}
		if as := string(shown.Line(p)); len(p) < 200 && !slices.Contains(ids, as) {
			t.Errorf("payload %d %q is shown as %q", i, p, ids)
		}
	}
}

// bones are the elements of a page with the names of their attributes, and the
// values that could load or run something; ids are the shown names of tasks.
func bones(t *testing.T, page string) (out, ids []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode, html.DoctypeNode:
			out = append(out, fmt.Sprintf("%d %s", n.Type, n.Data))
		case html.ElementNode:
			out = append(out, bone(n))
			if class(n) == "id" {
				ids = append(ids, n.FirstChild.Data)
			}
		}
	}
	return out, ids
}

func class(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "class" {
			return a.Val
		}
	}
	return ""
}

func bone(n *html.Node) string {
	s := n.Namespace + "/" + n.Data
	for _, a := range n.Attr {
		s += " " + a.Namespace + ":" + a.Key
		switch a.Key {
		case "href", "http-equiv", "content", "src", "id", "d", "x", "width":
			s += "=" + a.Val
		}
	}
	if n.Data == "script" || n.Data == "style" {
		s += n.FirstChild.Data
	}
	return s
}

// JUnit has the same elements and attributes whatever the texts say, and a
// strict parser reads it.
func TestHostileJUnit(t *testing.T) {
	t.Parallel()
	shape := func(text string) (out []string) {
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return out
			}
			if err != nil {
				t.Fatalf("%v in %.300q", err, text)
			}
			switch x := token.(type) {
			case xml.StartElement:
				s := x.Name.Local
				for _, a := range x.Attr {
					s += " " + a.Name.Local
				}
				out = append(out, s)
			case xml.CharData, xml.EndElement:
			default:
				out = append(out, fmt.Sprintf("%T", x))
			}
		}
	}
	want := shape(rendered(t, report.JUnit, "be#nign"))
	for i, p := range attack.Texts() {
		if got := shape(rendered(t, report.JUnit, p)); !slices.Equal(want, got) {
			t.Fatalf("payload %d %q changed the file:\n%s", i, p, cmp.Diff(want, got))
		}
	}
}

// Markdown is the same line for line outside of its code spans.
func TestHostileMarkdown(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(io.Writer, report.Report, report.Tasks) error{"md": report.Markdown, "github": report.GitHubSummary} {
		want := outside(rendered(t, f, "be#nign"), "be#nign")
		for i, p := range attack.Texts() {
			if got := outside(rendered(t, f, p), p); !slices.Equal(want, got) {
				t.Fatalf("%s: payload %d %q changed the text:\n%s", name, i, p, cmp.Diff(want, got))
			}
		}
	}
	if n := len(attack.Texts()); n < 500 {
		t.Errorf("%d payloads, want 500", n)
	}
}

// outside is Markdown with one mark for each code span, found as CommonMark
// finds them: a run of backticks up to the next run of the same length. A text
// of plain words is such a mark too.
func outside(text, payload string) []string {
	var out []string
	for line := range strings.Lines(text) {
		kept := ""
		for line != "" {
			at := strings.IndexByte(line, '`')
			if at < 0 {
				break
			}
			kept += line[:at]
			fence := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
			end := closing(line[at+fence:], fence)
			if end < 0 {
				kept += "UNCLOSED"
				line = line[at+fence:]
				continue
			}
			kept += "C"
			line = line[at+fence+end+fence:]
		}
		kept += line
		if words := string(shown.Line(payload)); !strings.ContainsAny(words, "<>[]!*_~#@|\\`&$") && len(words) > 2 {
			kept = strings.ReplaceAll(kept, words, "C")
		}
		out = append(out, kept)
	}
	return out
}

// closing is where a run of exactly n backticks begins, -1 for nowhere.
func closing(s string, n int) int {
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if run == n {
			return at
		}
		at += run
	}
	return -1
}
