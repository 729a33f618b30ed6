// Package random is Python's random.Random: the same seed gives the same
// numbers, shuffles and samples, call for call.
//
// Functions that pick from a sequence return indices, so that the caller's
// sequence may have any type. Where Python raises ValueError or IndexError for
// an empty range, the functions here panic: the size is the caller's to know.
package random

import (
	"crypto/sha512"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/mt"
)

// Random is a generator. It is not safe for concurrent use.
type Random struct {
	src mt.Source
}

// New is Random(seed). The sign of a seed does not matter.
func New(seed int64) *Random {
	n := uint64(seed)
	if seed < 0 {
		n = -n
	}
	words := []uint32{uint32(n), uint32(n >> 32)}
	if words[1] == 0 {
		words = words[:1]
	}
	return newFromWords(words)
}

// NewBig is Random(seed) for an integer of any size.
func NewBig(seed *big.Int) *Random { return newFromBytes(seed.Bytes()) }

// NewString is Random(seed) for a str, which Python hashes with SHA-512.
func NewString(seed string) *Random {
	digest := sha512.Sum512([]byte(seed))
	return newFromBytes(append([]byte(seed), digest[:]...))
}

// newFromBytes seeds with a big-endian integer.
func newFromBytes(b []byte) *Random {
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	padded := append(make([]byte, (4-len(b)%4)%4), b...)
	words := make([]uint32, len(padded)/4)
	for i := range words {
		words[i] = binary.BigEndian.Uint32(padded[len(padded)-4*i-4:])
	}
	return newFromWords(words)
}

func newFromWords(words []uint32) *Random {
	r := &Random{}
	r.src.SeedWords(words)
	return r
}

// Random is random(): a float in [0, 1).
func (r *Random) Random() float64 { return r.src.Float64() }

// Bits is getrandbits(k) for 0 <= k <= 64.
func (r *Random) Bits(k int) uint64 {
	switch {
	case k < 0 || k > 64:
		panic("random: number of bits out of range")
	case k == 0:
		return 0
	case k <= 32:
		return uint64(r.src.Uint32() >> (32 - k))
	}
	low := uint64(r.src.Uint32())
	return low | uint64(r.src.Uint32()>>(64-k))<<32
}

// BigBits is getrandbits(k) for any k: low words are drawn first.
func (r *Random) BigBits(k int) *big.Int {
	n := new(big.Int)
	for at := 0; at < k; at += 32 {
		word := new(big.Int).SetUint64(r.Bits(min(32, k-at)))
		n.Or(n, word.Lsh(word, uint(at)))
	}
	return n
}

// Below is randrange(n): an integer in [0, n), n > 0.
func (r *Random) Below(n int) int {
	if n <= 0 {
		panic("random: empty range")
	}
	k := bits.Len(uint(n))
	if k <= 32 {
		shift := 32 - k
		for {
			if v := r.src.Uint32() >> shift; v < uint32(n) {
				return int(v)
			}
		}
	}
	for {
		if v := r.Bits(k); v < uint64(n) {
			return int(v)
		}
	}
}

// FillBelow fills dst with successive Below(n). It exists for bootstraps,
// which draw by the million.
func (r *Random) FillBelow(dst []int32, n int32) {
	if n <= 0 {
		panic("random: empty range")
	}
	shift := 32 - bits.Len32(uint32(n))
	for i := range dst {
		v := r.src.Uint32() >> shift
		for v >= uint32(n) {
			v = r.src.Uint32() >> shift
		}
		dst[i] = int32(v)
	}
}

// Range is randrange(start, stop, step) for a step other than 0.
func (r *Random) Range(start, stop, step int) int {
	n := 0
	if step > 0 {
		n = (stop - start + step - 1) / step
	} else {
		n = (stop - start + step + 1) / step
	}
	return start + step*r.Below(n)
}

// Int is randint(a, b): both ends are included.
func (r *Random) Int(a, b int) int { return a + r.Below(b-a+1) }

// Uniform is uniform(a, b).
func (r *Random) Uniform(a, b float64) float64 { return a + (b-a)*r.Random() }

// Shuffle is shuffle on a sequence of n elements.
func (r *Random) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i >= 1; i-- {
		swap(i, r.Below(i+1))
	}
}

// Sample is sample(range(n), k): k distinct indices, 0 <= k <= n.
func (r *Random) Sample(n, k int) []int {
	if k < 0 || k > n {
		panic("random: sample larger than population or negative")
	}
	out := make([]int, k)
	setSize := 21.0
	if k > 5 {
		setSize += math.Pow(4, math.Ceil(math.Log(float64(k)*3)/math.Log(4)))
	}
	if float64(n) <= setSize {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range out {
			j := r.Below(n - i)
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out
	}
	taken := make(map[int]bool, k)
	for i := range out {
		j := r.Below(n)
		for taken[j] {
			j = r.Below(n)
		}
		taken[j] = true
		out[i] = j
	}
	return out
}

// Choices is choices(range(n), k=k): k indices with replacement. It draws by
// random(), not by randrange, and so differs from k calls of Below.
func (r *Random) Choices(n, k int) []int {
	if n <= 0 {
		panic("random: empty range")
	}
	out := make([]int, k)
	r.FillChoices(out, n)
	return out
}

// FillChoices is Choices into dst.
func (r *Random) FillChoices(dst []int, n int) {
	size := float64(n)
	for i := range dst {
		dst[i] = int(r.src.Float64() * size)
	}
}
