package e2e_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// attacks are answers that would be a formula, markup or the end of something in
// a file. The product's own tests have more than five hundred; these are read by
// parsers that are not its own.
var attacks = []string{
	"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n=1", "\ufeff=1", "\u200b=1", "\uff1d1", `=HYPERLINK("//evil.example")`, `=cmd|' /C calc'!A0`, `"=1`, `x","=1`, "x\r\n=1,2",
	"# Heading", "\n\n# Heading\n\n", "- item", "1. item", "> quote", "---", "***", "===", "| a | b |\n|---|---|\n| 1 | 2 |", "\\|", "![x](//evil.example/x.png)", "[x](javascript:alert(1))", "[x]: //evil.example", "<https://evil.example>", "https://evil.example", "www.evil.example",
	"`", "``", "`x`", "``x`", strings.Repeat("`", 300), "```\nx\n```", "~~~\nx\n~~~", "~~x~~", "**bold**", "_x_", "&lt;b&gt;", "&#60;b&#62;", "\\`", "\\", "a\\", "- [x] done", "<details>", "</details>", "</summary>",
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!-- x", "-->", "<![CDATA[", "]]>", "<?xml?>", "<!DOCTYPE x>", "</testcase></testsuite>", `" onload="x`, "' x='", "&e;", "\x00", "\x01\x1b[2J", "\u2028", "\ufffe", "\U0001f600", "", " ",
}

// attacker runs a benchmark whose answers are the attacks, and gives the run.
func (s *site) attacker() string {
	s.t.Helper()
	asked := regexp.MustCompile(`Question (\d+)`)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		m := asked.FindSubmatch(b)
		if err != nil || m == nil {
			http.Error(w, "which question?", http.StatusBadRequest)
			return
		}
		n, err := strconv.Atoi(string(m[1]))
		if err != nil || n >= len(attacks) {
			http.Error(w, "no such question", http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(object{"choices": []any{object{"message": object{"content": attacks[n]}, "finish_reason": "stop"}}, "usage": object{"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}})
	}))
	s.t.Cleanup(model.Close)
	rows := "q,a\n"
	for i := range attacks {
		rows += fmt.Sprintf("Question %d?,yes\n", i)
	}
	s.write("rows.csv", []byte(rows))
	manifest := s.writeJSON("manifest.json", object{"name": "Attacks", "data": "rows.csv", "task": "exact_match", "columns": object{"answer": "a", "question": "q"}, "prompt_template": "{{question}}",
		"max_output_tokens": 64, "data_license": "CC0-1.0", "rights_attestation": true})
	m := decode[made](s.t, s.ok("evalrouter", "benchmark", "create", manifest, "--json").stdout)
	id := decode[struct{ ID string }](s.t, s.ok("evalrouter", "connections", "create", "--name", "attacker", "--endpoint", model.URL+"/v1", "--model", "m", "--price-in", "1", "--price-out", "2", "--no-key", "--json").stdout).ID
	return decode[run](s.t, s.ok("evalrouter", "run", m.slug(), "--model", "connection:"+id, "--full", "--max-cost", "1", "--yes", "--json").stdout).ID
}

// TestParsed_Files reads what is exported of a run of attacks with parsers that
// are not the product's own; goldmark, which reads Markdown as GitHub does, is
// required for this alone.
func TestParsed_Files(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.attacker()
	s.ok("evalrouter", "export", id, "--format", "csv,md,github,junit,json", "--output", "all")
	t.Run("csv", func(t *testing.T) { parsesCSV(t, s.file("all.csv")) })
	t.Run("junit", func(t *testing.T) { parsesJUnit(t, s.file("all.junit.xml"), len(attacks)) })
	for _, name := range []string{"all.md", "all.github.md"} {
		t.Run(name, func(t *testing.T) { parsesMarkdown(t, s.file(name), strings.Contains(name, "github")) })
	}
	s.audit()
}

// parsesCSV demands that numbers are numbers, bare in the file, and that no text
// begins as a formula does in a spreadsheet.
func parsesCSV(t *testing.T, file string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(attacks) {
		t.Fatalf("%d lines for %d tasks", len(rows), len(attacks))
	}
	numbers := []string{"attempt", "input_tokens", "output_tokens", "charge_microusd"}
	inert, numeric := 0, 0
	for i, name := range rows[0] {
		for _, r := range rows[1:] {
			cell := r[i]
			switch {
			case slices.Contains(numbers, name) || strings.HasPrefix(name, "score_"):
				if _, err := strconv.ParseFloat(cell, 64); cell != "" && err != nil {
					t.Errorf("%s is %q, no number", name, cell)
				}
				if cell != "" {
					numeric++
				}
			case name == "reused":
				if cell != "false" {
					t.Errorf("reused is %q", cell)
				}
			default:
				begin := strings.TrimLeft(cell, " \n\ufeff\u200b\u00a0")
				if begin != "" && strings.ContainsAny(begin[:1], "=+-@\t\r") || strings.HasPrefix(begin, "\uff1d") {
					t.Errorf("%s begins as a formula: %q", name, cell)
				}
				if strings.HasPrefix(cell, "'") {
					inert++
				}
			}
		}
	}
	// Every text is quoted and no number is, so that a spreadsheet takes each for what it is.
	for line := range strings.SplitSeq(strings.TrimSuffix(file, "\r\n"), "\r\n") {
		if line != "" && !strings.HasPrefix(line, `"`) && !strings.Contains(line, `=1,2"`) {
			t.Errorf("a line begins with %.60q", line)
		}
	}
	if bare := regexp.MustCompile(`,\d+,"graded","(right|wrong|empty|extraction_failed)","",(0|1),"`).FindAllString(file, -1); len(bare) < len(attacks)/2 {
		t.Errorf("%d lines have their score as a bare number", len(bare))
	}
	if inert < 12 || numeric < 3*len(attacks) {
		t.Errorf("%d cells were made inert and %d are numbers", inert, numeric)
	}
	t.Logf("%d formulas inert, %d numbers", inert, numeric)
}

// junitShape is what the schema of JUnit that CI systems publish (Jenkins' junit-10.xsd) lets
// stand in an element: its attributes, those that it must have, and its children.
var junitShape = map[string]struct{ must, may, children []string }{
	"testsuites": {nil, []string{"name", "tests", "failures", "errors", "skipped", "time", "disabled"}, []string{"testsuite"}},
	"testsuite":  {[]string{"name"}, []string{"tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package", "group"}, []string{"properties", "testcase", "system-out", "system-err"}},
	"properties": {nil, nil, []string{"property"}},
	"property":   {[]string{"name", "value"}, nil, nil},
	"testcase":   {[]string{"name"}, []string{"classname", "time", "status", "assertions", "group"}, []string{"skipped", "error", "failure", "system-out", "system-err"}},
	"failure":    {nil, []string{"message", "type"}, nil},
	"error":      {nil, []string{"message", "type"}, nil},
	"skipped":    {nil, []string{"message", "type"}, nil},
}

// parsesJUnit walks the file with a strict XML parser and holds each element to
// the schema, and the counts of the suite to its cases.
func parsesJUnit(t *testing.T, file string, cases int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(file))
	d.Strict = true
	var stack []string
	seen, declared := map[string]int{}, map[string]string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			shape, ok := junitShape[name]
			if !ok || x.Name.Space != "" {
				t.Fatalf("an element %q", name)
			}
			if len(stack) == 0 && name != "testsuites" || len(stack) > 0 && !slices.Contains(junitShape[stack[len(stack)-1]].children, name) {
				t.Errorf("%s stands in %v", name, stack)
			}
			has := map[string]string{}
			for _, a := range x.Attr {
				has[a.Name.Local] = a.Value
				if !slices.Contains(shape.must, a.Name.Local) && !slices.Contains(shape.may, a.Name.Local) {
					t.Errorf("%s has an attribute %q", name, a.Name.Local)
				}
			}
			for _, must := range shape.must {
				if _, ok := has[must]; !ok {
					t.Errorf("%s has no %s", name, must)
				}
			}
			if name == "testsuite" {
				declared = has
			}
			seen[name]++
			stack = append(stack, name)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) > 0 && strings.TrimSpace(string(x)) != "" && !slices.Contains([]string{"failure", "error"}, stack[len(stack)-1]) {
				t.Errorf("text in %v: %q", stack, x)
			}
		case xml.ProcInst:
			if x.Target != "xml" {
				t.Errorf("an instruction %q", x.Target)
			}
		default:
			t.Errorf("a %T", x)
		}
	}
	for attribute, element := range map[string]string{"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"} {
		if declared[attribute] != strconv.Itoa(seen[element]) {
			t.Errorf("the suite says %s=%s of %d", attribute, declared[attribute], seen[element])
		}
	}
	if seen["testcase"] != cases {
		t.Errorf("%d cases of %d", seen["testcase"], cases)
	}
	t.Logf("%v", seen)
}

