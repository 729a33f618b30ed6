package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
)

// Page sizes. Version 1 refuses more than 100.
const (
	pageV2 = 1000
	pageV1 = 100
)

var (
	headerFields = []string{"ID", "TRACE_ID", "NAME", "STATUS", "START_TIME", "END_TIME", "IS_ROOT", "TOTAL_TOKENS"}
	runFields    = []string{
		"ID", "TRACE_ID", "PARENT_RUN_IDS", "DOTTED_ORDER", "NAME", "RUN_TYPE", "STATUS", "ERROR", "START_TIME", "END_TIME",
		"FIRST_TOKEN_TIME", "INPUTS", "OUTPUTS", "METADATA", "TAGS", "PROMPT_TOKENS", "COMPLETION_TOKENS", "TOTAL_COST",
	}
	headerFieldsV1 = []string{"id", "trace_id", "name", "status", "start_time", "end_time", "total_tokens", "parent_run_id"}
	runFieldsV1    = []string{
		"id", "trace_id", "parent_run_id", "dotted_order", "name", "run_type", "status", "error", "start_time", "end_time",
		"first_token_time", "inputs", "outputs", "extra", "tags", "prompt_tokens", "completion_tokens", "total_cost",
	}
)

type queryV2 struct {
	ProjectIDs []string `json:"project_ids"`
	IsRoot     bool     `json:"is_root"`
	IDs        []string `json:"ids,omitempty"`
	MinStart   string   `json:"min_start_time"`
	MaxStart   string   `json:"max_start_time"`
	Selects    []string `json:"selects"`
	PageSize   int      `json:"page_size"`
	Cursor     string   `json:"cursor,omitempty"`
}

type queryV1 struct {
	Session []string `json:"session,omitempty"`
	ID      []string `json:"id,omitempty"`
	Trace   string   `json:"trace,omitempty"`
	IsRoot  *bool    `json:"is_root,omitempty"`
	Filter  string   `json:"filter,omitempty"`
	Select  []string `json:"select"`
	Limit   int      `json:"limit,omitempty"`
	Cursor  string   `json:"cursor,omitempty"`
	Order   string   `json:"order,omitempty"`
}

// Probe finds out which version answers, by asking for one run. It is worth
// repeating every day: a server may have been upgraded.
func (c *Client) Probe(ctx context.Context) error {
	now := c.Now()
	q := langsmith.Query{Min: now.Add(-time.Hour), Max: now}
	c.setAPI(V2)
	_, err := c.Roots(ctx, q)
	var e *Error
	if err == nil || !errors.As(err, &e) || !absent(e.Status) {
		return err
	}
	c.setAPI(V1)
	return firstOf(c.Roots(ctx, q))
}

func absent(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

func firstOf(_ langsmith.Page, err error) error { return err }

// Roots is one page of root runs, the newest first.
func (c *Client) Roots(ctx context.Context, q langsmith.Query) (langsmith.Page, error) {
	if c.noSkew && q.Max.After(c.Now()) {
		q.Max = c.Now()
	}
	page, err := c.roots(ctx, q)
	var e *Error
	if errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) && !c.noSkew && q.Max.After(c.Now()) {
		// Whether a window may end in the future is not documented. Later polls
		// find what this one then leaves out.
		q.Max = c.Now()
		if page, err = c.roots(ctx, q); err == nil {
			c.noSkew = true
		}
	}
	return page, err
}

func (c *Client) roots(ctx context.Context, q langsmith.Query) (page langsmith.Page, err error) {
	var rest map[string]next
	add := func(r wireRun) error {
		h, err := r.header()
		page.Items = append(page.Items, h)
		return err
	}
	path, body, list := "/api/v2/runs/query", any(queryV2{
		ProjectIDs: []string{c.cfg.Project}, IsRoot: true, IDs: q.IDs, MinStart: rfc(q.Min), MaxStart: rfc(q.Max),
		Selects: headerFields, PageSize: pageV2, Cursor: q.Cursor,
	}), "items"
	if c.cfg.API == V1 {
		path, body, list = "/api/v1/runs/query", c.rootsV1(q), "runs"
	}
	err = c.call(ctx, http.MethodPost, path, nil, body, func(r io.Reader) error {
		page.Items = nil
		rest, err = stream(io.LimitReader(r, maxPage), list, add)
		return err
	})
	if err != nil {
		return langsmith.Page{}, err
	}
	page.Next = string(rest["next_cursor"])
	if c.cfg.API == V1 {
		page.Next = string(rest["cursors"])
	}
	return page, nil
}

