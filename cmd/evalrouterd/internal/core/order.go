package core

import "math/bits"

// OrderAlgorithm names how tasks are selected and ordered; it stands in every
// quote, so a change of Order needs another name.
const OrderAlgorithm = "feistel-splitmix64-v1"

// Order is a seeded permutation of the positions 0..n-1 of a benchmark,
// computed one position at a time: a Feistel network over the smallest even
// number of bits that holds n, walked until it lands inside. A sample of k
// tasks is its first k places, so a larger sample with the same seed contains
// the smaller one.
type Order struct {
	n    uint64
	half uint
	keys [8]uint64
}

// NewOrder makes the permutation of n positions for a seed.
func NewOrder(n int, seed uint32) Order {
	o := Order{n: uint64(max(n, 0)), half: 1}
	if o.n > 1 {
		o.half = uint(bits.Len64(o.n-1)+1) / 2
	}
	state := uint64(seed)
	for i := range o.keys {
		state += 0x9e3779b97f4a7c15
		o.keys[i] = mix(state)
	}
	return o
}

// At is the position in the benchmark of the i-th task, 0 <= i < n.
func (o Order) At(i int) int {
	mask := uint64(1)<<o.half - 1
	for x := uint64(i); ; {
		l, r := x>>o.half, x&mask
		for _, k := range o.keys {
			l, r = r, l^(mix(r+k)&mask)
		}
		if x = l<<o.half | r; x < o.n {
			return int(x)
		}
	}
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
