package stat

import "math"

// stirlingFrom is where the series below reaches full precision.
const stirlingFrom = 10

// stirling is what Stirling's formula leaves of the factorial:
//
//	ln Γ(a+1) = (a+½) ln a - a + ½ ln 2π + stirling(a),  a > 0
//
// It stays small, so differences of it keep the precision that differences
// of ln Γ lose for large arguments (DLMF 5.11.1).
func stirling(a float64) float64 {
	if a < stirlingFrom {
		lg, _ := math.Lgamma(a + 1)
		return lg - (a+0.5)*math.Log(a) + a - 0.5*math.Log(2*math.Pi)
	}
	r := 1 / (a * a)
	return (1.0/12 - r*(1.0/360-r*(1.0/1260-r*(1.0/1680-r*(1.0/1188-r*691.0/360360))))) / a
}

// gammaStep is Γ(a+½)/Γ(a) for a > 0.
func gammaStep(a float64) float64 {
	if a < stirlingFrom {
		return math.Gamma(a+0.5) / math.Gamma(a)
	}
	return math.Sqrt(a) * math.Exp(a*math.Log1p(0.5/a)-0.5+stirling(a+0.5)-stirling(a))
}

// maxTerms bounds the sums and fractions below; a few hundred terms are
// enough on the ranges named there.
const maxTerms = 100_000

// betaTail is the continued fraction F of the incomplete beta function
//
//	I_x(a,b) = x^a y^b / B(a,b) · F,  y = 1-x
//
// in the even form of A. R. DiDonato and A. H. Morris, "Significant Digit
// Computation of the Incomplete Beta Function Ratios" (1992). Given both x
// and y it stays precise where x is close to 1. It is for x < (a+1)/(a+b+2).
func betaTail(a, b, x, y float64) float64 {
	lambda := (a+b)*y - b
	num := a / (a + 1) * (lambda + 1)
	den, value := 0.0, num // Lentz, as value·∏ num·den
	for i := 1; i <= maxTerms; i++ {
		n := float64(i)
		odd := a + 2*n - 1
		alpha := (a + n - 1) / odd * ((a + b + n - 1) / odd) * n * (b - n) * x * x
		beta := n + n*(b-n)*x/odd + (a+n)/(a+2*n+1)*(lambda+1+n*(1+y))
		num = beta + alpha/num
		den = 1 / (beta + alpha*den)
		value *= num * den
		if math.Abs(num*den-1) < 1e-16 {
			break
		}
	}
	return 1 / value
}

// betaCentre is the power series of the same F for b = ½ seen from the other
// side: I_y(½,a) = y^½ x^a / B · 2 Σ ∏ (a+½+j)/(3/2+j) · y. All its terms are
// positive. It is for y up to about 3/(a+1).
func betaCentre(a, y float64) float64 {
	sum, term := 1.0, 1.0
	for i := 0; i < maxTerms && term > 1e-17*sum; i++ {
		n := float64(i)
		term *= (a + 0.5 + n) / (1.5 + n) * y
		sum += term
	}
	return 2 * sum
}