// rootsV1 says the window as a filter: end_time of this version is a bound on
// the end. Giving ids makes it ignore everything else.
func (c *Client) rootsV1(q langsmith.Query) queryV1 {
	yes := true
	out := queryV1{Session: []string{c.cfg.Project}, IsRoot: &yes, Select: headerFieldsV1, Limit: pageV1, Cursor: q.Cursor, Order: "desc"}
	if len(q.IDs) > 0 {
		out.ID = q.IDs
		return out
	}
	out.Filter = fmt.Sprintf("and(gte(start_time, %q), lte(start_time, %q))", rfc(q.Min), rfc(q.Max))
	return out
}

// Tree visits every run of a trace.
func (c *Client) Tree(ctx context.Context, root langsmith.Header, visit func(langsmith.Run) error) error {
	n := 0
	each := func(r wireRun) error {
		run, err := r.run()
		if err != nil {
			return err
		}
		n++
		c.clean(&run)
		if err := visit(run); err != nil {
			return &stop{err}
		}
		return nil
	}
	var err error
	if c.cfg.API == V1 {
		err = c.call(ctx, http.MethodPost, "/api/v1/runs/query", nil, queryV1{Trace: root.ID, Select: runFieldsV1}, func(r io.Reader) error {
			_, err := stream(io.LimitReader(r, maxAnswer), "runs", each)
			return err
		})
	} else {
		err = c.treeV2(ctx, root, each)
	}
	var e *Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound || err == nil && n == 0 {
		return langsmith.ErrGone
	}
	return err
}

// clean takes our own key out of a run, should somebody have traced it. No
// other rule needs to know what a key looks like then.
func (c *Client) clean(r *langsmith.Run) {
	const mark = "[redacted:api_key]"
	for _, s := range []*string{&r.Name, &r.Error} {
		*s = strings.ReplaceAll(*s, c.cfg.Key, mark)
	}
	for i := range r.Tags {
		r.Tags[i] = strings.ReplaceAll(r.Tags[i], c.cfg.Key, mark)
	}
	for _, raw := range []*json.RawMessage{&r.Inputs, &r.Outputs, &r.Metadata} {
		*raw = bytes.ReplaceAll(*raw, []byte(c.cfg.Key), []byte(mark))
	}
}

// treeV2 asks with a wide window, because clients' clocks may put a child
// before its root. The two bounds may be given together only.
func (c *Client) treeV2(ctx context.Context, root langsmith.Header, each func(wireRun) error) error {
	const slack = 24 * time.Hour
	end := root.End
	if end.IsZero() {
		end = c.Now()
	}
	q := url.Values{
		"project_id": {c.cfg.Project}, "selects": runFields,
		"min_start_time": {rfc(root.Start.Add(-slack))}, "max_start_time": {rfc(end.Add(slack))},
	}
	for {
		var rest map[string]next
		err := c.call(ctx, http.MethodGet, "/api/v2/traces/"+url.PathEscape(root.ID)+"/runs", q, nil, func(r io.Reader) (err error) {
			rest, err = stream(io.LimitReader(r, maxAnswer), "items", each)
			return err
		})
		cursor := string(rest["next_cursor"])
		if err != nil || cursor == "" || cursor == q.Get("cursor") {
			return err
		}
		q.Set("cursor", cursor)
	}
}

// Project is a tracing project that the key can see.
type Project struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Start string `json:"start_time"`
}

// Projects lists all projects by name.
func (c *Client) Projects(ctx context.Context, visit func(Project) error) error {
	if c.cfg.API != V1 {
		err := c.projectsV2(ctx, visit)
		var e *Error
		if !errors.As(err, &e) || !absent(e.Status) {
			return err
		}
		c.setAPI(V1)
	}
	for offset := 0; ; offset += pageV1 {
		n := 0
		q := url.Values{"limit": {fmt.Sprint(pageV1)}, "offset": {fmt.Sprint(offset)}, "sort_by": {"name"}}
		err := c.call(ctx, http.MethodGet, "/api/v1/sessions", q, nil, func(r io.Reader) error {
			return elements(io.LimitReader(r, maxPage), func(p Project) error {
				n++
				return visit(p)
			})
		})
		if err != nil || n < pageV1 {
			return err
		}
	}
}

func (c *Client) projectsV2(ctx context.Context, visit func(Project) error) error {
	q := url.Values{"page_size": {"100"}, "sort_by": {"name"}}
	for {
		var rest map[string]next
		err := c.call(ctx, http.MethodGet, "/api/v2/sessions", q, nil, func(r io.Reader) (err error) {
			rest, err = stream(io.LimitReader(r, maxPage), "items", visit)
			return err
		})
		cursor := string(rest["next_cursor"])
		if err != nil || cursor == "" || cursor == q.Get("cursor") {
			return err
		}
		q.Set("cursor", cursor)
	}
}

func rfc(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// parseTime reads a time; version 1 leaves the zone out and means UTC.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC(), nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", strings.Replace(s, " ", "T", 1))
	if err != nil {
		return t, fmt.Errorf("read time: %w", err)
	}
	return t, nil
}
