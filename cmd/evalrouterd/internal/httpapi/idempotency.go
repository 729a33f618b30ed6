package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// keyWait is how long a request waits for another one with the same key.
const keyWait = 5 * time.Second

// Keyed is the part of an input whose route needs an idempotency key.
type Keyed struct {
	Key string `header:"Idempotency-Key" doc:"1 to 128 printable ASCII characters. The same key and body again answer with what the first one did."`
}

// replayable is an answer with a T that is given again for the same key and body.
type replayable[T any] struct {
	Status   int
	Replayed string `header:"Idempotency-Replayed"`
	Body     stored[T]
}

// stored is a T in the JSON of its first answer.
type stored[T any] struct{ doc json.RawMessage }

// Schema describes the answer as the record it holds.
func (stored[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

func (s stored[T]) written() json.RawMessage { return s.doc }

// once is a keyed request: the same three values identify it.
type once struct{ op, key, hash string }

func (k Keyed) once(op string, body []byte) (once, error) {
	switch {
	case k.Key == "":
		return once{}, core.Refuse(idempotencyRequired, "this route can start paid work and needs an Idempotency-Key header; nothing was started")
	case !printable(k.Key):
		return once{}, refuseField("header.Idempotency-Key", "invalid_key", "an idempotency key has 1 to 128 printable ASCII characters; nothing was started")
	}
	sum := sha256.Sum256(body)
	return once{op: op, key: k.Key, hash: hex.EncodeToString(sum[:])}, nil
}

func printable(key string) bool {
	if len(key) > 128 {
		return false
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7E {
			return false
		}
	}
	return true
}

// exactlyOnce answers from the record if the request succeeded before, and
// otherwise lets do try, one request of a key at a time.
func exactlyOnce[T any](s *Server, ctx context.Context, o once, do func() (core.Admitted, error)) (*replayable[T], error) {
	sc := scopeOf(ctx)
	unlock, ok := s.keyed.lock(ctx, string(sc.Workspace)+"\n"+o.op+"\n"+o.key, s.o.After(keyWait))
	if !ok {
		return nil, core.Refuse(operationInProgress, "a request with this idempotency key is still at work; repeat it shortly")
	}
	defer unlock()
	out, found, err := s.o.Runs.Recall(ctx, sc, o.op, o.key, o.hash)
	if err == nil && !found {
		// The caller may leave; what was begun is finished, and the same key
		// finds it.
		out, err = do()
	}
	if err != nil {
		return nil, err
	}
	r := &replayable[T]{Status: 200, Body: stored[T]{out.Body}}
	if out.Replayed {
		r.Replayed = "true"
	}
	return r, nil
}

// keyedLock lets one request of a key work at a time.
type keyedLock struct {
	mu   sync.Mutex
	held map[string]*heldKey
}

type heldKey struct {
	turn    chan struct{} // holds one token while nobody works
	waiting int
}

func (l *keyedLock) lock(ctx context.Context, key string, limit <-chan time.Time) (unlock func(), ok bool) {
	l.mu.Lock()
	h := l.held[key]
	if h == nil {
		h = &heldKey{turn: make(chan struct{}, 1)}
		h.turn <- struct{}{}
		l.held[key] = h
	}
	h.waiting++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		if h.waiting--; h.waiting == 0 {
			delete(l.held, key)
		}
		l.mu.Unlock()
	}
	select {
	case <-h.turn:
		return func() { h.turn <- struct{}{}; leave() }, true
	case <-limit:
	case <-ctx.Done():
	}
	leave()
	return nil, false
}
