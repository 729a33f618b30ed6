package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/strictjson"
)

// maxParameterFields bounds how many problems one answer lists.
const maxParameterFields = 20

// checkHeaders refuses headers that would be read in part: of two idempotency
// keys one would count, and nobody knows which the caller meant.
func checkHeaders(rt route, r *http.Request) error {
	var bad []strictjson.Field
	for _, name := range []string{"Idempotency-Key", "X-Workspace-Id", nonceHeader} {
		if len(r.Header.Values(name)) > 1 {
			bad = append(bad, strictjson.Field{Path: "header." + name, Code: strictjson.Duplicate})
		}
	}
	if len(bad) > 0 {
		return refuseFields(bad)
	}
	for _, v := range r.Header.Values("Content-Encoding") {
		if v != "" && rt.access != ingest && !strings.EqualFold(strings.TrimSpace(v), "identity") {
			return encodedBody()
		}
	}
	return nil
}

// checkQuery refuses parameters that the route does not have, and a second
// value where there is room for one. A misspelt filter must not answer with
// everything.
func checkQuery(op *huma.Operation, r *http.Request) error {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if code := unstorable(r.URL.Path); code != "" {
		return refuseFields([]strictjson.Field{{Path: "path", Code: code}})
	}
	if err != nil {
		return refuseFields([]strictjson.Field{{Path: "query", Code: strictjson.InvalidValue}})
	}
	many := map[string]bool{} // of each known parameter
	for _, p := range op.Parameters {
		if p.In == "query" {
			many[p.Name] = p.Schema != nil && p.Schema.Type == huma.TypeArray
		}
	}
	var bad []strictjson.Field
	for name, values := range given {
		list, known := many[name]
		switch {
		case !known:
			bad = append(bad, strictjson.Field{Path: strictjson.Join("query", name), Code: strictjson.Unknown})
		case len(values) > 1 && !list:
			bad = append(bad, strictjson.Field{Path: "query." + name, Code: strictjson.Duplicate})
		case unstorable(values...) != "":
			bad = append(bad, strictjson.Field{Path: "query." + name, Code: unstorable(values...)})
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.SortFunc(bad, func(a, b strictjson.Field) int { return strings.Compare(a.Path, b.Path) })
	return refuseFields(bad[:min(len(bad), maxParameterFields)])
}

// unstorable is the code of what is wrong with texts that no database could be
// asked for, "" for good ones.
func unstorable(texts ...string) string {
	for _, t := range texts {
		switch {
		case strings.Contains(t, "\x00"):
			return strictjson.NUL
		case !utf8.ValidString(t):
			return strictjson.InvalidUTF8
		}
	}
	return ""
}
