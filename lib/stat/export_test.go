package stat

// Source draws from the generator of Bootstrap, which only its published
// outputs can prove right.
func Source(seed uint64) (next func() uint64) { return (&source{seed}).next }

// Choices draws numbers from 0 to n-1, from both halves of each output.
func Choices(seed uint64, n uint32, draws int) []uint64 {
	c := newChooser(seed, n)
	out := make([]uint64, 0, draws)
	for len(out) < draws {
		bits := c.next()
		out = append(out, c.from(bits>>32), c.from(bits&0xffffffff))
	}
	return out
}
