package fakesmith

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Run is one run as it really happens.
type Run struct {
	ID        string
	TraceID   string
	Parents   []string // from the root to the direct parent
	Order     string   // dotted order
	Name      string
	Type      string // llm, chain, tool, ...
	Start     time.Time
	End       time.Time // zero if it never ends
	Shown     time.Time // from when it can be seen; zero is always
	Closed    time.Time // from when its end can be seen; zero is always
	Error     string
	Inputs    json.RawMessage
	Outputs   json.RawMessage
	Metadata  json.RawMessage
	Tags      []string
	In, Out   int64
	Cost      string // US dollars
	ProjectID string
}

// Options are the habits of one server.
type Options struct {
	Key string
	// Workspace, if set, must be named: the key belongs to an organisation.
	Workspace string
	// NoV2 and NoV1 take a version away.
	NoV2, NoV1 bool
	// NoFuture refuses windows that end later than now.
	NoFuture bool
	// Limit is how many requests may come within a second, 0 for any number.
	Limit int
	// PageMost lowers the size of pages, so that few runs make many.
	PageMost int
	// Skew is how far the Date header is ahead.
	Skew time.Duration
	Now  func() time.Time
	// On, if set, is told about every request before its effect, and after it
	// and before the answer.
	On func()
}

// Fault is what happens to the next N requests whose path contains Path.
type Fault struct {
	Path       string
	N          int
	Status     int    // refuse with this status
	RetryAfter string // beside it
	Body       string // instead of the usual sentence
	Torn       bool   // answer and close in the middle
	Cut        int    // answer without the last bytes, so many
	Hang       bool   // answer nothing until the client gives up
	Redirect   string // answer with a redirect
}

// Request is one request that arrived.
type Request struct {
	Method, Path, Query string
	Body                string
	At                  time.Time
	Status              int
}

// Server is a fake LangSmith on a port of this machine.
type Server struct {
	URL string

	opt      Options
	http     *httptest.Server
	mu       sync.Mutex
	roots    []*Run // by start, the newest first
	trees    map[string][]*Run
	projects []Project
	faults   []*Fault
	requests []Request
	recent   []time.Time
}

// Project is a tracing project.
type Project struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Start time.Time `json:"start_time"`
}

// New starts a server.
func New(opt Options) *Server {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	s := &Server{opt: opt, trees: map[string][]*Run{}}
	s.http = httptest.NewServer(s.Handler())
	s.URL = s.http.URL
	return s
}

// Close stops it.
func (s *Server) Close() { s.http.CloseClientConnections(); s.http.Close() }

// AddProject makes a project known.
func (s *Server) AddProject(p ...Project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projects = append(s.projects, p...)
	slices.SortFunc(s.projects, func(a, b Project) int { return strings.Compare(a.Name, b.Name) })
}

// Add makes runs known.
func (s *Server) Add(runs ...*Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		s.trees[r.TraceID] = append(s.trees[r.TraceID], r)
		if len(r.Parents) == 0 {
			s.roots = append(s.roots, r)
		}
	}
	slices.SortStableFunc(s.roots, func(a, b *Run) int { return b.Start.Compare(a.Start) })
}

// Finish ends a run.
func (s *Server) Finish(id string, end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tree := range s.trees {
		for _, r := range tree {
			if r.ID == id {
				r.End = end
			}
		}
	}
}

// Break adds a fault.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Requests are those that arrived so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Handler serves both versions. The paths without a prefix are those of old
// clients.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, v1 bool, h func(*http.Request) (any, *problem)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, v1, h) })
	}
	for _, base := range []string{"", "/api/v1"} {
		add("POST "+base+"/runs/query", true, s.queryV1)
		add("GET "+base+"/sessions", true, s.sessionsV1)
		add("GET "+base+"/info", true, func(*http.Request) (any, *problem) { return map[string]any{"version": "0.16.0"}, nil })
	}
	add("POST /api/v2/runs/query", false, s.queryV2)
	add("GET /api/v2/traces/{id}/runs", false, s.treeV2)
	add("GET /api/v2/sessions", false, s.sessionsV2)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, false, func(*http.Request) (any, *problem) { return nil, &problem{404, "Not Found"} })
	})
	return mux
}

// problem is an answer that is no success.
type problem struct {
	status int
	text   string
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, v1 bool, h func(*http.Request) (any, *problem)) {
	body, err := readBody(r)
	if err != nil {
		return
	}
	if s.opt.On != nil {
		s.opt.On()
		defer s.opt.On()
	}
	w.Header().Set("Date", s.opt.Now().Add(s.opt.Skew).UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	fault := s.arrive(r, body)
	if fault.Hang {
		<-r.Context().Done()
		return
	}
	if fault.Redirect != "" {
		w.Header().Set("Location", fault.Redirect)
		s.answer(w, 307, []byte(`{}`))
		return
	}
	if fault.Status != 0 {
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		text := fault.Body
		if text == "" {
			text = `{"detail":"this is a fault"}`
		}
		s.answer(w, fault.Status, []byte(text))
		return
	}
	out, p := s.admit(r, v1)
	if p == nil {
		out, p = h(r)
	}
	if p != nil {
		if p.status == 429 {
			w.Header().Set("Retry-After", "1")
		}
		out = map[string]string{"detail": p.text}
		if p.status == 403 {
			out = map[string]string{"error": p.text}
		}
		b, _ := json.Marshal(out)
		s.answer(w, p.status, b)
		return
	}
	b, err := json.Marshal(out)
	if err != nil {
		b = fmt.Appendf(nil, `{"detail":%q}`, err)
	}
	if fault.Torn || fault.Cut > 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		if fault.Cut == 0 {
			fault.Cut = len(b) / 2
		}
		b = b[:len(b)-fault.Cut]
	}
	s.answer(w, 200, b)
}

func (s *Server) answer(w http.ResponseWriter, status int, b []byte) {
	s.mu.Lock()
	s.requests[len(s.requests)-1].Status = status
	s.mu.Unlock()
	w.WriteHeader(status)
	w.Write(b) // a client that has gone away is its own affair
}

// arrive records a request and takes the fault that it meets.
func (s *Server) arrive(r *http.Request, body []byte) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(body), At: s.opt.Now()})
	for _, f := range s.faults {
		if f.N > 0 && strings.Contains(r.URL.Path, f.Path) {
			f.N--
			return *f
		}
	}
	return Fault{}
}

// admit checks what every request needs.
func (s *Server) admit(r *http.Request, v1 bool) (any, *problem) {
	switch {
	case v1 && s.opt.NoV1, !v1 && s.opt.NoV2:
		return nil, &problem{404, "Not Found"}
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("X-API-Key")), []byte(s.opt.Key)) == 0:
		return nil, &problem{401, "Invalid token"}
	case s.opt.Workspace != "" && r.Header.Get("X-Tenant-Id") == "":
		return nil, &problem{403, "org_scoped_key_requires_workspace"}
	case s.opt.Workspace != "" && r.Header.Get("X-Tenant-Id") != s.opt.Workspace:
		return nil, &problem{403, "Forbidden"}
	}
	if s.opt.Limit > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := s.opt.Now()
		s.recent = slices.DeleteFunc(s.recent, func(t time.Time) bool { return now.Sub(t) >= time.Second })
		if len(s.recent) >= s.opt.Limit {
			return nil, &problem{429, "Rate limit exceeded"}
		}
		s.recent = append(s.recent, now)
	}
	return nil, nil
}
