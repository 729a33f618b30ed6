package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// MinPrefix is the shortest beginning of an id that is accepted for the id.
const MinPrefix = 4

// candidate is something that can be named in several ways.
type candidate struct {
	show  string   // what suggestions and ambiguities print
	exact []string // any of these names it beyond doubt, in order of strength
	text  string   // whose words a loose name must all match
}

// pick finds the one candidate that a typed name means. The strongest kind of
// name that matches anything decides, so a slug is never shadowed by a name.
func pick(typed string, all []candidate) (int, []int) {
	t := fold(typed)
	depth := 0
	for _, c := range all {
		depth = max(depth, len(c.exact))
	}
	for level := range depth {
		var hits []int
		for i, c := range all {
			if level < len(c.exact) && c.exact[level] != "" && fold(c.exact[level]) == t {
				hits = append(hits, i)
			}
		}
		if len(hits) > 0 {
			return one(hits)
		}
	}
	want := tokens(typed)
	if len(want) == 0 {
		return -1, nil
	}
	var hits []int
	for i, c := range all {
		have := tokens(c.text)
		if !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) }) {
			hits = append(hits, i)
		}
	}
	return one(hits)
}

func one(hits []int) (int, []int) {
	if len(hits) == 1 {
		return hits[0], nil
	}
	return -1, hits
}

func names(all []candidate) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.show)
	}
	return out
}

// Benchmark finds the benchmark version that a typed name means: a profile id
// (slug@version), a slug (its newest version that can be quoted), a name, or
// words that only one benchmark has.
func Benchmark(typed string, known []api.BenchmarkRecord) (*api.BenchmarkRecord, error) {
	newest := newestOf(known)
	all := make([]candidate, 0, len(newest))
	for _, b := range newest {
		all = append(all, candidate{
			show:  b.Slug,
			exact: []string{b.Slug, deref(b.Name)},
			text:  b.Slug + " " + deref(b.Name),
		})
	}
	for i := range known {
		if fold(known[i].ID) == fold(typed) || fold(known[i].Slug+"@"+known[i].Version) == fold(typed) {
			return &known[i], nil
		}
	}
	i, many := pick(typed, all)
	if i >= 0 {
		return newest[i], nil
	}
	return nil, unknown(api.BenchmarkUnknown, "benchmark", typed, all, many)
}

// newestOf keeps one version a slug: the first that is ready for a quote, else
// the first. The service lists newer versions first.
func newestOf(known []api.BenchmarkRecord) []*api.BenchmarkRecord {
	var out []*api.BenchmarkRecord
	at := map[string]int{}
	for i := range known {
		b := &known[i]
		j, ok := at[b.Slug]
		switch {
		case !ok:
			at[b.Slug] = len(out)
			out = append(out, b)
		case !Quotable(b) || Quotable(out[j]):
		default:
			out[j] = b
		}
	}
	return out
}

// Quotable says that a quote can be made for this version now. An active
// status alone does not mean that.
func Quotable(b *api.BenchmarkRecord) bool {
	return b.QuoteAvailability != nil && b.QuoteAvailability.Status == api.ReadyForQuote
}

// Target is a resolved model: what a quote asks for and what people call it.
type Target struct {
	Ref       api.ModelRef
	Name      string
	Simulated bool
	// Connection is set for a connection, Route for a managed route.
	Connection *api.ConnectionRecord
	Route      *api.ManagedRoute
}

// ID is the route id, or "connection:" with the connection's id.
func (t *Target) ID() string {
	if t.Ref.Kind == api.ConnectionKind {
		return connectionPrefix + t.Ref.ConnectionID
	}
	return t.Ref.RouteID
}

const connectionPrefix = "connection:"