// parsesMarkdown reads a summary as GitHub does, and finds the structure that it
// should have and nothing that an answer made: no HTML but the folds of a step
// summary, no link, no image, and each task in one item of the list.
func parsesMarkdown(t *testing.T, file string, folds bool) {
	t.Helper()
	source := []byte(file)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	seen, allowed := map[string]int{}, map[string]bool{
		"Document": true, "Heading": true, "Paragraph": true, "TextBlock": true, "Text": true, "CodeSpan": true, "Emphasis": true, "List": true, "ListItem": true, "Table": true, "TableHeader": true, "TableRow": true, "TableCell": true,
	}
	var headings []string
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		kind := n.Kind().String()
		seen[kind]++
		switch {
		case kind == "Heading":
			headings = append(headings, string(n.(*ast.Heading).Lines().Value(source)))
		case kind == "HTMLBlock" && folds:
			if b := strings.TrimSpace(string(n.Lines().Value(source))); !regexp.MustCompile(`^(<details>|</details>|<summary>[A-Za-z0-9 ,]+</summary>|\s)+$`).MatchString(b) {
				t.Errorf("HTML %q", b)
			}
		case !allowed[kind]:
			t.Errorf("a %s: %.200q", kind, string(n.Text(source)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen["Table"] != 1 || seen["ListItem"] < len(attacks) || seen["CodeSpan"] < len(attacks) || len(headings) < 4 || len(headings) > 7 {
		t.Errorf("the file has %v with the headings %q", seen, headings)
	}
	t.Logf("%v, headings %q", seen, headings)
}
