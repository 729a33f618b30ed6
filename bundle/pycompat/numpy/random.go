// Package numpy holds what the reference graders use of numpy 1.24: pairwise
// reductions, quantiles, argmax, and the legacy RandomState behind np.random.
package numpy

import (
	"math/bits"

	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/mt"
)

// RandomState is np.random after np.random.seed(seed). It is not safe for
// concurrent use.
type RandomState struct {
	src mt.Source
}

// NewRandomState seeds with one word, all that np.random.seed takes as an int.
func NewRandomState(seed uint32) *RandomState {
	r := &RandomState{}
	r.src.Seed(seed)
	return r
}

// Sample is random_sample(): a float in [0, 1).
func (r *RandomState) Sample() float64 { return r.src.Float64() }

// Below is randint(n) and one draw of choice(n): an integer in [0, n). It
// masks and redraws; n = 1 draws nothing. It panics unless n > 0.
func (r *RandomState) Below(n int) int {
	if n <= 0 {
		panic("numpy: empty range")
	}
	most := uint64(n - 1)
	if most == 0 {
		return 0
	}
	mask := uint64(1)<<bits.Len64(most) - 1
	for {
		v := uint64(r.src.Uint32())
		if most > 0xFFFFFFFF {
			v = v<<32 | uint64(r.src.Uint32())
		}
		if v &= mask; v <= most {
			return int(v)
		}
	}
}

// Choice is choice(n, size=len(dst)) with replacement, into dst.
func (r *RandomState) Choice(dst []int, n int) {
	for i := range dst {
		dst[i] = r.Below(n)
	}
}

// Permutation is permutation(n). Its first k elements are
// choice(n, size=k, replace=False).
func (r *RandomState) Permutation(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	r.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Shuffle is shuffle on a sequence of n elements.
func (r *RandomState) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i >= 1; i-- {
		swap(i, r.Below(i+1))
	}
}
