// Package stat holds the statistics that every score and every comparison of
// scores needs: intervals for proportions, means and differences, tests of
// paired results, pass@k, and what a sample of a given size can show. A
// family's own error measures stay with the family.
//
// Results agree with their formulas to 1e-12 relative error. Only Bootstrap
// draws random numbers, from a generator of its own that a seed fixes for
// good.
//
// No figure is made up where there is none. Too few values, or values without
// any spread, give a Reason instead of a zero, an infinite or a NaN, so that
// a reader sees "unknown" and why. The functions without an error result say
// what they return for impossible arguments.
package stat

import "math"

// Quantile is the standard normal quantile: the z below which a share p of
// the distribution lies. It is -Inf at 0, +Inf at 1 and NaN outside.
//
// Algorithm AS 241 (PPND16) of M. J. Wichura, "The Percentage Points of the
// Normal Distribution", Applied Statistics 37 (1988): rational functions on
// three ranges, with a relative error of about 1e-16.
func Quantile(p float64) float64 {
	switch {
	case math.IsNaN(p) || p < 0 || p > 1:
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	}
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - q*q
		return q * ratio(r, centreNum[:], centreDen[:])
	}
	tail := p
	if q > 0 {
		tail = 1 - p
	}
	r := math.Sqrt(-math.Log(tail))
	var z float64
	if r <= 5 {
		z = ratio(r-1.6, middleNum[:], middleDen[:])
	} else {
		z = ratio(r-5, farNum[:], farDen[:])
	}
	return math.Copysign(z, q)
}

// ratio evaluates two polynomials, lowest coefficient first.
func ratio(x float64, num, den []float64) float64 { return poly(x, num) / poly(x, den) }

func poly(x float64, c []float64) float64 {
	s := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		s = s*x + c[i]
	}
	return s
}

// Coefficients of AS 241, PPND16.
var (
	centreNum = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3,
	}
	centreDen = [8]float64{
		1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3,
	}
	middleNum = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	middleDen = [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	farNum = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	farDen = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)
