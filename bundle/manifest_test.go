package bundle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/google/go-cmp/cmp"
)

// good is a manifest that the cases below damage in one place each.
const good = `{
  "schema": "evalrouter.benchmark_manifest.v1",
  "slug": "capitals",
  "version": "1",
  "name": "Capitals",
  "data": {"file": "capitals.jsonl", "format": "jsonl", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
  "source": {"url": "https://example.org/capitals", "revision": "abc123"},
  "license": {"data": "CC0-1.0"},
  "columns": {"input": ["country"], "target": "capital"},
  "prompt": {"template": "What is the capital of {{country}}?"},
  "grader": {"kind": "exact_match", "options": {"ignore_case": true}}
}`

func read(t *testing.T, text string) bundle.Manifest {
	t.Helper()
	m, err := bundle.ReadManifest(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadManifest_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, to, code, path string }{
		{"unknown field", `"slug": "capitals"`, `"slug": "capitals", "slugs": 1`, "field_unknown", "slugs"},
		{"unknown nested field", `"format": "jsonl"`, `"format": "jsonl", "md5": "x"`, "field_unknown", "data.md5"},
		{"letter case of a field", `"version": "1"`, `"version": "1", "Name": "x"`, "field_unknown", "Name"},
		{"duplicate key", `"slug": "capitals"`, `"slug": "capitals", "slug": "x"`, "json_duplicate_key", "slug"},
		{"duplicate nested key", `"ignore_case": true`, `"ignore_case": true, "ignore_case": false`, "json_duplicate_key", "grader.options.ignore_case"},
		{"escaped duplicate key", `"slug": "capitals"`, `"slug": "capitals", "sl\u0075g": "x"`, "json_duplicate_key", "slug"},
		{"missing field", `"name": "Capitals",`, ``, "field_missing", "name"},
		{"blank field", `"name": "Capitals"`, `"name": "  "`, "field_missing", "name"},
		{"null field", `"name": "Capitals"`, `"name": null`, "field_type", "name"},
		{"number for text", `"version": "1"`, `"version": 1`, "field_type", "version"},
		{"text for an object", `"license": {"data": "CC0-1.0"}`, `"license": "CC0-1.0"`, "field_type", "license"},
		{"text for an array", `"input": ["country"]`, `"input": "country"`, "field_type", "columns.input"},
		{"number in a list", `"input": ["country"]`, `"input": ["country", 3]`, "field_type", "columns.input[1]"},
		{"another schema", `manifest.v1`, `manifest.v2`, "schema_unknown", "schema"},
		{"slug with capitals", `"slug": "capitals"`, `"slug": "Capitals"`, "field_range", "slug"},
		{"slug with a path", `"slug": "capitals"`, `"slug": "../x"`, "field_range", "slug"},
		{"unknown format", `"format": "jsonl"`, `"format": "parquet"`, "field_range", "data.format"},
		{"short digest", `e3b0c442`, ``, "field_range", "data.sha256"},
		{"digest in capitals", `e3b0c442`, `E3B0C442`, "field_range", "data.sha256"},
		{"absolute file", `"capitals.jsonl"`, `"/etc/passwd"`, "field_range", "data.file"},
		{"file above", `"capitals.jsonl"`, `"../capitals.jsonl"`, "field_range", "data.file"},
		{"hidden file", `"capitals.jsonl"`, `"a/.b"`, "field_range", "data.file"},
		{"file with backslash", `"capitals.jsonl"`, `"a\\b"`, "field_range", "data.file"},
		{"negative size", `"format": "jsonl"`, `"format": "jsonl", "bytes": -1`, "field_range", "data.bytes"},
		{"size with decimals", `"format": "jsonl"`, `"format": "jsonl", "bytes": 1.5`, "field_range", "data.bytes"},
		{"size beyond the limit", `"format": "jsonl"`, `"format": "jsonl", "bytes": 67108865`, "field_range", "data.bytes"},
		{"plain http", `https://example.org`, `http://example.org`, "field_range", "source.url"},
		{"user information", `https://example.org`, `https://me:secret@example.org`, "field_range", "source.url"},
		{"a long source elsewhere", `https://example.org`, `hf://` + strings.Repeat("x", 501), "field_range", "source.url"},
		{"licence in words", `"CC0-1.0"`, `"free for all!"`, "field_range", "license.data"},
		{"output limit zero", `"version": "1"`, `"version": "1", "max_output_tokens": 0`, "field_range", "max_output_tokens"},
		{"output limit text", `"version": "1"`, `"version": "1", "max_output_tokens": "9"`, "field_type", "max_output_tokens"},
		{"unknown placeholder", `{{country}}`, `{{country}} {{continent}}`, "placeholder_unknown", "prompt.template"},
		{"choices without choices", `{{country}}`, `{{country}} {{choices}}`, "placeholder_unknown", "prompt.template"},
		{"empty placeholder", `{{country}}`, `{{country}} {{}}`, "placeholder_unknown", "prompt.template"},
		{"unused column", `"input": ["country"]`, `"input": ["country", "hint"]`, "placeholder_missing", "columns.input"},
		{"no column", `"input": ["country"]`, `"input": []`, "field_missing", "columns.input"},
		{"column twice", `"input": ["country"]`, `"input": ["country", "country"]`, "json_duplicate_key", "columns.input[1]"},
		{"choices not shown to a writer", `"target": "capital"`, `"target": "capital", "choices": ["options"]`, "placeholder_missing", "prompt.template"},
		{"letter target without choices", `"target": "capital"`, `"target": "capital", "target_format": "letter"`, "field_range", "columns.target_format"},
		{"target pattern broken", `"version": "1"`, `"version": "1", "target_pattern": "("`, "pattern_invalid", "target_pattern"},
		{"target pattern without group", `"version": "1"`, `"version": "1", "target_pattern": "#+"`, "pattern_invalid", "target_pattern"},
		{"choice pattern with two groups", `"version": "1"`, `"version": "1", "choice_pattern": "(a)(b)"`, "pattern_invalid", "choice_pattern"},
		{"rows key for JSONL", `"format": "jsonl"`, `"format": "jsonl", "rows": "examples"`, "field_range", "data.rows"},
		{"options not an object", `{"ignore_case": true}`, `[]`, "field_type", "grader.options"},
		{"metric in capitals", `"version": "1"`, `"version": "1", "metrics": ["F1"]`, "field_range", "metrics[0]"},
		{"more text", `"options": {"ignore_case": true}}
}`, `"options": {"ignore_case": true}}
} {}`, "json_syntax", ""},
		{"cut off", `"options": {"ignore_case": true}}
}`, `"options": {`, "json_syntax", "grader.options"},
		{"broken UTF-8", `Capitals`, "Capit\xffals", "json_encoding", ""},
		{"byte order mark", "{\n  \"schema\"", "\ufeff{\n  \"schema\"", "json_syntax", ""},
		{"too deep", `{"ignore_case": true}`, `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "json_depth", ""},
		{"too large", `"name": "Capitals"`, `"name": "` + strings.Repeat("x", bundle.MaxManifestBytes) + `"`, "manifest_too_large", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(good, c.from, c.to, 1)
			if text == good {
				t.Fatal("the case changes nothing")
			}
			_, err := bundle.ReadManifest(strings.NewReader(text))
			var r *bundle.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("error %v, want a refusal", err)
			}
			for _, f := range r.Findings {
				if f.Code == c.code && (f.Path == c.path || c.code == "json_depth") {
					return
				}
			}
			t.Errorf("findings %+v, want code %s at %q", r.Findings, c.code, c.path)
		})
	}
}

// A grader that asks about each choice by itself has prompts that need not show
// them.
func TestReadManifest_LikelyChoices(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"target": "capital"`, `"target": "capital", "choices": ["options"]`,
		`"exact_match", "options": {"ignore_case": true}`, `"`+bundle.LikelyChoices+`"`).Replace(good)
	if _, err := bundle.ReadManifest(strings.NewReader(text)); err != nil {
		t.Error(err)
	}
}

func TestReadManifest_ReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := bundle.ReadManifest(strings.NewReader(`{"slug": 3, "extra": 1, "data": {"format": "xml"}}`))
	var r *bundle.Refusal
	if !errors.As(err, &r) {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range r.Findings {
		got[f.Path] = f.Code
	}
	want := map[string]string{
		"slug": "field_type", "extra": "field_unknown", "data.format": "field_range", "data.file": "field_missing", "data.sha256": "field_missing",
		"schema": "field_missing", "version": "field_missing", "name": "field_missing", "source": "field_missing", "license": "field_missing",
		"columns": "field_missing", "prompt": "field_missing", "grader": "field_missing",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

// A refusal and a finding never repeat a value of the document.
func TestReadManifest_NeverEchoesValues(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	for _, from := range []string{"capitals.jsonl", "jsonl", "capitals", "https://example.org/capitals", "CC0-1.0", "exact_match", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "{{country}}"} {
		to := "{{" + canary + " !}}"
		_, err := bundle.ReadManifest(strings.NewReader(strings.Replace(good, from, to, 1)))
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%v", err)
		}
	}
}

func TestManifest_Digest(t *testing.T) {
	t.Parallel()
	a := read(t, good)
	for _, c := range []struct {
		name, from, to string
		same           bool
	}{
		{"white space", ",\n", ",\n\n\t ", true},
		{"default written out", `"version": "1"`, `"version": "1", "max_output_tokens": 1024, "family": "generic", "metrics": ["accuracy"]`, true},
		{"target format written out", `"target": "capital"`, `"target_format": "text", "target": "capital"`, true},
		{"escape", `Capitals`, `C\u0061pitals`, true},
		{"name", `Capitals`, `Capital`, false},
		{"grader option", `true`, `false`, false},
		{"prompt", `What is`, `Name`, false},
		{"limit", `"version": "1"`, `"version": "1", "max_output_tokens": 1025`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := read(t, strings.ReplaceAll(good, c.from, c.to))
			if (a.Digest() == b.Digest()) != c.same {
				t.Errorf("digests %s and %s", a.Digest(), b.Digest())
			}
		})
	}
	if len(a.Digest()) != 64 || strings.Contains(string(a.Canonical()), "\n") {
		t.Errorf("digest %s of %s", a.Digest(), a.Canonical())
	}
	if d := cmp.Diff(a, read(t, string(a.Canonical()))); d != "" {
		t.Errorf("the canonical form reads back differently: %s", d)
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"schema":"evalrouter.benchmark_manifest.v1","columns":{"choices":["a","b"]},"prompt":{"template":"{{a}}{{"}}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := bundle.ReadManifest(bytes.NewReader(raw))
		if err != nil {
			var r *bundle.Refusal
			if !errors.As(err, &r) || len(r.Findings) == 0 {
				t.Fatalf("error %v is no refusal", err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatal("read what is not JSON")
		}
		again, err := bundle.ReadManifest(bytes.NewReader(m.Canonical()))
		if err != nil {
			t.Fatalf("the canonical form is refused: %v", err)
		}
		if d := cmp.Diff(m, again); d != "" {
			t.Fatalf("the canonical form reads back differently: %s", d)
		}
	})
}
