package builtin

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// rng is SplitMix64. It is written out here so that no release of a library
// can change a task.
type rng struct{ state uint64 }

// newRNG starts an independent stream for one task.
func newRNG(slug, version string, seed uint64, pos int) *rng {
	sum := sha256.Sum256(fmt.Appendf(nil, "evalrouter/%s@%s/%d/%d", slug, version, seed, pos))
	return &rng{binary.LittleEndian.Uint64(sum[:])}
}

func (r *rng) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws from [0,n) without bias.
func (r *rng) below(n int) int {
	if n <= 0 {
		panic("builtin: below wants a positive bound")
	}
	m := uint64(n)
	for {
		v := r.next()
		if rest := v % m; v-rest <= -m { // the last, incomplete block is drawn again
			return int(rest)
		}
	}
}

// between draws from [low,high].
func (r *rng) between(low, high int) int { return low + r.below(high-low+1) }

// step draws a multiple of unit from [low,high], both multiples of unit.
func (r *rng) step(low, high, unit int) int { return unit * r.between(low/unit, high/unit) }

func (r *rng) yes() bool { return r.below(2) == 0 }

func pick[T any](r *rng, from []T) T { return from[r.below(len(from))] }

func shuffle[T any](r *rng, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.below(i + 1)
		s[i], s[j] = s[j], s[i]
	}
}

// some draws k different values in random order.
func some[T any](r *rng, from []T, k int) []T {
	s := append([]T(nil), from...)
	shuffle(r, s)
	return s[:k]
}

// oneOf draws one of several wordings.
func (r *rng) oneOf(words ...string) string { return pick(r, words) }
