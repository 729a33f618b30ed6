package evalrouter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// IdempotencyKey makes a submission repeatable: the service answers the same
// key and body with the same run. It is 1 to 128 printable ASCII characters.
type IdempotencyKey string

// NewIdempotencyKey is a fresh random key. Store it before using it.
func NewIdempotencyKey() IdempotencyKey { return IdempotencyKey("run-" + uuid.NewString()) }

func (k IdempotencyKey) check() error {
	if !printable(string(k), 128) {
		return inputError("an idempotency key is 1 to 128 printable ASCII characters; keep it with the quote id before submitting")
	}
	return nil
}

// call is one operation before it is sent.
type call struct {
	op     string // what it does, for errors: "create a quote"
	method string
	path   pathText
	query  query
	body   any
	file   *part // the body is bytes of a file, in place of JSON
	key    IdempotencyKey
	keyed  bool // the key is required
	retry  bool // safe to send more than once
	public bool // sent without credentials
	raw    bool // the answer is bytes, not JSON
}

// part is a piece of a file with its place, as Content-Range has it.
type part struct {
	data []byte
	span string
}

// writes says that the operation changes something at the service.
func (c call) writes() bool { return c.method != http.MethodGet }

// pathText is an escaped path below /v1, or the reason why there is none.
type pathText struct {
	text string
	err  error
}

// path joins segments. Every segment must be an identifier.
func path(segments ...string) pathText {
	var b strings.Builder
	for _, s := range segments {
		if !identifier(s) {
			return pathText{err: inputError(`an identifier has 1 to 200 letters, digits or characters of "_.:@+-", and is not "." or ".."`)}
		}
		b.WriteByte('/')
		for i := 0; i < len(s); i++ {
			if strings.IndexByte(":@+", s[i]) >= 0 {
				fmt.Fprintf(&b, "%%%02X", s[i])
				continue
			}
			b.WriteByte(s[i])
		}
	}
	return pathText{text: b.String()}
}

func identifier(s string) bool {
	if s == "" || len(s) > 200 || s == "." || s == ".." {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && strings.IndexByte("_.:@+-", c) < 0 {
			return false
		}
	}
	return true
}

// query collects parameters; zero values are left out.
type query struct{ v url.Values }

func (q *query) add(name, value string) {
	if q.v == nil {
		q.v = url.Values{}
	}
	q.v.Add(name, value)
}

func (q *query) text(name, value string) {
	if value != "" {
		q.add(name, value)
	}
}

func (q *query) number(name string, value int64) {
	if value != 0 {
		q.add(name, strconv.FormatInt(value, 10))
	}
}

func (q *query) flag(name string, value bool) {
	if value {
		q.add(name, "true")
	}
}

func (q *query) time(name string, value time.Time) {
	if !value.IsZero() {
		q.add(name, value.UTC().Format(time.RFC3339Nano))
	}
}

// prepared is a call as bytes, ready for any number of attempts.
type prepared struct {
	call
	url     string
	payload []byte
	secrets []string
	bearer  string // "" sends none
}

func (c *core) prepare(ctx context.Context, in call) (prepared, error) {
	p := prepared{call: in}
	if in.path.err != nil {
		return p, in.path.err
	}
	if in.keyed {
		if err := in.key.check(); err != nil {
			return p, err
		}
	}
	u := url.URL{RawQuery: in.query.v.Encode()}
	p.url = c.origin.String() + "/v1" + in.path.text + u.String()
	if in.body != nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in.body); err != nil {
			return p, &Error{Problem: Problem{Code: inputCode, Message: "the request cannot be written as JSON"}, Op: in.op, err: err}
		}
		p.payload = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	}
	if p.bearer = c.cfg.APIKey; c.cfg.Credential != nil && !in.public {
		var err error
		if p.bearer, err = c.cfg.Credential(ctx, ""); err != nil {
			return p, err
		}
	}
	p.secrets = knownSecrets(p.bearer, p.payload)
	if in.file != nil {
		p.payload = in.file.data
	}
	return p, nil
}

// request builds one attempt. The body has no GetBody, so that the transport
// cannot send it a second time by itself: repeating is decided here only.
func (c *core) request(ctx context.Context, p prepared) (*http.Request, error) {
	var body io.Reader
	if p.payload != nil {
		body = bytes.NewReader(p.payload)
	}
	req, err := http.NewRequestWithContext(ctx, p.method, p.url, body)
	if err != nil {
		return nil, inputError("the request has no valid address")
	}
	req.GetBody = nil
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	req.Header.Set("Accept", "application/json")
	if p.raw {
		req.Header.Set("Accept", "*/*")
	}
	switch {
	case p.file != nil:
		req.Header.Set("Content-Type", "application/octet-stream")
		req.Header.Set("Content-Range", p.file.span)
	case p.payload != nil:
		req.Header.Set("Content-Type", "application/json")
	}
	if p.keyed {
		req.Header.Set("Idempotency-Key", string(p.key))
	}
	if p.public {
		return req, nil
	}
	if p.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+p.bearer)
	}
	if c.cfg.WorkspaceID != "" {
		req.Header.Set("X-Workspace-Id", c.cfg.WorkspaceID)
	}
	return req, nil
}
