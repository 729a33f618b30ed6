// Package routefile reads providers.yaml, in which an operator offers managed
// model routes with their prices.
//
// The decisions:
//
//   - What is not understood is refused, with its path and line: an unknown or
//     repeated name is a mistake, and a mistake about prices costs money.
//     Anchors, aliases and types of YAML's own are not needed and refused.
//   - A credential never stands in the file. It names the variable or the file
//     that holds one.
//   - Prices are read digit by digit. A class without a price of its own costs
//     what its dearer neighbour does; no discount is ever guessed.
//   - No value of the file is repeated in an error: one may be a secret in the
//     wrong place.
package routefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Route is a managed route with the place of its credential.
type Route struct {
	Target core.Target
	Key    KeySource
}

// KeySource says where a credential is: in a variable of the environment or
// in a file, or in neither when none is needed.
type KeySource struct{ Env, File string }

// Problem is one thing that is wrong, and where.
type Problem struct {
	Line int
	Path string
	What string
}

// Problems are all that is wrong with a file.
type Problems struct {
	File string
	List []Problem
}

// Error is a line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, x := range p.List {
		where := fmt.Sprintf("%s:%d", p.File, x.Line)
		if x.Path != "" {
			where += ": " + x.Path
		}
		lines[i] = where + ": " + x.What
	}
	return strings.Join(lines, "\n")
}

// server is an entry of providers.
type server struct {
	protocol, baseURL string
	key               KeySource
}

// Parse reads a file. name stands in errors; check judges a base URL and gives
// its plain form. The error is *Problems.
func Parse(name string, raw []byte, check func(baseURL string) (string, error)) ([]Route, error) {
	r := &reader{}
	root, ok := r.document(raw)
	if !ok {
		return nil, &Problems{name, r.problems}
	}
	top := r.fields(root, "version", "providers", "routes")
	if n, ok := top["version"]; !ok || n.Value != "1" {
		r.fail(at(n, root), "version", "must be 1")
	}
	servers := r.servers(top, check)
	routes := r.routes(top, root, servers)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Path, b.Path)) })
		return nil, &Problems{name, r.problems}
	}
	return routes, nil
}

// document is the one document of a file.
func (r *reader) document(raw []byte) (node, bool) {
	if len(raw) > MaxSize {
		r.add(1, "", "the file is larger than 1 MiB")
		return node{}, false
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		line := 1
		if !errors.Is(err, io.EOF) {
			line = lineOf(err)
		}
		r.add(line, "", "the file is not a YAML document")
		return node{}, false
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.add(max(second.Line, 1), "", "the file has more than one document")
		return node{}, false
	}
	return node{doc.Content[0], ""}, true
}

var yamlLine = regexp.MustCompile(`line (\d{1,9})`)

// lineOf is the line that a YAML error names; its text may repeat values.
func lineOf(err error) int {
	n := 1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if _, err := fmt.Sscan(m[1], &n); err != nil {
			return 1
		}
	}
	return n
}

func (r *reader) servers(top map[string]node, check func(string) (string, error)) map[string]server {
	out := map[string]server{}
	n, ok := top["providers"]
	if !ok {
		return out
	}
	for name, n := range r.entries(n) {
		f := r.fields(n, "protocol", "base_url", "key")
		s := server{protocol: r.choice(f, n, "protocol", "", protocols()...), key: r.key(f)}
		if base := r.text(f, n, "base_url", true); base != "" {
			plain, err := check(base)
			if err != nil {
				r.fail(f["base_url"], "", err.Error())
			}
			s.baseURL = plain
		}
		out[name] = s
	}
	return out
}

func protocols() []string {
	return []string{core.OpenAIChat, core.OpenAICompletions, core.OpenAIResponses, core.AnthropicMessages, core.GoogleGenerate}
}

// key reads where a credential is. A value in its place is a credential in the
// wrong one.
func (r *reader) key(f map[string]node) KeySource {
	n, ok := f["key"]
	if !ok {
		return KeySource{}
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "", "a key never stands in this file: write {env: NAME} or {file: PATH}. If this was a key, replace it at its provider")
		return KeySource{}
	}
	k := r.fields(n, "env", "file")
	s := KeySource{Env: r.text(k, n, "env", false), File: r.text(k, n, "file", false)}
	switch {
	case (s.Env == "") == (s.File == ""):
		r.fail(n, "", "names one of env and file")
	case s.Env != "" && (len(s.Env) > maxVariable || !variable.MatchString(s.Env)):
		r.fail(k["env"], "", "is not the name of a variable")
	}
	return s
}

// The most characters of names. They do not stand in the patterns, which would
// take milliseconds to compile at every start.
const (
	maxVariable = 128
	maxRouteID  = 200
)

