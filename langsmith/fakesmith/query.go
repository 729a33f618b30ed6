package fakesmith

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func readBody(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(b))
	return b, err
}

// strict reads a body and refuses fields that it does not know.
func strict(r *http.Request, into any) *problem {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return &problem{422, err.Error()}
	}
	return nil
}

// queryV2 lists root or all runs, the newest first.
func (s *Server) queryV2(r *http.Request) (any, *problem) {
	var q struct {
		ProjectIDs []string `json:"project_ids"`
		IsRoot     *bool    `json:"is_root"`
		IDs        []string `json:"ids"`
		Min        string   `json:"min_start_time"`
		Max        string   `json:"max_start_time"`
		Selects    []string `json:"selects"`
		PageSize   *int     `json:"page_size"`
		Cursor     string   `json:"cursor"`
	}
	if p := strict(r, &q); p != nil {
		return nil, p
	}
	size := 100
	if q.PageSize != nil {
		size = *q.PageSize
	}
	now := s.opt.Now()
	lo, hi, p := window(q.Min, q.Max, now)
	switch {
	case p != nil:
		return nil, p
	case len(q.ProjectIDs) == 0:
		return nil, &problem{400, "exactly one of project_ids and reference_dataset_id is required"}
	case size < 1 || size > 1000:
		return nil, &problem{422, "page_size must be between 1 and 1000"}
	case s.opt.NoFuture && hi.After(now):
		return nil, &problem{400, "max_start_time must not be in the future"}
	}
	if s.opt.PageMost > 0 {
		size = min(size, s.opt.PageMost)
	}
	if p := known(q.Selects); p != nil {
		return nil, p
	}
	match := func(x *Run) bool {
		return slices.Contains(q.ProjectIDs, x.ProjectID) && !x.Start.Before(lo) && !x.Start.After(hi) && (len(q.IDs) == 0 || slices.Contains(q.IDs, x.ID))
	}
	runs, next, p := s.page(match, q.IsRoot != nil && *q.IsRoot, q.Cursor, size)
	if p != nil {
		return nil, p
	}
	items := []map[string]any{}
	for _, x := range runs {
		items = append(items, x.v2(q.Selects, now))
	}
	return map[string]any{"items": items, "next_cursor": next}, nil
}

// window is what version 2 reads when it is not told: the last 24 hours.
func window(from, to string, now time.Time) (lo, hi time.Time, p *problem) {
	lo, hi = now.Add(-24*time.Hour), now
	for _, x := range []struct {
		text string
		to   *time.Time
	}{{from, &lo}, {to, &hi}} {
		if x.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, x.text)
		if err != nil {
			return lo, hi, &problem{422, "not an RFC 3339 time"}
		}
		*x.to = t
	}
	return lo, hi, nil
}

// page finds runs behind a cursor. The cursor is the start and id of the last
// one, so that runs that appear meanwhile move nothing.
func (s *Server) page(match func(*Run) bool, rootsOnly bool, cursor string, size int) (out []*Run, next any, p *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := int64(1) << 62
	skip := 0
	if cursor != "" {
		b, err := base64.RawURLEncoding.DecodeString(cursor)
		if _, serr := fmt.Sscanf(string(b), "%d %d", &after, &skip); err != nil || serr != nil {
			return nil, nil, &problem{400, "invalid cursor"}
		}
	}
	list := s.roots
	if !rootsOnly {
		list = nil
		for _, tree := range s.trees {
			list = append(list, tree...)
		}
		slices.SortFunc(list, func(a, b *Run) int {
			if c := b.Start.Compare(a.Start); c != 0 {
				return c
			}
			return strings.Compare(a.ID, b.ID)
		})
	}
	now := s.opt.Now()
	from, _ := slices.BinarySearchFunc(list, after, func(r *Run, t int64) int {
		if r.Start.UnixMicro() > t {
			return -1
		}
		return 1
	})
	same := 0
	for _, x := range list[from:] {
		at := x.Start.UnixMicro()
		if at == after {
			if same++; same <= skip {
				continue
			}
		}
		if now.Before(x.Shown) || !match(x) {
			continue
		}
		if len(out) == size {
			last := out[size-1].Start.UnixMicro()
			n := 0
			for _, y := range list[from:] {
				if y.Start.UnixMicro() == last {
					n++
				}
				if y == out[size-1] {
					break
				}
			}
			return out, base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d", last, n)), nil
		}
		out = append(out, x)
	}
	return out, nil, nil
}

// treeV2 lists the runs of a trace by start.
func (s *Server) treeV2(r *http.Request) (any, *problem) {
	q := r.URL.Query()
	now := s.opt.Now()
	if q.Get("project_id") == "" {
		return nil, &problem{422, "project_id is required"}
	}
	if (q.Get("min_start_time") == "") != (q.Get("max_start_time") == "") {
		return nil, &problem{422, "min_start_time and max_start_time are required together"}
	}
	lo, hi := time.Time{}, now.Add(1000*time.Hour)
	if q.Get("min_start_time") != "" {
		var p *problem
		if lo, hi, p = window(q.Get("min_start_time"), q.Get("max_start_time"), now); p != nil {
			return nil, p
		}
	}
	if p := known(q["selects"]); p != nil {
		return nil, p
	}
	items := []map[string]any{}
	for _, x := range s.tree(r.PathValue("id")) {
		if x.ProjectID == q.Get("project_id") && !x.Start.Before(lo) && !x.Start.After(hi) {
			items = append(items, x.v2(q["selects"], now))
		}
	}
	if len(items) == 0 {
		return nil, &problem{404, "trace not found"}
	}
	return map[string]any{"items": items}, nil
}

