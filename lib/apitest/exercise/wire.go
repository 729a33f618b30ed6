package exercise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/apitest/contract"
)

// otherID identifies nothing and nobody in the target.
const otherID = "0b5e3f6a-1111-4222-8333-9c0de0000001"

// object is a request body.
type object = map[string]any

// wire talks to the target as any program could: bytes in, bytes out. Every
// answer is held to the rules that all answers share.
type wire struct {
	target   Target
	contract *contract.Contract
	client   *evalrouter.Client
	http     *http.Client
	seen     map[string]bool // routes, as in partA
}

type option func(*sending)

type sending struct {
	args   []any
	header http.Header
}

func args(v ...any) option { return func(s *sending) { s.args = v } }

func header(name, value string) option { return func(s *sending) { s.header.Set(name, value) } }

func bearer(token string) option { return header("Authorization", "Bearer "+token) }

func keyed(key string) option { return header("Idempotency-Key", key) }

func anonymous(s *sending) {
	s.header.Del("Authorization")
	s.header.Del("X-Workspace-Id")
}

func query(s string) string { return url.QueryEscape(s) }

func number(n int) string { return strconv.Itoa(n) }

func freshKey() string { return "exercise-" + uuid.NewString() }

type answer struct {
	w      *wire
	name   string
	status int
	header http.Header
	body   []byte
}

// send makes a request. A string body is sent as it is, anything else as JSON.
func (w *wire) send(t *testing.T, method, path string, body any, opts ...option) *answer {
	t.Helper()
	s := &sending{header: http.Header{}}
	bearer(w.target.Token)(s)
	s.header.Set("X-Workspace-Id", w.target.WorkspaceID)
	for _, o := range opts {
		o(s)
	}
	route, _, _ := strings.Cut(path, "?")
	w.seen[method+" "+route] = true
	for i, a := range s.args {
		s.args[i] = url.PathEscape(fmt.Sprint(a))
	}
	full := path
	if len(s.args) > 0 {
		full = fmt.Sprintf(path, s.args...)
	}
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimRight(w.target.BaseURL, "/")+"/v1"+full, in)
	if err != nil {
		t.Fatal(err)
	}
	req.GetBody = nil
	if in != nil {
		s.header.Set("Content-Type", "application/json")
	}
	req.Header = s.header
	res, err := w.http.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, full, err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: read the answer: %v", method, full, err)
	}
	a := &answer{w: w, name: method + " " + full, status: res.StatusCode, header: res.Header, body: out}
	a.common(t)
	return a
}

// common is what every answer owes: a request id, no storing outside the
// public catalog, and for failures the envelope and nothing else.
func (a *answer) common(t *testing.T) {
	t.Helper()
	id := a.header.Get("X-Request-Id")
	if !regexp.MustCompile(`^req_[0-9a-f]{8,96}$`).MatchString(id) {
		t.Errorf("%s: X-Request-Id is %q, want req_ and hex digits", a.name, id)
	}
	if cc := a.header.Get("Cache-Control"); !strings.Contains(a.name, " /catalog/") && !strings.Contains(cc, "no-store") {
		t.Errorf("%s: Cache-Control is %q, want no-store", a.name, cc)
	}
	if a.status < 300 {
		return
	}
	if ct := a.header.Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
		t.Errorf("%s: an error of type %q", a.name, ct)
	}
	var e map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &e); err != nil || len(e) != 1 || e["error"] == nil {
		t.Errorf("%s: status %d without the error envelope: %.300s", a.name, a.status, a.body)
		return
	}
	var in map[string]any
	if err := json.Unmarshal(e["error"], &in); err != nil {
		t.Errorf("%s: error is not an object: %.300s", a.name, a.body)
		return
	}
	code, _ := in["code"].(string)
	message, _ := in["message"].(string)
	if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`).MatchString(code) || message == "" {
		t.Errorf("%s: code %q, message %q", a.name, code, message)
	}
	if in["request_id"] != id {
		t.Errorf("%s: error.request_id is %v, the header says %s", a.name, in["request_id"], id)
	}
	for k := range in {
		if !strings.Contains(" code message details request_id ", " "+k+" ") {
			t.Errorf("%s: the error has a member %s", a.name, k)
		}
	}
}

func (a *answer) want(t *testing.T, status int) *answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%s: status %d, want %d: %.500s", a.name, a.status, status, a.body)
	}
	return a
}

// record demands success with one record of the contract.
func (a *answer) record(t *testing.T, name string) *answer {
	t.Helper()
	a.want(t, 200).isJSON(t)
	for _, problem := range a.w.contract.Check(name, a.body) {
		t.Errorf("%s: %s", a.name, problem)
	}
	return a
}

// page demands success with a page of records.
func (a *answer) page(t *testing.T, name string) *answer {
	t.Helper()
	a.want(t, 200).isJSON(t)
	for _, problem := range a.w.contract.CheckPage(name, a.body) {
		t.Errorf("%s: %s", a.name, problem)
	}
	return a
}

func (a *answer) isJSON(t *testing.T) {
	t.Helper()
	if ct := a.header.Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
		t.Errorf("%s: Content-Type is %q", a.name, ct)
	}
}

// refused demands a failure and answers its details.
func (a *answer) refused(t *testing.T, status int, code string) map[string]any {
	t.Helper()
	return a.refusedAny(t, []int{status}, code)
}

func (a *answer) refusedAny(t *testing.T, statuses []int, code string) map[string]any {
	t.Helper()
	var e struct {
		Error struct {
			Code    string         `json:"code"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	json.Unmarshal(a.body, &e) // what is not an envelope has no code, which fails below
	fits := false
	for _, s := range statuses {
		fits = fits || a.status == s
	}
	if !fits || e.Error.Code != code {
		t.Errorf("%s: status %d and code %q, want %v and %q: %.500s", a.name, a.status, e.Error.Code, statuses, code, a.body)
	}
	return e.Error.Details
}

// lacks demands that the answer does not hold a text.
func (a *answer) lacks(t *testing.T, text string) *answer {
	t.Helper()
	if bytes.Contains(a.body, []byte(text)) {
		t.Errorf("%s: the answer repeats %q", a.name, text)
	}
	return a
}

func (a *answer) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("%s: %v: %.300s", a.name, err, a.body)
	}
}

func splitProfile(t *testing.T, id string) (slug, version string) {
	t.Helper()
	slug, version, ok := strings.Cut(id, "@")
	if !ok {
		t.Fatalf("the target's profile id %q is not slug@version", id)
	}
	return slug, version
}
