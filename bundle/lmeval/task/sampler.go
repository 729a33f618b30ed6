package task

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// DefaultSeed is lm-eval's few-shot seed.
const DefaultSeed = 1234

// Sampler picks the examples of a prompt from a pool.
type Sampler interface {
	// Sample returns n documents. exclude, unless nil, is the document that is
	// asked about; documents equal to it are left out.
	Sample(n int, exclude *value.Dict) ([]*value.Dict, error)
}

// NewRandom draws without replacement. One generator serves the whole task:
// each call continues where the last one stopped.
func NewRandom(pool []*value.Dict, seed int64) Sampler {
	return &randomSampler{pool, random.New(seed)}
}

type randomSampler struct {
	pool []*value.Dict
	rnd  *random.Random
}

// Sample draws one more than asked if there is a document to leave out, and
// raises ValueError if the pool is too small for that.
func (s *randomSampler) Sample(n int, exclude *value.Dict) ([]*value.Dict, error) {
	draw := n
	if exclude != nil {
		draw++
	}
	if n < 0 || draw > len(s.pool) {
		return nil, pycompat.Raise("ValueError", "%d examples from a pool of %d", draw, len(s.pool))
	}
	out := make([]*value.Dict, 0, draw)
	for _, i := range s.rnd.Sample(len(s.pool), draw) {
		if exclude == nil || !value.Equal(s.pool[i], exclude) {
			out = append(out, s.pool[i])
		}
	}
	return out[:min(n, len(out))], nil
}

// NewFirst takes the first of the pool.
func NewFirst(pool []*value.Dict) Sampler { return firstSampler(pool) }

type firstSampler []*value.Dict

// Sample raises AssertionError if the pool is too small.
func (s firstSampler) Sample(n int, exclude *value.Dict) ([]*value.Dict, error) {
	if n < 0 || n > len(s) {
		return nil, pycompat.Raise("AssertionError", "%d examples from a pool of %d", n, len(s))
	}
	var out []*value.Dict
	for _, d := range s {
		if len(out) == n {
			break
		}
		if exclude == nil || !value.Equal(d, exclude) {
			out = append(out, d)
		}
	}
	return out, nil
}