// Model finds the route or connection that a typed name means: a route id, a
// display name, a model id, a connection's name, "connection:" with an id or
// the beginning of one, or words that only one of them has. Disabled
// connections are not considered.
func Model(typed string, routes []api.ManagedRoute, conns []api.ConnectionRecord) (*Target, error) {
	conns = slices.DeleteFunc(slices.Clone(conns), func(c api.ConnectionRecord) bool { return c.DisabledAt != nil })
	if id, ok := strings.CutPrefix(fold(typed), connectionPrefix); ok {
		c, err := Connection(id, conns)
		if err != nil {
			return nil, err
		}
		return connectionTarget(c), nil
	}
	all := make([]candidate, 0, len(routes)+len(conns))
	for _, r := range routes {
		all = append(all, candidate{show: r.ID, exact: []string{r.ID, r.DisplayName, r.ModelID, ""}, text: r.ID + " " + r.DisplayName + " " + r.ModelID})
	}
	for _, c := range conns {
		all = append(all, candidate{show: c.Name, exact: []string{c.ID, c.Name, c.ModelID, c.BaseURL}, text: c.Name + " " + c.ModelID})
	}
	i, many := pick(typed, all)
	switch {
	case i >= len(routes):
		return connectionTarget(&conns[i-len(routes)]), nil
	case i >= 0:
		r := &routes[i]
		return &Target{Ref: api.ModelRef{Kind: api.ManagedKind, RouteID: r.ID}, Name: orElse(r.DisplayName, r.ID), Simulated: r.Simulated, Route: r}, nil
	}
	if c := connectionByPrefix(typed, conns); c != nil && len(many) == 0 {
		return connectionTarget(c), nil
	}
	return nil, unknown(api.ModelUnknown, "model", typed, all, many)
}

func connectionTarget(c *api.ConnectionRecord) *Target {
	return &Target{Ref: api.ModelRef{Kind: api.ConnectionKind, ConnectionID: c.ID}, Name: c.Name, Connection: c}
}

func connectionByPrefix(typed string, conns []api.ConnectionRecord) *api.ConnectionRecord {
	if len(typed) < MinPrefix {
		return nil
	}
	var found *api.ConnectionRecord
	for i := range conns {
		if strings.HasPrefix(conns[i].ID, fold(typed)) {
			if found != nil {
				return nil
			}
			found = &conns[i]
		}
	}
	return found
}

// Connection finds a connection by id, by a unique beginning of the id, or by
// name.
func Connection(typed string, conns []api.ConnectionRecord) (*api.ConnectionRecord, error) {
	var all []candidate
	for _, c := range conns {
		all = append(all, candidate{show: c.Name, exact: []string{c.ID, c.Name}})
	}
	i, many := pick(typed, all)
	if i >= 0 {
		return &conns[i], nil
	}
	if c := connectionByPrefix(typed, conns); c != nil && len(many) == 0 {
		return c, nil
	}
	var prefixed []int
	for i, c := range conns {
		if len(typed) >= MinPrefix && strings.HasPrefix(c.ID, fold(typed)) {
			prefixed = append(prefixed, i)
			all[i].show = c.ID
		}
	}
	return nil, unknown(api.ConnectionUnknown, "connection", typed, all, append(many, prefixed...))
}

func unknown(code api.Code, kind, typed string, all []candidate, many []int) *Error {
	if len(many) > 1 {
		e := refuse(api.AmbiguousModel, fmt.Sprintf("%s fits %d %ss", Typed(typed), len(many), kind))
		if kind != "model" {
			e.Code = api.AmbiguousID
		}
		for _, i := range many[:min(len(many), 5)] {
			e.Closest = append(e.Closest, all[i].show)
		}
		return e
	}
	e := refuse(code, fmt.Sprintf("no %s is called %s", kind, Typed(typed)))
	e.Closest = Suggest(typed, names(all))
	return e
}

// CheckRunID says whether a typed text can be a run id or the beginning of one.
func CheckRunID(typed string) error {
	ok := len(typed) <= 36
	for _, r := range typed {
		ok = ok && (r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'f')
	}
	switch {
	case !ok:
		return refuse(api.RunUnknown, fmt.Sprintf("%s is not a run id", Typed(typed)), "a run id is a UUID, or at least its first 4 characters")
	case len(typed) < MinPrefix:
		return refuse(api.RunUnknown, fmt.Sprintf("%s is too short for a run id", Typed(typed)), "at least 4 characters are needed")
	}
	return nil
}

// Run finds the run that an id or the beginning of one means, among the runs
// that the service lists for it. An ambiguous beginning is never guessed.
func Run(typed string, listed []api.RunRecord) (*api.RunRecord, error) {
	var hits []int
	for i := range listed {
		if listed[i].ID == typed {
			return &listed[i], nil
		}
		if strings.HasPrefix(listed[i].ID, typed) {
			hits = append(hits, i)
		}
	}
	if len(hits) == 1 {
		return &listed[hits[0]], nil
	}
	if len(hits) == 0 {
		return nil, refuse(api.RunUnknown, fmt.Sprintf("no run starts with %s", Typed(typed)))
	}
	e := refuse(api.AmbiguousID, fmt.Sprintf("%s fits %d runs", Typed(typed), len(hits)))
	for _, i := range hits {
		e.Closest = append(e.Closest, listed[i].ID)
	}
	return nil, e
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
