// Package hub fetches files of public data sets from a server that speaks the
// API of the Hugging Face Hub, without a credential.
//
// A revision is resolved to a commit once, and files are fetched at that
// commit, so that a receipt means the same bytes tomorrow. The server sends
// large files from other hosts; a redirect is followed a few times, each as an
// address that was given by a stranger: the transport decides where it may lead.
package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Bounds of one file.
const (
	maxHops     = 5
	headTime    = 30 * time.Second
	maxResolved = 4 << 20
)

// Error is why a server gave nothing. Code is stable.
type Error struct {
	Code    string
	Message string
	err     error
}

// Error is the sentence.
func (e *Error) Error() string { return e.Message }

// Unwrap is what failed below, for the log.
func (e *Error) Unwrap() error { return e.err }

// Hub is one server. It is safe for concurrent use.
type Hub struct {
	// Base is the server's address, https://huggingface.co.
	Base *url.URL
	// Transport connects within a policy.
	Transport http.RoundTripper
	// UserAgent names this service.
	UserAgent string
}

// Dataset is a data set at a revision.
type Dataset struct{ Org, Name, Ref string }

var (
	sourceShape = regexp.MustCompile(`^hf://([A-Za-z0-9][A-Za-z0-9._-]{0,95})/([A-Za-z0-9][A-Za-z0-9._-]{0,95})@([A-Za-z0-9][A-Za-z0-9._/-]{0,99})$`)
	pathShape   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_. -]*(?:/[A-Za-z0-9_][A-Za-z0-9_. -]*)*$`)
	commitShape = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// Parse reads hf://ORG/DATASET@REF.
func Parse(source string) (Dataset, bool) {
	m := sourceShape.FindStringSubmatch(source)
	if m == nil || strings.Contains(m[3], "..") || strings.Contains(m[3], "//") {
		return Dataset{}, false
	}
	return Dataset{m[1], m[2], m[3]}, true
}

// ValidPath says whether a path can name a file of a data set.
func ValidPath(path string) bool { return len(path) <= 200 && pathShape.MatchString(path) }

// URI names a file of the data set at a commit.
func (d Dataset) URI(commit, path string) string {
	return "hf://" + d.Org + "/" + d.Name + "@" + commit + "/" + path
}

// Commit resolves the revision to 40 hex digits.
func (h *Hub) Commit(ctx context.Context, d Dataset) (string, error) {
	res, err := h.get(ctx, h.Base.JoinPath("api", "datasets", d.Org, d.Name, "revision", url.PathEscape(d.Ref)))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxResolved+1))
	var v struct{ SHA string }
	if err != nil || len(raw) > maxResolved || json.Unmarshal(raw, &v) != nil || !commitShape.MatchString(v.SHA) {
		return "", &Error{Code: "hub_invalid", Message: "the hub's answer names no commit", err: err}
	}
	if commitShape.MatchString(d.Ref) && v.SHA != d.Ref {
		return "", &Error{Code: "hub_invalid", Message: "the hub answers with another commit than was asked for"}
	}
	return v.SHA, nil
}

// Fetch writes a file at a commit to w, at most limit bytes.
func (h *Hub) Fetch(ctx context.Context, d Dataset, commit, path string, w io.Writer, limit int64) error {
	parts := append([]string{"datasets", d.Org, d.Name, "resolve", commit}, strings.Split(path, "/")...)
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	res, err := h.get(ctx, h.Base.JoinPath(parts...))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	large := &Error{Code: "source_too_large", Message: fmt.Sprintf("%s has more than %d bytes", path, limit)}
	if res.ContentLength > limit {
		return large
	}
	n, err := io.Copy(w, io.LimitReader(&reading{res.Body}, limit+1))
	switch {
	case err != nil:
		return err
	case n > limit:
		return large
	case res.ContentLength >= 0 && n != res.ContentLength:
		return &Error{Code: "hub_unreachable", Message: "the hub sent less of " + path + " than it said"}
	}
	return nil
}

// reading tells a hub that breaks off from a disk that is full.
type reading struct{ io.Reader }

// Read reads on.
func (r *reading) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unreachable(err)
	}
	return n, err
}

func unreachable(err error) error {
	return &Error{Code: "hub_unreachable", Message: "the hub cannot be reached, or broke off; import again later", err: err}
}

// get follows redirects by itself: the first address is the operator's, the
// others are not.
func (h *Hub) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	for range maxHops {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, &Error{Code: "hub_invalid", Message: "the hub redirects to no address", err: err}
		}
		req.Header.Set("User-Agent", h.UserAgent)
		req.Header.Set("Accept", "*/*")
		res, err := h.round(req)
		if err != nil {
			return nil, unreachable(err)
		}
		if res.StatusCode < 300 || res.StatusCode > 399 {
			return answered(res)
		}
		to, err := u.Parse(res.Header.Get("Location"))
		res.Body.Close()
		if err != nil || res.Header.Get("Location") == "" || to.User != nil || to.Scheme != "https" && to.Host != h.Base.Host || to.Scheme != h.Base.Scheme && to.Scheme != "https" {
			return nil, &Error{Code: "hub_invalid", Message: "the hub redirects to an address that is not followed", err: err}
		}
		u = to
	}
	return nil, &Error{Code: "hub_invalid", Message: fmt.Sprintf("the hub redirects more than %d times", maxHops)}
}

// round bounds the wait for an answer's head; its body has the time of the
// import.
func (h *Hub) round(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	timer := time.AfterFunc(headTime, cancel)
	res, err := h.Transport.RoundTrip(req.WithContext(ctx))
	if err != nil || !timer.Stop() {
		cancel()
		if err == nil {
			res.Body.Close()
			err = context.DeadlineExceeded
		}
		return nil, err
	}
	res.Body = &cancelled{res.Body, cancel}
	return res, nil
}

// cancelled is a body whose request ends with it.
type cancelled struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close ends the request.
func (c *cancelled) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

func answered(res *http.Response) (*http.Response, error) {
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	res.Body.Close()
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
		return nil, &Error{Code: "hub_not_found", Message: "the hub has no such public data set, revision or file"}
	case http.StatusTooManyRequests:
		return nil, &Error{Code: "hub_busy", Message: "the hub takes no more requests now; import again later"}
	}
	return nil, &Error{Code: "hub_unreachable", Message: fmt.Sprintf("the hub answered with status %d; import again later", res.StatusCode)}
}