var (
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	routeID  = regexp.MustCompile(`^[A-Za-z0-9_.:@+-]+$`)
	label    = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

func (r *reader) routes(top map[string]node, root node, servers map[string]server) []Route {
	n, ok := top["routes"]
	if !ok {
		r.fail(root, "routes", "is missing")
		return nil
	}
	var list []Route
	seen := map[core.RouteID]bool{}
	for _, n := range r.items(n) {
		route := r.route(n, servers)
		id := route.Target.RouteID
		if seen[id] && id != "" {
			r.fail(n, "id", "is that of an earlier route")
		}
		seen[id] = true
		list = append(list, route)
	}
	return list
}

func (r *reader) route(n node, servers map[string]server) Route {
	f := r.fields(n, "id", "provider", "model", "name", "status", "revision", "context_window", "max_output_tokens", "concurrency", "prices", "reasoning",
		"output_bound", "refusal_before_output_unbilled", "stream", "judge_only", "offers")
	const most = 100_000_000
	t := core.Target{
		Kind: core.Managed, RouteID: core.RouteID(r.text(f, n, "id", true)), ModelID: r.text(f, n, "model", true), DisplayName: r.text(f, n, "name", false),
		Provider: r.text(f, n, "provider", true), Status: r.choice(f, n, "status", "active", "active", "retired"), Revision: r.integer(f, n, "revision", 1, 1, most),
		ContextWindow: r.integer(f, n, "context_window", 0, 1, most), MaxOutputTokens: r.integer(f, n, "max_output_tokens", 0, 1, most),
		UnbilledRefusals: r.boolean(f, "refusal_before_output_unbilled"), Stream: r.boolean(f, "stream"), JudgeOnly: r.boolean(f, "judge_only"), Priced: true,
	}
	s, known := servers[t.Provider]
	switch {
	case !known && t.Provider != "":
		r.fail(f["provider"], "", "is none of providers")
	case t.RouteID != "" && (len(t.RouteID) > maxRouteID || !routeID.MatchString(string(t.RouteID))):
		r.fail(f["id"], "", "has 1 to 200 of letters, digits and _ . : @ + -")
	case strings.HasPrefix(string(t.RouteID), "practice.") || strings.HasPrefix(string(t.RouteID), "connection:"):
		r.fail(f["id"], "", "begins like the ids of practice routes or connections")
	case t.MaxOutputTokens > t.ContextWindow && t.ContextWindow > 0:
		r.fail(f["max_output_tokens"], "", "is larger than the context window")
	}
	t.Protocol, t.BaseURL = s.protocol, s.baseURL
	if t.DisplayName == "" {
		t.DisplayName = t.ModelID
	}
	switch r.choice(f, n, "output_bound", "total", "total", "visible_only", "none") {
	case "visible_only":
		t.OutputBound = core.BoundsVisible
	case "none":
		t.OutputBound = core.BoundsNothing
	}
	t.Auto, t.Ceiling = r.concurrency(f)
	t.Reasoning = r.reasoning(f, t.Protocol)
	t.Offers = r.offers(f, n, t.Protocol)
	t.Prices = r.prices(f, n, t.RouteID)
	return Route{Target: t, Key: s.key}
}

// offers reads the abilities that an operator vouches for.
func (r *reader) offers(f map[string]node, route node, protocol string) []string {
	n, ok := f["offers"]
	if !ok {
		return nil
	}
	words := r.words(f, route, "offers")
	for _, w := range words {
		switch {
		case w == core.OffersTemperature:
		case w == core.OffersStop && protocol != core.OpenAIResponses:
		case w == core.OffersStop:
			r.fail(n, "", "this protocol has no stop texts")
		case w != core.OffersLogprobs:
			r.fail(n, "", "known here are "+core.OffersLogprobs+", "+core.OffersTemperature+" and "+core.OffersStop)
		case protocol != "" && protocol != core.OpenAICompletions:
			r.fail(n, "", "this protocol says nothing about how likely a prompt is; "+core.OpenAICompletions+" does")
		}
	}
	return words
}

func (r *reader) concurrency(f map[string]node) (auto, most int) {
	n, ok := f["concurrency"]
	if !ok {
		return 16, 256
	}
	c := r.fields(n, "auto", "max")
	most = r.integer(c, n, "max", 256, 1, 1024)
	auto = r.integer(c, n, "auto", min(16, most), 1, 1024)
	if auto > most {
		r.fail(n, "auto", "is larger than max")
	}
	return auto, most
}

// prices reads a price book. Its version belongs to the route: two routes may
// use the same word for different prices.
func (r *reader) prices(f map[string]node, route node, id core.RouteID) core.Prices {
	n, ok := f["prices"]
	if !ok {
		r.fail(route, "prices", "is missing; a route without charge says so with prices of 0")
		return core.Prices{}
	}
	p := r.fields(n, "version", "effective", "input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning", "request", "long_context")
	version := r.text(p, n, "version", true)
	if version != "" && !label.MatchString(version) {
		r.fail(p["version"], "", "has 1 to 64 of letters, digits and _ . -")
	}
	std := r.rates(p, n)
	book := core.Prices{
		Version: string(id) + "/" + version, Input: std.Input, CacheRead: std.CacheRead, CacheWrite: std.CacheWrite, CacheWriteHour: std.CacheWriteHour,
		Output: std.Output, Reasoning: std.Reasoning, Effective: r.day(p, n, "effective"),
	}
	if _, ok := p["request"]; ok {
		book.Request = usd.Micro(r.dollars(p, n, "request", 0))
	}
	if n, ok := p["long_context"]; ok {
		l := r.fields(n, "above", "input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
		book.Long = core.LongContext{Above: int64(r.integer(l, n, "above", 0, 1, 100_000_000)), Rates: r.rates(l, n)}
	}
	return book
}

// rates reads a price of each class. Input and output are needed.
func (r *reader) rates(p map[string]node, n node) core.Rates {
	in, out := r.dollars(p, n, "input", -1), r.dollars(p, n, "output", -1)
	write := r.dollars(p, n, "cache_write", in)
	return core.Rates{
		Input: in, CacheRead: r.dollars(p, n, "cache_read", in), CacheWrite: write, CacheWriteHour: r.dollars(p, n, "cache_write_1h", max(in, write)),
		Output: out, Reasoning: r.dollars(p, n, "reasoning", out),
	}
}

func (r *reader) day(f map[string]node, parent node, name string) core.Micros {
	text := r.text(f, parent, name, true)
	if text == "" {
		return 0
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return core.Micros(t.UnixMicro())
		}
	}
	r.fail(f[name], "", "is a day such as 2026-11-29")
	return 0
}
