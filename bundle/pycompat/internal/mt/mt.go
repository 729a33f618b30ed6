// Package mt is the Mersenne Twister MT19937, the generator under Python's
// random and numpy's legacy RandomState. They differ in how they seed it and in
// what they make of its words.
package mt

const (
	size  = 624
	shift = 397
)

// Source is a generator. It must be seeded before use and is not safe for
// concurrent use.
type Source struct {
	state [size]uint32
	next  int
}

// Seed is init_genrand: numpy's seeding by one word.
func (s *Source) Seed(word uint32) {
	s.state[0] = word
	for i := uint32(1); i < size; i++ {
		prev := s.state[i-1]
		s.state[i] = 1812433253*(prev^prev>>30) + i
	}
	s.next = size
}

// SeedWords is init_by_array: Python's seeding. No words count as one zero.
func (s *Source) SeedWords(key []uint32) {
	if len(key) == 0 {
		key = []uint32{0}
	}
	s.Seed(19650218)
	i, j := 1, 0
	for range max(size, len(key)) {
		prev := s.state[i-1]
		s.state[i] = (s.state[i] ^ (prev^prev>>30)*1664525) + key[j] + uint32(j)
		i, j = s.wrap(i+1), j+1
		if j == len(key) {
			j = 0
		}
	}
	for range size - 1 {
		prev := s.state[i-1]
		s.state[i] = (s.state[i] ^ (prev^prev>>30)*1566083941) - uint32(i)
		i = s.wrap(i + 1)
	}
	s.state[0] = 1 << 31
}

func (s *Source) wrap(i int) int {
	if i < size {
		return i
	}
	s.state[0] = s.state[size-1]
	return 1
}

// Uint32 returns the next word.
func (s *Source) Uint32() uint32 {
	if s.next >= size {
		s.refill()
	}
	y := s.state[s.next]
	s.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9D2C5680
	y ^= y << 15 & 0xEFC60000
	return y ^ y>>18
}

// Float64 returns the next double in [0, 1): 53 bits out of two words.
func (s *Source) Float64() float64 {
	a, b := s.Uint32()>>5, s.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

func (s *Source) refill() {
	st := &s.state
	for i := range size - shift {
		st[i] = st[i+shift] ^ twist(st[i], st[i+1])
	}
	for i := size - shift; i < size-1; i++ {
		st[i] = st[i+shift-size] ^ twist(st[i], st[i+1])
	}
	st[size-1] = st[shift-1] ^ twist(st[size-1], st[0])
	s.next = 0
}

func twist(a, b uint32) uint32 {
	y := a&0x80000000 | b&0x7FFFFFFF
	return y>>1 ^ -(y&1)&0x9908B0DF
}