func (s *Server) tree(id string) (out []*Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opt.Now()
	for _, x := range s.trees[id] {
		if !now.Before(x.Shown) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b *Run) int { return a.Start.Compare(b.Start) })
	return out
}

// filterV1 is the part of the filter language that is understood here.
var filterV1 = regexp.MustCompile(`^and\(gte\(start_time, "([^"]+)"\), lte\(start_time, "([^"]+)"\)\)$`)

// unsupportedV1 are fields of version 1 that real clients send as null.
type unsupportedV1 struct {
	End       any `json:"end_time"`
	Error     any `json:"error"`
	RunType   any `json:"run_type"`
	Text      any `json:"query"`
	Trace     any `json:"trace_filter"`
	Tree      any `json:"tree_filter"`
	Reference any `json:"reference_example"`
	Parent    any `json:"parent_run"`
	Execution any `json:"execution_order"`
	Skip      any `json:"skip_pagination"`
}

func (u unsupportedV1) used() bool { return u != unsupportedV1{} }

// queryV1 knows roots of a project, runs by id, and whole traces.
func (s *Server) queryV1(r *http.Request) (any, *problem) {
	var q struct {
		Session []string `json:"session"`
		ID      []string `json:"id"`
		Trace   string   `json:"trace"`
		IsRoot  *bool    `json:"is_root"`
		Filter  string   `json:"filter"`
		Select  []string `json:"select"`
		Limit   *int     `json:"limit"`
		Cursor  string   `json:"cursor"`
		Order   string   `json:"order"`
		Since   *string  `json:"start_time"`
		unsupportedV1
	}
	if p := strict(r, &q); p != nil {
		return nil, p
	}
	if q.used() {
		return nil, &problem{501, "the fake does not know this filter"}
	}
	size := 100
	if q.Limit != nil {
		size = *q.Limit
	}
	if size > 100 {
		return nil, &problem{400, "Limit exceeds maximum allowed value of 100"}
	}
	if len(q.Session)+len(q.ID) == 0 && q.Trace == "" {
		return nil, &problem{400, "At least one of 'session', 'id', 'parent_run', 'trace' or 'reference_example' must be specified"}
	}
	now := s.opt.Now()
	var found []*Run
	var next any
	switch {
	case len(q.ID) > 0:
		var p *problem
		if found, _, p = s.page(func(x *Run) bool { return slices.Contains(q.ID, x.ID) }, false, "", 1000); p != nil {
			return nil, p
		}
	case q.Trace != "":
		found = s.tree(q.Trace)
	default:
		lo, hi := time.Time{}, now.Add(1000*time.Hour)
		if q.Since != nil {
			var p *problem
			if lo, _, p = window(*q.Since, "", now); p != nil {
				return nil, p
			}
		}
		if q.Filter != "" {
			m := filterV1.FindStringSubmatch(q.Filter)
			if m == nil {
				return nil, &problem{400, "invalid filter"}
			}
			var p *problem
			if lo, hi, p = window(m[1], m[2], now); p != nil {
				return nil, p
			}
		}
		var p *problem
		match := func(x *Run) bool {
			return slices.Contains(q.Session, x.ProjectID) && !x.Start.Before(lo) && !x.Start.After(hi)
		}
		if found, next, p = s.page(match, q.IsRoot != nil && *q.IsRoot, q.Cursor, size); p != nil {
			return nil, p
		}
	}
	runs := []map[string]any{}
	for _, x := range found {
		runs = append(runs, x.v1(q.Select, now))
	}
	return map[string]any{"runs": runs, "cursors": map[string]any{"next": next}}, nil
}

func (s *Server) sessionsV1(r *http.Request) (any, *problem) {
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil {
		limit = 100
	}
	if limit > 100 {
		return nil, &problem{422, "limit must be at most 100"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from := min(offset, len(s.projects))
	return append([]Project{}, s.projects[from:min(from+limit, len(s.projects))]...), nil
}

func (s *Server) sessionsV2(r *http.Request) (any, *problem) {
	size, err := strconv.Atoi(r.URL.Query().Get("page_size"))
	if err != nil {
		size = 20
	}
	from, err := strconv.Atoi(r.URL.Query().Get("cursor"))
	if err != nil && r.URL.Query().Get("cursor") != "" || size < 1 || size > 100 {
		return nil, &problem{422, "invalid page"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from = min(from, len(s.projects))
	end := min(from+size, len(s.projects))
	var next any
	if end < len(s.projects) {
		next = strconv.Itoa(end)
	}
	return map[string]any{"items": append([]Project{}, s.projects[from:end]...), "next_cursor": next}, nil
}
