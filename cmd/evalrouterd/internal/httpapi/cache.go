package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// Conditional is the part of an input that may answer "not modified".
type Conditional struct {
	IfNoneMatch string `header:"If-None-Match"`
}

// cacheable is a T of the public catalog. A caller without credential may store
// it; to anybody else it may hold what is private.
type cacheable[T any] struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	ETag         string `header:"ETag"`
	Vary         string `header:"Vary"`
	Body         stored[T]
}

func conditionally[T any](ctx context.Context, c Conditional, v T) (*cacheable[T], error) {
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	out := &cacheable[T]{Status: http.StatusOK, CacheControl: "private, no-store", Vary: "Authorization", Body: stored[T]{b}}
	if callerOf(ctx).known() {
		return out, nil
	}
	sum := sha256.Sum256(b)
	out.CacheControl, out.ETag = "public, max-age=120", `"`+hex.EncodeToString(sum[:16])+`"`
	if matches(c.IfNoneMatch, out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func matches(header, tag string) bool {
	for _, t := range strings.Split(header, ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" {
			return true
		}
	}
	return false
}
