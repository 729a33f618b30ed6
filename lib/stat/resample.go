package stat

import "math"

// source is the generator SplitMix64 (G. L. Steele, D. Lea and C. H. Flood,
// "Fast Splittable Pseudorandom Number Generators", 2014). It is our own so
// that a recorded seed means the same for ever.
type source struct{ state uint64 }

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// chooser draws whole numbers uniform on 0 to n-1: the high half of a 32-bit
// draw times n, drawn again in the rare case that would favour some numbers
// (D. Lemire, "Fast Random Integer Generation in an Interval", 2019).
type chooser struct {
	source
	n      uint64
	reject uint32 // 2³² mod n
}

func newChooser(seed uint64, n uint32) chooser {
	return chooser{source: source{seed}, n: uint64(n), reject: -n % n}
}

// from turns 32 random bits into a number.
func (c *chooser) from(bits uint64) uint64 {
	product := bits * c.n
	if uint32(product) < c.reject {
		return c.again()
	}
	return product >> 32
}

func (c *chooser) again() uint64 { return c.from(c.next() >> 32) }

// resamples are the means of the resamples less the mean of the sample, and
// the number of them whose t statistic is at least as far from zero as the
// sample's.
type resamples struct {
	offsets []float64
	far     int
}

// draw compares squares of t, up to a factor that is the same for all:
//
//	t² ∝ mean² / (Σ (d - offset·size)² / (Σ size)²)
//
// A resample without spread counts as far.
func (b Bootstrap) draw(units []unit, mean float64) resamples {
	var squares total
	size, singles := 0, true
	for _, u := range units {
		squares.add(u.deviation * u.deviation)
		size += u.size
		singles = singles && u.size == 1
	}
	limit := mean * mean / squares.sum() * (1 - 1e-9)
	if singles {
		return b.drawSingles(units, limit)
	}
	return b.drawClusters(units, limit*float64(size)*float64(size))
}

func (b Bootstrap) drawSingles(units []unit, limit float64) resamples {
	n := len(units)
	values := make([]float64, n)
	for i, u := range units {
		values[i] = u.deviation
	}
	r := resamples{offsets: make([]float64, b.Resamples)}
	choose := newChooser(b.Seed, uint32(n))
	for i := range r.offsets {
		var sum, squares float64
		for j := 0; j < n; j += 2 {
			bits := choose.next()
			d := values[choose.from(bits>>32)]
			sum += d
			squares += d * d
			if j+1 < n {
				d = values[choose.from(bits&math.MaxUint32)]
				sum += d
				squares += d * d
			}
		}
		offset := sum / float64(n)
		r.offsets[i] = offset
		if offset*offset >= limit*(squares-offset*sum) {
			r.far++
		}
	}
	return r
}

func (b Bootstrap) drawClusters(units []unit, limit float64) resamples {
	r := resamples{offsets: make([]float64, b.Resamples)}
	choose := newChooser(b.Seed, uint32(len(units)))
	for i := range r.offsets {
		var sum, size, squares, cross, sizes float64
		for range units {
			u := &units[choose.from(choose.next()>>32)]
			d, s := u.deviation, float64(u.size)
			sum += d
			size += s
			squares += d * d
			cross += d * s
			sizes += s * s
		}
		offset := sum / size
		r.offsets[i] = offset
		if offset*offset*size*size >= limit*(squares-2*offset*cross+offset*offset*sizes) {
			r.far++
		}
	}
	return r
}

// Percentile is the value below which a share p of the sorted values lies,
// interpolated between neighbours: position p·(n-1) counted from 0, which is
// type 7 of R. J. Hyndman and Y. Fan (1996) and numpy's default. It fails
// with NoData for none and with Impossible for p outside [0,1] and for values
// not finite or not sorted.
func Percentile(sorted []float64, p float64) (float64, error) {
	switch {
	case len(sorted) == 0:
		return 0, NoData
	case !(p >= 0 && p <= 1):
		return 0, Impossible
	}
	for i, v := range sorted {
		if !finite(v) || i > 0 && v < sorted[i-1] {
			return 0, Impossible
		}
	}
	return percentile(sorted, p), nil
}

func percentile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	f := at - float64(i)
	// Rounding must not carry the value out of its neighbours: intervals nest.
	return min(max(sorted[i]*(1-f)+sorted[i+1]*f, sorted[i]), sorted[i+1])
}
